"""`racetrap check`: exit status, what is printed, JSON, and which access is named as earlier."""

import json
from pathlib import Path

import pytest


def test_race(racetrap, racy):
    result = racetrap("check", racy)
    assert result.exit_code == 1
    for words in (
        "Race 0: missing-device-fence, device scope, Table IV (b), address 0x10004, pc 0x48\n",
        "strong load at pc 0x48 by grid block 41 (SM 1, slot 1), warp 2, event 4\n",
        "strong store at pc 0x40 by grid block 40 (SM 0, slot 0), warp 1, event 3\n",
        "The load of grid block 41 warp 2 races with the store of grid block 40 warp 1: ",
        "Races: 1 (1 of different PC and kind) in 8 events, 2 accesses (0 outside",
    ):
        assert words in result.stdout


def test_source_lines_of_the_trace(racetrap, racy):
    path = Path(racy)
    place = 'source "test"\nlocation 0x48 "reader.cu:7"\n'
    path.write_text(path.read_text().replace('source "test"\n', place))
    result = racetrap("check", racy)
    for words in (
        "strong load at pc 0x48 (reader.cu:7) by grid block 41 (SM 1, slot 1), warp 2, event 4\n",
        "strong store at pc 0x40 by grid block 40 (SM 0, slot 0), warp 1, event 3\n",
        "The load of grid block 41 warp 2 at reader.cu:7 races with the store of grid block 40 wa",
    ):
        assert words in result.stdout
    (race,) = json.loads(racetrap("check", racy, "--json", "-").stdout)["races"]
    places = race["access"]["location"], race["earlier"]["location"]
    assert places == ("reader.cu:7", None)


def test_no_race(racetrap, race_free):
    result = racetrap("check", race_free)
    assert result.exit_code == 0
    assert result.stdout.startswith("Races: 0 ")


def test_json_file(racetrap, racy, tmp_path):
    file = tmp_path / "races.json"
    assert racetrap("check", racy, "--json", file).exit_code == 1
    data = json.loads(file.read_text())
    assert data.keys() == {
        "trace", "preset", "parameters", "events", "unique", "counters", "races",
    }  # fmt: skip
    (race,) = data["races"]
    assert race["access"] == {
        "event": 4, "kind": "load", "scope": None, "strong": True, "op": None, "pc": 0x48,
        "grid_block": 41, "sm": 1, "slot": 1, "warp": 2, "location": None,
    }  # fmt: skip
    assert race["earlier"]["grid_block"] == 40
    assert (race["kind"], race["scope"], race["table_iv"], race["address"], race["pc"]) == (
        "missing-device-fence", "device", "b", 0x10004, 0x48,
    )  # fmt: skip


def test_json_on_standard_output_is_alone(racetrap, racy):
    result = racetrap("check", racy, "--json", "-")
    assert len(json.loads(result.stdout)["races"]) == 1
    assert "Race 0" in result.stderr


def test_binary_trace_gives_the_same(racetrap, racy, tmp_path):
    binary = tmp_path / "racy.trace"
    assert racetrap("trace", "convert", racy, binary).exit_code == 0
    text, other = (json.loads(racetrap("check", f, "--json", "-").stdout) for f in (racy, binary))
    assert text["races"] == other["races"]


def test_settings_and_preset(racetrap, write):
    """Words half a region apart share an entry with ratio 2, and its tag tells them apart."""
    body = (
        "store sm=0 slot=0 warp=1 pc=0x40 size=4 strong device lanes 0:0x10004\n"
        "store sm=0 slot=0 warp=1 pc=0x44 size=4 strong device lanes 0:0x18004\n"
        "load sm=1 slot=1 warp=2 pc=0x48 size=4 strong device lanes 3:0x10004\n"
    )
    assert racetrap("check", write(body), "--set", "ratio=2").exit_code == 0
    assert racetrap("check", write(body), "--preset", "scord-nocache").exit_code == 1


@pytest.fixture
def many(write):
    """Five races in two groups."""
    store = "store sm=0 slot=0 warp=1 pc=0x40 size=4 strong device lanes 0:0x10004\n"
    load = "load sm=1 slot=1 warp=2 pc=0x48 size=4 strong device lanes 3:0x10004\n"
    return write((store + load) * 3)


def test_races_that_are_alike_are_printed_once(racetrap, many):
    done = racetrap("check", many)
    assert done.stdout.count("Table IV (") == 2
    assert "Race 0: " in done.stdout
    assert "pc 0x48, the first of 3 like it\n" in done.stdout
    assert "pc 0x40, the first of 2 like it\n" in done.stdout
    assert "Races: 5 (2 of" in done.stdout
    assert "Not shown" not in done.stdout


