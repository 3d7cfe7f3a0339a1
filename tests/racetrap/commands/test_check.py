"""`racetrap check --oracle none`: exit status, what is printed, JSON, and which access is named
as earlier."""

import functools
import json
from pathlib import Path

import pytest

from tests.support import REPOSITORY
from tests.support.oracle.left_out import many_blocks, read_by_all


@pytest.fixture
def detected(racetrap):
    return functools.partial(racetrap, "check", "--oracle", "none")


def test_race(detected, racy):
    result = detected(racy)
    assert result.exit_code == 1
    for words in (
        "Race 0: missing-device-fence, device scope, Table IV (b), address 0x10004, pc 0x48\n",
        "strong load at pc 0x48 by grid block 41 (SM 1, slot 1), warp 2, event 4\n",
        "strong store at pc 0x40 by grid block 40 (SM 0, slot 0), warp 1, event 3\n",
        "The load of grid block 41 warp 2 races with the store of grid block 40 warp 1: ",
        "Reports: 1 (1 of different PC and kind) in 8 events, 2 accesses (0 outside",
    ):
        assert words in result.stdout


def test_source_lines_of_the_trace(detected, racy):
    path = Path(racy)
    place = 'source "test"\nlocation 0x48 "reader.cu:7"\n'
    path.write_text(path.read_text().replace('source "test"\n', place))
    result = detected(racy)
    for words in (
        "strong load at pc 0x48 (reader.cu:7) by grid block 41 (SM 1, slot 1), warp 2, event 4\n",
        "strong store at pc 0x40 by grid block 40 (SM 0, slot 0), warp 1, event 3\n",
        "The load of grid block 41 warp 2 at reader.cu:7 races with the store of grid block 40 wa",
    ):
        assert words in result.stdout
    (race,) = json.loads(detected(racy, "--json", "-").stdout)["races"]
    places = race["access"]["location"], race["earlier"]["location"]
    assert places == ("reader.cu:7", None)


def test_no_race(detected, race_free):
    result = detected(race_free)
    assert result.exit_code == 0
    assert result.stdout.startswith("Reports: 0 ")


