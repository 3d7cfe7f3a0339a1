"""`racetrap check` of traces of threads: reports, statistics, oracle, options and errors."""

import json

import pytest

from racetrap.golden_model.trace.threads.events import MemoryOrder, ThreadEventKind
from tests.support.sigrace.programs import ThreadProgram

LOCATIONS = {0x40: "bank.c:12", 0x48: "bank.c:20"}


@pytest.fixture
def save(tmp_path):
    """Writes a program's trace in its binary form."""

    def _save(program, **header):
        path = tmp_path / "threads.trace"
        program.trace(**header).write_binary(path)
        return path

    return _save


def racy_program():
    """Three dynamic instances of one static race, and one of another."""
    program = ThreadProgram(2)
    for address in (0x1000, 0x1004, 0x1008):
        program.store(0, address, pc=0x40)
        program.load(1, address, pc=0x48)
    program.store(1, 0x2000, pc=0x50)
    program.store(0, 0x2000, pc=0x40)
    return program


@pytest.fixture
def racy(save):
    return save(racy_program(), locations=LOCATIONS)


@pytest.fixture
def clean(save):
    program = ThreadProgram(2)
    for thread in (0, 1):
        program.lock(thread)
        program.store(thread, 0x1000)
        program.unlock(thread)
    return save(program)


def checked(racetrap, *arguments):
    result = racetrap("check", *arguments, "--json", "-")
    return result, json.loads(result.stdout)


def test_static_races_with_their_instances(racetrap, racy):
    result = racetrap("check", racy)
    assert result.exit_code == 1
    assert (
        "Race 0: pc 0x40 (bank.c:12) and pc 0x48 (bank.c:20), at 3 addresses, the first 0x1000\n"
        "  one:   store at pc 0x40 (bank.c:12) by thread 0, epoch 1\n"
        "  other: load at pc 0x48 (bank.c:20) by thread 1, epoch 1\n"
        "  The store of thread 0 at bank.c:12 races with the load of thread 1 at bank.c:20: "
        "no synchronisation orders them.\n"
    ) in result.output
    assert "Race 1: pc 0x40 (bank.c:12) and pc 0x50, at address 0x2000" in result.output
    assert "Races: 2 pairs of instructions at 4 addresses in 13 events of 2" in result.output


def test_no_race(racetrap, clean):
    result, data = checked(racetrap, clean)
    assert result.exit_code == 0
    assert (data["races"], data["static"], data["conflicts"]) == ([], 0, 0)
    assert data["statistics"]["first_race"] is None


def test_json(racetrap, racy):
    _, data = checked(racetrap, racy)
    assert set(data) == {
        "trace", "preset", "parameters", "environment", "checkpoint_interval", "unbounded",
        "rollback_when", "ring_depth",
        "events", "static", "dynamic", "false_sharing", "conflicts", "false_positives",
        "statistics", "races",
    }  # fmt: skip
    assert (data["preset"], data["parameters"]["threads"]) == ("sigrace", 8)
    assert [race["address"] for race in data["races"]] == [0x1000, 0x1004, 0x1008, 0x2000]
    assert data["races"][0]["first"] == {
        "thread": 0, "epoch": 1, "kind": "store", "pc": 0x40, "location": "bank.c:12",
    }  # fmt: skip
    assert data["races"][3]["second"] == {
        "thread": 1, "epoch": 1, "kind": "store", "pc": 0x50, "location": None,
    }  # fmt: skip
    statistics = data["statistics"]
    assert (statistics["blocks"], statistics["rollbacks"]) == (2, {"sync": 1})
    assert statistics["first_race"]["overhead"] == statistics["overhead"] > 0
    assert data["environment"]["name"] == "fixed"


def test_preset_and_settings(racetrap, racy):
    _, data = checked(racetrap, racy, "--detector", "sigrace-tiny", "--set", "history_depth=7")
    assert (data["preset"], data["parameters"]["history_depth"]) == ("sigrace-tiny", 7)
    assert len(data["races"]) == 4


def test_address_rings(racetrap, racy):
    result, data = checked(racetrap, racy, "--set", "ring_depth=64", "--set", "rollback_when=sync")
    assert (data["ring_depth"], data["rollback_when"], len(data["races"])) == (64, "sync", 4)
    statistics = data["statistics"]
    assert statistics["conflicts_dismissed"] == statistics["conflicts_unheld"] == 0
    assert 0 < statistics["ring_reads"] <= statistics["ring_writes"]
    written = f"ring entries written {statistics['ring_writes']}"
    assert written in " ".join(result.output.replace("│", " ").split())
    without, data = checked(racetrap, racy)
    assert (data["ring_depth"], data["rollback_when"]) == (0, "blocks")
    assert "ring entries" not in without.output


