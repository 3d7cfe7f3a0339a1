"""`racetrap trace`: what it says of a file, and conversion between the forms."""

import json

import pytest

from racetrap.golden_model.trace import is_binary, read_trace
from racetrap.golden_model.trace.threads.events import ACCESS_KINDS
from tests.support import REPOSITORY


def test_info(racetrap, racy, tmp_path):
    result = racetrap("trace", "info", racy)
    assert result.exit_code == 0
    assert "text trace for scord" in result.stdout
    assert "2 SMs x 2 blocks, 4 warps an SM" in result.stdout
    file = tmp_path / "info.json"
    racetrap("trace", "info", racy, "--json", file)
    data = json.loads(file.read_text())
    assert (data["form"], data["events"], data["lanes"]) == ("text", 8, 2)
    assert data["kinds"]["block_placed"] == 2
    assert data["kinds"]["atomic"] == 0
    assert (data["lowest_address"], data["highest_address"]) == (0x10004, 0x10004)
    assert data["header"]["region"] == {"data_base": 0x10000, "size_log2": 16}


def test_convert_there_and_back(racetrap, racy, tmp_path):
    binary, text = tmp_path / "x.trace", tmp_path / "x.txt"
    assert racetrap("trace", "convert", racy, binary).exit_code == 0
    assert racetrap("trace", "convert", binary, text).exit_code == 0
    assert is_binary(binary)
    assert not is_binary(text)
    assert read_trace(binary) == read_trace(text) == read_trace(racy)


def test_convert_to_a_given_form(racetrap, racy, tmp_path):
    target = tmp_path / "same"
    assert racetrap("trace", "convert", racy, target, "--to", "text").exit_code == 0
    assert not is_binary(target)


def test_convert_to_standard_output(racetrap, racy):
    result = racetrap("trace", "convert", racy, "-")
    assert result.stdout.startswith("racetrap-trace 2\n")
    assert result.stdout.endswith("kernel_end\n")
    assert racetrap("trace", "convert", racy, "-", "--to", "binary").exit_code == 2


def test_bad_trace(racetrap, write, tmp_path):
    path = write("load sm=0 slot=0 warp=0 pc=0x40 size=4 lanes 0:0x2\n")
    for arguments in (["info", path], ["convert", path, tmp_path / "never"]):
        result = racetrap("trace", *arguments)
        assert result.exit_code == 2
        assert f"{path}, line 9: Address must be a multiple of the size 4" in result.stderr
    assert not (tmp_path / "never").exists()


def test_folder_that_is_not_there(racetrap, racy, tmp_path):
    result = racetrap("trace", "convert", racy, tmp_path / "no" / "x.trace")
    assert result.exit_code == 2
    assert "File must be one that can be written" in result.stderr


_EXAMPLES = REPOSITORY / "docs" / "examples"


def test_info_of_threads(racetrap, tmp_path):
    file = tmp_path / "info.json"
    path = _EXAMPLES / "unlocked-sum.trace"
    result = racetrap("trace", "info", path)
    assert result.exit_code == 0
    for words in ("text trace for sigrace", "Threads:  3", "135 instructions", "4 accesses"):
        assert words in result.stdout
    racetrap("trace", "info", path, "--json", file)
    data = json.loads(file.read_text())
    assert (data["events"], data["accesses"], data["instructions"]) == (16, 4, 135)
    assert (data["kinds"]["store"], data["kinds"]["barrier_arrive"]) == (2, 0)
    assert data["header"]["locations"] == {"64": "sum.c:12", "96": "sum.c:20"}
    assert "lanes" not in data


@pytest.mark.parametrize("compress", [[], ["--to", "compressed"]])
def test_convert_threads_there_and_back(racetrap, tmp_path, compress):
    path = _EXAMPLES / "locked-sum.trace"
    binary, text = tmp_path / "x.trace", tmp_path / "x.txt"
    assert racetrap("trace", "convert", path, binary, *compress).exit_code == 0
    assert racetrap("trace", "convert", binary, text).exit_code == 0
    assert is_binary(binary)
    assert read_trace(binary) == read_trace(text) == read_trace(path)
    assert racetrap("trace", "convert", binary, "-").stdout == text.read_text()


def test_compress(racetrap, tmp_path):
    plain, packed = tmp_path / "plain.trace", tmp_path / "packed.trace"
    racetrap("trace", "convert", _EXAMPLES / "locked-sum.trace", plain)
    assert racetrap("trace", "convert", plain, packed, "--to", "compressed").exit_code == 0
    assert is_binary(packed)
    assert packed.read_bytes() != plain.read_bytes()
    assert read_trace(packed) == read_trace(plain)


def test_what_cannot_be_compressed(racetrap, racy, tmp_path):
    threads = _EXAMPLES / "locked-sum.trace"
    for arguments in ([racy, "x"], [threads, "-"]):
        result = racetrap(
            "trace",
            "convert",
            *[tmp_path / a if a == "x" else a for a in arguments],
            "--to",
            "compressed",
        )
        assert result.exit_code == 2
    assert not (tmp_path / "x").exists()


def test_help_names_the_commands_that_take_traces(racetrap):
    result = racetrap("trace", "--help")
    for name in ("capture", "convert", "info", "record"):
        assert f"  {name} " in result.stdout


@pytest.mark.parametrize(("name", "status"), [("unlocked-sum", 1), ("locked-sum", 0)])
def test_examples_are_what_they_say(racetrap, name, status):
    assert racetrap("check", _EXAMPLES / f"{name}.trace").exit_code == status


_THREADS = REPOSITORY / "docs" / "examples" / "unlocked-sum.trace"


def test_slice(racetrap, tmp_path):
    whole, part, file = read_trace(_THREADS), tmp_path / "part.trace", tmp_path / "part.json"
    result = racetrap(
        "trace", "slice", _THREADS, "-o", part, "--events", f"0:{len(whole)}", "--threads", "0",
        "--json", file,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    left = read_trace(part)
    plain = [event.thread for event in left if event.kind in ACCESS_KINDS]
    assert set(plain) <= {0}
    assert json.loads(file.read_text())["left_out"] == len(whole) - len(left) > 0
    assert racetrap("check", _THREADS).exit_code == 1
    assert racetrap("check", part).exit_code == 0


@pytest.mark.parametrize(
    "options",
    [
        (), ("--events", "5:5"), ("--events", "all"), ("--events", "0:1000000"),
        ("--threads", "0,x"), ("--threads", "99"),
    ],
)  # fmt: skip
def test_no_slice(racetrap, tmp_path, options):
    part = tmp_path / "part.trace"
    result = racetrap("trace", "slice", _THREADS, "-o", part, *options)
    assert result.exit_code == 2
    assert not part.exists()


def test_no_slice_of_a_gpu_trace(racetrap, racy, tmp_path):
    result = racetrap("trace", "slice", racy, "-o", tmp_path / "part", "--threads", "0")
    assert (result.exit_code, (tmp_path / "part").exists()) == (2, False)