def test_json_file(detected, racy, tmp_path):
    file = tmp_path / "races.json"
    assert detected(racy, "--json", file).exit_code == 1
    data = json.loads(file.read_text())
    assert data.keys() == {
        "trace", "preset", "parameters", "events", "unique", "counters", "races", "faults",
        "outside", "results",
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


def test_json_on_standard_output_is_alone(detected, racy):
    result = detected(racy, "--json", "-")
    assert len(json.loads(result.stdout)["races"]) == 1
    assert "Race 0" in result.stderr


def test_binary_trace_gives_the_same(racetrap, detected, racy, tmp_path):
    binary = tmp_path / "racy.trace"
    assert racetrap("trace", "convert", racy, binary).exit_code == 0
    text, other = (json.loads(detected(f, "--json", "-").stdout) for f in (racy, binary))
    assert text["races"] == other["races"]


def test_settings_and_preset(detected, write):
    """Words half a region apart share an entry with ratio 2, and its tag tells them apart."""
    body = (
        "store sm=0 slot=0 warp=1 pc=0x40 size=4 strong device lanes 0:0x10004\n"
        "store sm=0 slot=0 warp=1 pc=0x44 size=4 strong device lanes 0:0x18004\n"
        "load sm=1 slot=1 warp=2 pc=0x48 size=4 strong device lanes 3:0x10004\n"
    )
    assert detected(write(body), "--set", "ratio=2").exit_code == 0
    assert detected(write(body), "--detector", "scord-nocache").exit_code == 1


@pytest.fixture
def many(write):
    """Five races in two groups."""
    store = "store sm=0 slot=0 warp=1 pc=0x40 size=4 strong device lanes 0:0x10004\n"
    load = "load sm=1 slot=1 warp=2 pc=0x48 size=4 strong device lanes 3:0x10004\n"
    return write((store + load) * 3)


def test_races_that_are_alike_are_printed_once(detected, many):
    done = detected(many)
    assert done.stdout.count("Table IV (") == 2
    assert "Race 0: " in done.stdout
    assert "pc 0x48, the first of 3 like it\n" in done.stdout
    assert "pc 0x40, the first of 2 like it\n" in done.stdout
    assert "Reports: 5 (2 of" in done.stdout
    assert "Not shown" not in done.stdout


@pytest.mark.parametrize(
    ("options", "printed", "written", "left"),
    [
        (["--limit", "all"], 5, 5, ""),
        (["--limit", 1], 1, 1, "Not shown: 1 more groups of races (--limit N|all)."),
        (["--limit", 0], 0, 0, "Not shown: 2 more groups of races (--limit N|all)."),
        (["--limit", 9], 2, 5, ""),
    ],
)
def test_all_and_limit(detected, many, options, printed, written, left):
    done = detected(many, *options, "--json", "-")
    assert done.exit_code == 1
    assert done.stderr.count("Table IV (") == printed
    assert [race["sequence"] for race in json.loads(done.stdout)["races"]] == list(range(written))
    assert left in done.stderr
    assert ("Not shown" in done.stderr) == bool(left)
    assert "Reports: 5 (2 of" in done.stderr


def test_earlier_access_is_the_one_that_owns_the_entry(detected, write):
    """Reads that only share an entry do not become its owner; a new grid block in a slot does."""
    body = (
        "load sm=0 slot=0 warp=0 pc=0x40 size=4 strong device lanes 0:0x10004\n"
        "load sm=1 slot=1 warp=2 pc=0x44 size=4 strong device lanes 0:0x10004\n"
        "block_retired sm=0 slot=0\n"
        "block_placed sm=0 slot=0 warp=1 warp_count=1 grid_block=77\n"
        "store sm=0 slot=0 warp=1 pc=0x48 size=4 strong device lanes 0:0x10004\n"
        "store sm=1 slot=1 warp=3 pc=0x4c size=4 strong device lanes 0:0x10004\n"
    )
    races = json.loads(detected(write(body), "--json", "-").stdout)["races"]
    parties = [(race["access"]["grid_block"], race["earlier"]["grid_block"]) for race in races]
    assert parties == [(77, 40), (41, 77)]
    assert [race["earlier"]["pc"] for race in races] == [0x40, 0x48]


def test_store_after_loads_of_several_warps(detected, write):
    """The metadata names the storing warp itself, which loaded first."""
    body = (
        "load sm=0 slot=0 warp=0 pc=0x40 size=4 lanes 0:0x10004\n"
        "load sm=1 slot=1 warp=2 pc=0x40 size=4 lanes 0:0x10004\n"
        "store sm=0 slot=0 warp=0 pc=0x48 size=4 lanes 0:0x10004=0x1\n"
    )
    (race,) = json.loads(detected(write(body), "--json", "-").stdout)["races"]
    assert race["sentence"].startswith(
        "The store of grid block 40 warp 0 races with a load of another warp since its own: no "
    )


def test_accesses_outside_the_region_are_counted(detected, write):
    body = "load sm=0 slot=0 warp=0 pc=0x40 size=4 lanes 0:0x4\n"
    result = detected(write(body))
    assert result.exit_code == 0
    assert "(1 outside the monitored region)" in result.stdout


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--set", "sm_count=1"], "Parameter sm_count must be at least the 2 of the trace, not 1."),
        (["--set", "granularity=5"], "Parameter granularity must be a power of two, not 5."),
        (["--set", "hue=5"], "Unknown setting 'hue'"),
        (["--detector", "none"], "Unknown preset 'none'"),
        (["--detector", "scord-local", "--set", "ratio=1"], "Region size must be"),
    ],
)
def test_bad_configuration(detected, racy, options, sentence):
    result = detected(racy, *options)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("option", "subjects"),
    [
        ("--compare", "a trace of threads or a trace of a CPU and its accelerators"),
        ("--exact", "an exact check of threads"),
        ("--fail-fast", "an exact check of threads"),
    ],
)
def test_options_of_threads_are_refused(racetrap, racy, option, subjects):
    kernel = REPOSITORY / "docs" / "examples" / "handover.ptx"
    for path, given in ((racy, "a trace of a GPU"), (kernel, "a kernel in PTX")):
        result = racetrap("check", path, option)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr == (
            f"racetrap: Option {option} is for {subjects}, not for {given}: leave it out.\n"
        )


def test_settings_of_threads_are_refused(detected, racy):
    result = detected(racy, "--set", "environment=fixed")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Unknown setting 'environment'" in result.stderr


def test_event_that_does_not_fit(detected, write):
    body = "load sm=0 slot=0 warp=0 pc=0x140 size=4 lanes 0:0x4\n"
    result = detected(write(body), "--set", "pc_bits=8")
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
def test_bad_file(detected, tmp_path, content, sentence):
    path = tmp_path / "bad.txt"
    if content is not None:
        path.write_text(content)
    result = detected(path)
    assert result.exit_code == 2
    assert result.stderr.startswith("racetrap: ")
    assert str(path) in result.stderr
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1