@pytest.mark.parametrize("environment", ["migration", "multiplex", "multithreaded"])
def test_environments(racetrap, racy, environment):
    _, data = checked(racetrap, racy, "--set", f"environment={environment}", "--set", "cores=2")
    assert data["environment"]["name"] == environment
    assert len(data["races"]) == 4


def test_checkpoint_and_ideal(racetrap, save):
    program = ThreadProgram(2)
    program.store(0, 0x1000, pc=0x40)
    program.synchronise(0, instructions=50)
    program.store(0, 0x2000)
    program.synchronise(0)
    program.load(1, 0x1000, pc=0x48)
    trace = save(program)
    assert checked(racetrap, trace, "--set", "checkpoint_interval=90")[1]["races"] == []
    depth = ("--set", "history_depth=1")
    assert checked(racetrap, trace, *depth)[1]["races"] == []
    _, data = checked(racetrap, trace, *depth, "--set", "unbounded=true")
    assert (data["unbounded"], len(data["races"])) == (True, 1)


def test_oracle_confirms(racetrap, racy):
    result, data = checked(racetrap, racy, "--compare")
    oracle = data["oracle"]
    assert (oracle["dynamic"], oracle["static"], oracle["ideal"]) == (4, 2, 4)
    assert oracle["outcomes"] == {"reported": 4}
    assert oracle["unconfirmed"] == []
    for race in oracle["races"]:
        assert not race["missed"], race
    assert "Oracle: 2 pairs of instructions at 4 addresses; Ideal SigRace: 2 pairs" in result.stderr


def test_oracle_says_why_races_are_missed(racetrap, save):
    program = ThreadProgram(2)
    program.store(0, 0x1000, pc=0x40)
    program.add(ThreadEventKind.ATOMIC_LOAD, 1, 0x1000, 4, MemoryOrder.RELAXED, pc=0x48)
    program.synchronise(0)
    program.store(0, 0x2000, pc=0x50)
    program.synchronise(0)
    program.load(1, 0x1000, pc=0x58)
    program.store(1, 0x2002, size=2, pc=0x5C)
    trace = save(program)
    result, data = checked(racetrap, trace, "--compare", "--set", "history_depth=1")
    outcomes = {
        (race["first"]["pc"], race["second"]["pc"]): race["outcome"]
        for race in data["oracle"]["races"]
    }
    assert outcomes == {
        (0x40, 0x48): "missed: one access is atomic, which is not collected",
        (0x40, 0x58): "missed: the block had left its full queue",
        (0x50, 0x5C): "reported",
    }
    assert "Oracle: at address 0x1000, missed: the block had left" in result.stderr


def test_different_bytes_of_a_word_are_no_race(racetrap, save):
    program = ThreadProgram(2)
    program.store(0, 0x1000, size=1, pc=0x40)
    program.store(1, 0x1001, size=1, pc=0x48)
    result, data = checked(racetrap, save(program, locations=LOCATIONS), "--compare")
    assert result.exit_code == 0
    assert (data["races"], data["dynamic"], data["false_sharing"]) == ([], 0, 1)
    assert (data["oracle"]["dynamic"], data["oracle"]["false_sharing"]) == (0, 1)
    assert data["false_positives"] == 0
    assert "Races: none in" in result.stderr
    text = "No race: pc 0x40 (bank.c:12) and pc 0x48 (bank.c:20) use different bytes of one word"
    assert text in result.stderr


def test_preset_of_the_other_detector(racetrap, racy):
    result = racetrap("check", racy, "--detector", "scord")
    assert result.exit_code == 2
    assert "preset of scord does not read a trace of threads" in result.stderr


def test_preset_of_the_other_detector_for_a_gpu(racetrap, race_free):
    result = racetrap("check", race_free, "--detector", "sigrace-tiny")
    assert result.exit_code == 2
    assert (
        "A preset of sigrace does not read a trace of a GPU: take one of scord or" in result.stderr
    )


