"""The front door: every kind of file finds its command, and what cannot be given is said."""

import json

import pytest

from racetrap.commands.shared.front_door import RECORD_AND_CHECK, TABLE, command_of
from racetrap.golden_model.trace import read_trace
from tests.support import REPOSITORY
from tests.support.gpu.cuda_programs import needs_compiler

_EXAMPLES = REPOSITORY / "docs" / "examples"
_MAIN = "#include <cstdio>\n__global__ void k() {}\nint main(int n, char **) { return 0; }\n"
_KERNEL = "// main() comes later\n__global__ void k() { }\n"


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes files into the working folder."""
    monkeypatch.chdir(tmp_path)

    def _write(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("_", ".", 1)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())

    return _write


def test_sources(write):
    write(a_cu=_MAIN, b_cu=_KERNEL, k_cu=_KERNEL, k_toml="", p_ptx="", x_toml="", c_c="", d_cpp="")
    for given, stands_for in (
        ("a.cu", "run a.cu"),
        ("a.cu b.cu -- 3", "run a.cu b.cu -- 3"),
        ("b.cu a.cu", "run b.cu a.cu"),
        ("k.cu --json -", "check k.cu --json -"),
        ("k.cu x.toml -D N", "check k.cu --launch x.toml -D N"),
        ("p.ptx --launch x.toml", "check p.ptx --launch x.toml"),
        ("c.c", f"{RECORD_AND_CHECK} c.c"),
        ("d.cpp c.c", f"{RECORD_AND_CHECK} d.cpp c.c"),
        ("-", "check -"),
    ):
        assert command_of(given.split(), ()) == stands_for.split()


def test_files_by_their_content(write, tmp_path):
    trace = _EXAMPLES / "locked-sum.trace"
    read_trace(trace).write_binary(tmp_path / "binary")
    write(
        text=trace.read_text(), thesis="do_dma_write 0x1000-0x1fff\n", test="PTX name\n",
        cuda=b"\x7fELF\0libcudart.so.13\0", ours=b"\x7fELF\0racetrap_mark_off\0",
    )  # fmt: skip
    for name, command in (
        ("text", "check"), ("thesis", "check"), ("binary", "check"), ("test", "litmus"),
        ("cuda", "run"), ("ours", RECORD_AND_CHECK),
    ):  # fmt: skip
        assert command_of([name, "-x"], ()) == [command, name, "-x"], name


@pytest.mark.parametrize(
    ("name", "content", "look"),
    [
        ("k_cu", _KERNEL, "a CUDA kernel, without `main`, without a launch file: write k.toml"),
        ("k_ptx", "", "a PTX kernel without a launch file: write k.toml next to it"),
        ("other", b"\x7fELF\0", "a program that racetrap has not built: build it"),
        ("x_gz", b"\x1f\x8b\0", "compressed data (`zcat x.gz | racetrap check -`"),
        ("x_py", "import os", "a Python script: give a CUDA program, a kernel with its"),
        ("x_toml", "", "an empty file"),
        ("y_toml", "kernel = 1", "a launch file, whose kernel comes before it"),
        ("run_replay", "{}", "racetrap stress KERNEL --replay FILE"),
        ("notes", "hello", "a text: give"),
        ("data", b"\1\0\2", "binary data: give"),
    ],
)  # fmt: skip
def test_what_cannot_be_given_is_said(racetrap, write, name, content, look):
    write(**{name: content})
    result = racetrap(name.replace("_", ".", 1))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"racetrap: {name.replace('_', '.', 1)} ")
    assert look in result.stderr


def test_words_that_are_no_file(racetrap, tmp_path):
    assert command_of(["scord-tiny", "--json", "-"], ()) == ["presets", "scord-tiny", "--json", "-"]
    assert command_of(["chek"], ["check"]) is None
    assert "Did you mean check or" in racetrap("chek").output
    assert "nothing.cu: No such file, command or preset" in racetrap("nothing.cu").stderr
    assert "is a folder: give a CUDA program" in racetrap(tmp_path).stderr


def test_a_trace_a_litmus_test_and_a_preset(racetrap):
    trace = _EXAMPLES / "block-fence.trace"
    for words, command in (
        ([trace, "--json", "-"], "check"),
        ([_EXAMPLES / "litmus" / "2+2W+relaxed.litmus"], "litmus"),
        (["scord-tiny"], "presets"),
    ):
        opened, named = racetrap(*words), racetrap(command, *words)
        assert (opened.exit_code, opened.output) == (named.exit_code, named.output)
    assert "racetrap generate scord-tiny" in racetrap("scord-tiny").stdout


_THREADS = """
#include <pthread.h>
static int shared;
static void *work(void *unused) {
    shared++;
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    RACE
    pthread_join(thread, 0);
    return 0;
}
"""


@pytest.mark.parametrize(("race", "status"), [("work(0);", 1), ("", 0)])
def test_a_program_in_c(racetrap, write, tmp_path, race, status):
    write(bank_c=_THREADS.replace("RACE", race))
    result = racetrap("bank.c", "--seed", 3, "--cc", "-Og", "--json", "out.json", "-o", "out.xml")
    assert result.exit_code == status, result.output
    assert "bank.trace: " in result.stdout
    assert "/tmp" not in result.stdout
    document = json.loads((tmp_path / "out.json").read_text())
    assert (document["trace"], bool(document["races"])) == ("bank.trace", bool(status))
    assert (tmp_path / "out.xml").exists()
    assert not (tmp_path / "bank.trace").exists()


def test_help_of_a_program_in_c(racetrap, write):
    write(bank_c=_THREADS)
    page = racetrap("bank.c", "--help").stdout
    for option in ("--cc", "--budget", "--suppress", "--json", "--output"):
        assert option in page
    assert page.count("\n  -") <= 16


@needs_compiler
def test_several_cuda_sources(racetrap, write):
    write(
        main_cu="void launch(); int main(int n, char **) { launch(); return n - 2; }\n",
        part_cu="__global__ void add(int *sum) { *sum += 1; }\n"
        "void launch() { int *sum; cudaMalloc(&sum, 4); add<<<2, 32>>>(sum); "
        "cudaDeviceSynchronize(); }\n",
    )
    result = racetrap("main.cu", "part.cu", "--no-cures", "one")
    assert result.exit_code == 1, result.output
    assert "part.cu:1: race: " in result.stdout


def test_the_table_is_in_the_help_and_on_the_page(racetrap):
    page = (REPOSITORY / "docs" / "command-line.md").read_text()
    shown = " ".join(racetrap("--help").stdout.split())
    for row in TABLE:
        assert f"{row.command}: {row.which} (status {row.status})" in shown
        assert f"| {row.file}: {row.which} | `{row.command}` | {row.status} |" in page