def test_exact_verdict_by_default(racetrap, racy, tmp_path, monkeypatch):
    """One finding a pair of lines, with the source beside the trace, and what was not looked at."""
    (tmp_path / "reader.cu").write_text("\n" * 6 + "  x = y;\n")
    path = Path(racy)
    shared = "load sm=0 slot=0 warp=1 pc=0x50 size=4 shared lanes 0:0x8\n"
    text = path.read_text().replace('source "test"\n', 'source "t"\nlocation 0x48 "reader.cu:7"\n')
    path.write_text(text.replace("block_retired sm=0", shared + "block_retired sm=0"))
    monkeypatch.chdir(tmp_path)
    result = racetrap("check", path, "--notes", "--json", "out.json")
    assert result.exit_code == 1
    lockstep, *lines = result.stdout.splitlines()
    assert lockstep.startswith("Lockstep: ")
    assert lines[0].startswith("reader.cu:7: race: load races with store at pc 0x40: ")
    assert lines[4:6] == ["    " + "  x = y;", "      ^"]
    assert "exact, by rule causality" in result.stdout
    assert "Detector scord-nocache: 1 of 1 distinct races reported, 0 missed" in result.stdout
    assert "did not check 0 of 2 accesses to global memory" in result.stdout
    assert "and 1 to shared memory; metadata evicted 0 times by another word" in result.stdout
    document = json.loads((tmp_path / "out.json").read_text())
    ((finding,),) = (each["pairs"] for each in document["findings"])
    assert (finding["later"]["place"], finding["outcomes"]) == ("reader.cu:7", {"reported": 1})
    assert (document["preset"], document["rule"]) == ("scord-nocache", "causality")
    assert document["detector"]["shared_accesses"] == 1
    assert len(document["reports"]) == len(document["oracle"]["races"]) == 1


def test_what_was_not_judged_is_told(racetrap, tmp_path):
    """Nine blocks read words that another writes, ordered behind eight of them."""
    path = tmp_path / "a.trace"
    for count, said in ((1, "1 location"), (2, "2 locations")):
        many_blocks([0], count).write_binary(path)
        result = racetrap("check", path, "--json", tmp_path / "a.json")
        assert result.exit_code == 0
        told, *_, verdict = result.stdout.splitlines()
        assert told == f"Not judged: some accesses to {said}; more were unordered than are kept."
        assert verdict.startswith("Races: none (exact, by rule causality)")
        assert json.loads((tmp_path / "a.json").read_text())["partly_judged"] == count
    read_by_all().write_binary(path)
    assert "Not judged" not in racetrap("check", path).stdout


def test_exact_verdict_and_that_of_the_detector_differ(racetrap, race_free):
    """The reader acquires nothing: a fence of the writer alone orders nothing."""
    assert racetrap("check", race_free).exit_code == 1
    assert racetrap("check", race_free, "--oracle", "none").exit_code == 0


def test_history_that_was_pushed_out_is_counted(racetrap, write):
    body = (
        "store sm=0 slot=0 warp=1 pc=0x40 size=4 strong device lanes 0:0x10004\n"
        "store sm=0 slot=0 warp=1 pc=0x44 size=4 strong device lanes 0:0x18004\n"
        "load sm=1 slot=1 warp=2 pc=0x48 size=4 strong device lanes 3:0x10004\n"
    )
    result = racetrap("check", write(body), "--set", "ratio=2")
    assert result.exit_code == 1
    assert "detector: 1 tag conflict" in result.stdout
    assert "0 of 1 distinct races reported, 1 missed" in result.stdout
    assert "metadata evicted 2 times by another word" in result.stdout


@pytest.mark.parametrize("options", [(), ("--oracle", "none")])
def test_reports_and_baseline(racetrap, racy, tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    files = ("o.html", "o.sarif", "o.xml", "o.github", "known.toml")
    result = racetrap("check", racy, *options, *(word for file in files for word in ("-o", file)))
    assert result.exit_code == 1
    assert (
        "::error title=RT103::load races with store at pc 0x40: "
        in (tmp_path / "o.github").read_text()
    )
    assert len(json.loads((tmp_path / "o.sarif").read_text())["runs"][0]["results"]) == 1
    assert 'failures="1"' in (tmp_path / "o.xml").read_text()
    assert "Races of body.txt" in (tmp_path / "o.html").read_text()
    result = racetrap("check", racy, *options, "--baseline", "known.toml")
    assert result.exit_code == 0
    assert "Known: 1 pair of source lines of the baseline, seen once." in result.stdout
    assert "Race 0" not in result.stdout
    assert ": race: " not in result.stdout