@pytest.mark.parametrize(
    ("setting", "value"), [("threads", 1), ("cores", 1), ("timestamp_bits", 2)]
)
def test_machine_too_small(racetrap, save, setting, value):
    program = ThreadProgram(2)
    program.synchronise(0)
    result = racetrap("check", save(program), "--set", f"{setting}={value}")
    assert result.exit_code == 2
    assert f"--set {setting}=" in result.stderr
    assert result.stderr.count("\n") == 1


def test_truncated_trace(racetrap, racy):
    racy.write_bytes(racy.read_bytes()[:-7])
    result = racetrap("check", racy)
    assert result.exit_code == 2


def test_exact_check(racetrap, racy):
    result, data = checked(racetrap, racy, "--exact")
    assert result.exit_code == 1
    assert [(race["first"]["pc"], race["second"]["pc"], race["addresses"])
            for race in data["races"]] == [(0x40, 0x48, 3), (0x40, 0x50, 1)]  # fmt: skip
    assert set(data) == {
        "trace", "events", "static", "suppressed", "checked_events", "races",
        "lock_order_inversions",
    }  # fmt: skip
    assert data["races"][0]["locks"] == [[], []]
    assert data["races"][0]["allocation"] is None
    assert result.stderr.startswith("bank.c:20: race: load races with store at bank.c:12: no ")
    assert "holds no lock" in result.stderr
    assert "seen 3 times (3 unordered; 3 inter-thread); first at address 0x1000" in result.stderr
    assert "Races: 2 pairs of instructions in 13 events" in result.stderr
    result = racetrap("check", racy, "--exact", "--set", "unbounded=true")
    assert result.exit_code == 2
    assert "Option --set is for " in result.stderr
    assert "not for an exact check of threads" in result.stderr


def test_locks_and_allocation_of_a_race(racetrap, save):
    program = ThreadProgram(2)
    program.add(ThreadEventKind.ALLOCATE, 0, 0x1000, value=8, pc=0x40)
    program.lock(0, pc=0x44)
    program.store(0, 0x1000)
    program.unlock(0)
    program.store(1, 0x1000)
    path = save(program, locations={0x40: "bank.c:3", 0x44: "bank.c:7"})
    result, data = checked(racetrap, path, "--exact")
    assert "thread 0, epoch 2, holds mutex 0x9000 since bank.c:7" in result.stderr
    assert (
        "in a block of 8 bytes from 0x1000 on, allocated at bank.c:3 by thread 0"
    ) in result.stderr
    (race,) = data["races"]
    lock = {"address": 0x9000, "class": "mutex", "pc": 0x44, "place": "bank.c:7"}
    assert race["locks"] == [[lock], []]
    assert race["allocation"]["place"] == "bank.c:3"


def test_suppressed_races(racetrap, racy, tmp_path):
    file = tmp_path / "known"
    file.write_text("# Both are known.\nbank.c:20 bank.c:1*\nother.c:*\n")
    result, data = checked(racetrap, racy, "--suppress", file)
    assert (data["static"], data["suppressed"]) == (1, 1)
    assert data["races"][0]["second"]["pc"] == 0x50
    assert "suppressed: 1." in result.stderr
    assert "Suppression matches nothing: other.c:*" in result.stderr
    assert "nothing: bank.c" not in result.stderr
    file.write_text("bank.c:1?  # whatever it races with\n")
    result, data = checked(racetrap, racy, "--suppress", file)
    assert result.exit_code == 0
    assert (data["static"], data["suppressed"]) == (0, 2)
    file.write_text("\nbank.c:1 bank.c:2 bank.c:3\n")
    result = racetrap("check", racy, "--suppress", file)
    assert result.exit_code == 2
    assert "line 2: Suppression must be one or two patterns of places, not 3" in result.stderr


def test_fail_fast_stops_at_the_first_race_that_is_not_suppressed(racetrap, racy, tmp_path):
    _, whole = checked(racetrap, racy, "--exact")
    result, first = checked(racetrap, racy, "--fail-fast")
    assert (result.exit_code, first["static"]) == (1, 1)
    assert first["checked_events"] < whole["checked_events"] == whole["events"]
    assert f"Stopped at event {first['checked_events'] - 1}: later races and" in result.stderr
    pair = [first["races"][0][side]["location"] for side in ("first", "second")]
    file = tmp_path / "known"
    file.write_text(" ".join(pair))
    _, second = checked(racetrap, racy, "--fail-fast", "--suppress", file)
    assert (second["static"], second["suppressed"]) == (1, 1)
    assert second["checked_events"] > first["checked_events"]