@pytest.mark.parametrize(
    ("options", "printed", "written", "left"),
    [
        (["--all"], 5, 5, ""),
        (["--all", "--limit", 3], 3, 3, "Not shown: 2 more races (--limit or --all)."),
        (["--limit", 1], 1, 1, "Not shown: 1 more groups of races (--limit or --all)."),
        (["--limit", 0], 0, 0, "Not shown: 2 more groups of races (--limit or --all)."),
        (["--limit", 9], 2, 5, ""),
    ],
)
def test_all_and_limit(racetrap, many, options, printed, written, left):
    done = racetrap("check", many, *options, "--json", "-")
    assert done.exit_code == 1
    assert done.stderr.count("Table IV (") == printed
    assert [race["sequence"] for race in json.loads(done.stdout)["races"]] == list(range(written))
    assert left in done.stderr
    assert ("Not shown" in done.stderr) == bool(left)
    assert "Races: 5 (2 of" in done.stderr


def test_earlier_access_is_the_one_that_owns_the_entry(racetrap, write):
    """Reads that only share an entry do not become its owner; a new grid block in a slot does."""
    body = (
        "load sm=0 slot=0 warp=0 pc=0x40 size=4 strong device lanes 0:0x10004\n"
        "load sm=1 slot=1 warp=2 pc=0x44 size=4 strong device lanes 0:0x10004\n"
        "block_retired sm=0 slot=0\n"
        "block_placed sm=0 slot=0 warp=1 warp_count=1 grid_block=77\n"
        "store sm=0 slot=0 warp=1 pc=0x48 size=4 strong device lanes 0:0x10004\n"
        "store sm=1 slot=1 warp=3 pc=0x4c size=4 strong device lanes 0:0x10004\n"
    )
    races = json.loads(racetrap("check", write(body), "--json", "-").stdout)["races"]
    parties = [(race["access"]["grid_block"], race["earlier"]["grid_block"]) for race in races]
    assert parties == [(77, 40), (41, 77)]
    assert [race["earlier"]["pc"] for race in races] == [0x40, 0x48]


def test_store_after_loads_of_several_warps(racetrap, write):
    """The metadata names the storing warp itself, which loaded first."""
    body = (
        "load sm=0 slot=0 warp=0 pc=0x40 size=4 lanes 0:0x10004\n"
        "load sm=1 slot=1 warp=2 pc=0x40 size=4 lanes 0:0x10004\n"
        "store sm=0 slot=0 warp=0 pc=0x48 size=4 lanes 0:0x10004=0x1\n"
    )
    (race,) = json.loads(racetrap("check", write(body), "--json", "-").stdout)["races"]
    assert race["sentence"].startswith(
        "The store of grid block 40 warp 0 races with a load of another warp since its own: no "
    )


def test_accesses_outside_the_region_are_counted(racetrap, write):
    body = "load sm=0 slot=0 warp=0 pc=0x40 size=4 lanes 0:0x4\n"
    result = racetrap("check", write(body))
    assert result.exit_code == 0
    assert "(1 outside the monitored region)" in result.stdout


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--set", "sm_count=1"], "Parameter sm_count must be at least the 2 of the trace, not 1."),
        (["--set", "granularity=5"], "Parameter granularity must be a power of two, not 5."),
        (["--set", "hue=5"], "must be one of"),
        (["--preset", "none"], "Preset must be one of"),
        (["--preset", "scord-local", "--set", "ratio=1"], "Region size must be"),
    ],
)
def test_bad_configuration(racetrap, racy, options, sentence):
    result = racetrap("check", racy, *options)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    "options", [("--environment", "fixed"), ("--checkpoint", 1_000_000), ("--ideal",)]
)
def test_options_of_threads_are_refused(racetrap, racy, options):
    result = racetrap("check", racy, *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        f"racetrap: Option {options[0]} must come with a trace of threads, "
        "not with a trace of a GPU.\n"
    )


def test_event_that_does_not_fit(racetrap, write):
    body = "load sm=0 slot=0 warp=0 pc=0x140 size=4 lanes 0:0x4\n"
    result = racetrap("check", write(body), "--set", "pc_bits=8")
    assert result.exit_code == 2
    assert "Event 3: PC must fit in 8 bits, not 0x140." in result.stderr


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "No such file or directory."),
        ("", "(rule 1)."),
        ("racetrap-trace 2\n", "(rule 5)."),
    ],
)
def test_bad_file(racetrap, tmp_path, content, sentence):
    path = tmp_path / "bad.txt"
    if content is not None:
        path.write_text(content)
    result = racetrap("check", path)
    assert result.exit_code == 2
    assert result.stderr.startswith("racetrap: ")
    assert str(path) in result.stderr
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1