def test_locks_in_two_orders(racetrap, save):
    program = ThreadProgram(2)
    for thread, locks in enumerate(((0x9000, 0x9100), (0x9100, 0x9000))):
        for lock in locks:
            program.lock(thread, lock, pc=lock + thread)
        for lock in reversed(locks):
            program.unlock(thread, lock)
    result, data = checked(racetrap, save(program, locations={0x9100: "bank.c:9"}), "--exact")
    assert result.exit_code == 1
    assert data["static"] == 0
    assert "bank.c:9: lock-order inversion, " in result.stderr
    assert "thread 0 acquires 0x9100 at bank.c:9 and holds 0x9000 since" in result.stderr
    assert "and holds 0x9100 since pc 0x9101" in result.stderr
    (cycle,) = data["lock_order_inversions"]
    assert [(order["thread"], order["held"]) for order in cycle] == [(0, 0x9000), (1, 0x9100)]
    assert cycle[0]["acquired_place"] == "bank.c:9"


def test_exact_check_without_races(racetrap, clean):
    result = racetrap("check", clean, "--exact")
    assert result.exit_code == 0
    assert "Races: 0 pairs of instructions" in result.output


def test_limit_of_instructions(racetrap, save):
    program = ThreadProgram(2)
    program.store(0, 0x1000, instructions=4_000_000_000)
    path = save(program)
    done = racetrap("check", path)
    assert done.exit_code == 2
    assert "more than the limit of 1000000000" in done.stderr
    small = ThreadProgram(2)
    small.store(0, 0x1000, instructions=5000)
    path = save(small)  # with three events that begin threads
    assert racetrap("check", path, "--set", "instruction_limit=5002").exit_code == 2
    assert racetrap("check", path, "--set", "instruction_limit=5003").exit_code == 0


@pytest.mark.parametrize("options", [(), ("--exact",)])
def test_reports_and_baseline(racetrap, racy, tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    files = ("o.html", "o.sarif", "o.xml", "o.github", "known.toml")
    result = racetrap("check", racy, *options, *(word for file in files for word in ("-o", file)))
    assert result.exit_code == 1
    assert (
        "::error file=bank.c,line=20,title=RT201::load races with store"
        in (tmp_path / "o.github").read_text()
    )
    assert len(json.loads((tmp_path / "o.sarif").read_text())["runs"][0]["results"]) == 2
    assert 'failures="1"' in (tmp_path / "o.xml").read_text()
    page = (tmp_path / "o.html").read_text()
    assert page.count(" data-place=") == page.count('class="missing-text">not ordered<') == 2
    known = (tmp_path / "known.toml").read_text()
    first = known.partition("\n\n")[0]
    (tmp_path / "known.toml").write_text(first)
    result = racetrap("check", racy, *options, "--baseline", "known.toml", "--json", "-")
    assert result.exit_code == 1
    assert "Known: 1 pair of source lines of the baseline, seen 3 times." in result.stderr
    assert json.loads(result.stdout)["static"] == 1
    (tmp_path / "known.toml").write_text(known)
    result = racetrap("check", racy, *options, "--baseline", "known.toml")
    assert (result.exit_code, "race: " in result.stdout) == (0, False)


@pytest.mark.parametrize("threads", [8, 9, 64, 65, 128])
def test_the_machine_has_as_many_threads_as_the_trace(racetrap, save, threads):
    program = ThreadProgram(threads)
    program.store(0, 0x1000, pc=0x40)
    program.store(threads - 1, 0x1000, pc=0x48)
    path = save(program)
    result, data = checked(racetrap, path)
    assert (result.exit_code, len(data["races"])) == (1, 1)
    parameters = data["parameters"]
    assert parameters["threads"] == threads
    assert parameters["cores"] * parameters["contexts"] >= threads
    assert parameters["cores"] <= 64


def test_a_machine_that_was_asked_for_is_not_widened(racetrap, save):
    path = save(ThreadProgram(9))
    for options in (("--detector", "sigrace"), ("--set", "threads=8"), ("--set", "cores=8")):
        result = racetrap("check", path, *options)
        assert result.exit_code == 2
        assert "threads, but" in result.stderr


def test_more_threads_than_any_machine_has(racetrap, save):
    result = racetrap("check", save(ThreadProgram(129)))
    assert result.exit_code == 2
    assert (
        "Trace has 129 threads, but this detector has at most 128: check with --exact"
        in result.stderr
    )
