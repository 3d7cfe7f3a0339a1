"""`racetrap check`: races of the oracle, and reported, missed and unconfirmed ones beside them."""

import json

from racetrap.commands.shared.terminal import ExitStatus
from tests.support import REPOSITORY

_EXAMPLES = REPOSITORY / "docs" / "examples"
_ACT = (
    "{kind} sm={sm} slot={sm} warp={warp} pc={pc:#x} size=4 {words} lanes 0:{address:#x}{value}\n"
)
DATA, FLAG = 0x10004, 0x10084
THREADS = REPOSITORY / "tests" / "golden_model" / "trace" / "files" / "threads.txt"


def access(kind, sm, warp, pc, address=DATA, words="strong device", value=""):
    return _ACT.format(
        kind=kind, sm=sm, warp=warp, pc=pc, address=address, words=words, value=value
    )


def fence(sm, warp, pc, scope):
    return f"fence sm={sm} slot={sm} warp={warp} pc={pc:#x} {scope}\n"


def flag(sm, warp, pc, value):
    return access("atomic", sm, warp, pc, FLAG, "device exch", f"={value}")


def checked(racetrap, path, *options):
    result = racetrap("check", path, "--detector", "scord", "--json", "-", *options)
    return result, json.loads(result.stdout)


def test_rule_of_the_oracle(racetrap, write):
    """Volatile accesses need no order by PTX's letter; acquire operations count in both."""
    body = (
        access("store", 0, 1, 0x40) + access("load", 1, 2, 0x48)
        + access("store", 0, 1, 0x4C, 0x10100, "", "=1")
        + access("store", 0, 1, 0x50, FLAG, "strong device release", "=1")
        + access("load", 1, 2, 0x54, FLAG, "strong device acquire")
        + access("load", 1, 2, 0x58, 0x10100, "")
    )  # fmt: skip
    path = write(body)
    found = {}
    for rule in ("scoped", "causality", "ptx"):
        result = racetrap("check", path, f"--oracle={rule}", "--notes", "--json", "-")
        document = json.loads(result.stdout)
        assert document["rule"] == rule
        oracle = document["oracle"]
        lists = (oracle["races"], oracle["unordered_strong"])
        found[rule] = [[race["later"]["pc"] for race in each] for each in lists]
    assert found["causality"] == [[0x48], []]
    assert found["ptx"] == [[], [0x48]]
    assert 0x58 in found["scoped"][0]
    assert "pc 0x48: advice: unordered, but no race: load and store at pc 0x40: " in result.stderr
    assert result.exit_code == 0


def test_rule_of_barracuda(racetrap, write):
    """One device fence of two orders a flag; the narrower side's scope counts by PTX's rules."""
    found = {}
    for reader in ("device", "block"):
        path = write(
            access("store", 0, 1, 0x40) + fence(0, 1, 0x44, "device")
            + access("store", 0, 1, 0x48, FLAG, value="=1") + access("load", 1, 2, 0x4C, FLAG)
            + fence(1, 2, 0x50, reader) + access("load", 1, 2, 0x54)
        )  # fmt: skip
        for rule in ("barracuda", "causality"):
            result = racetrap("check", path, f"--oracle={rule}", "--json", "-")
            races = json.loads(result.stdout)["oracle"]["races"]
            found[reader, rule] = [race["later"]["pc"] for race in races]
    assert found["device", "barracuda"] == found["block", "barracuda"] == []
    assert found["device", "causality"] == []
    assert found["block", "causality"] == [0x4C, 0x54]


def test_threads_have_one_rule(racetrap, tmp_path):
    path = tmp_path / "threads.txt"
    path.write_text(THREADS.read_text())
    result = racetrap("check", path, "--oracle=ptx")
    assert result.exit_code == ExitStatus.BAD_INPUT
    assert (
        " --oracle is for a trace of a GPU or a kernel, not for a trace of threads" in result.stderr
    )


def test_reported(racetrap, write):
    path = write(access("store", 0, 1, 0x40) + access("load", 1, 2, 0x48))
    result, document = checked(racetrap, path)
    (race,) = document["oracle"]["races"]
    assert (race["outcome"], race["missed"], race["class"]) == ("reported", False, "inter-block")
    assert (race["earlier"]["pc"], race["later"]["pc"]) == (0x40, 0x48)
    assert race["earlier"]["grid_block"] == 40
    assert document["detector"]["not_confirmed"] == []
    assert "Detector scord: 1 of 1 distinct races reported, 0 missed, " in result.stderr


def test_missed(racetrap, write):
    """The reader in the block becomes the owner of the entry; the reader outside is not seen."""
    body = (
        access("store", 0, 0, 0x40) + fence(0, 0, 0x44, "block") + flag(0, 0, 0x48, 1)
        + flag(0, 1, 0x4C, 0) + fence(0, 1, 0x4E, "block") + access("load", 0, 1, 0x50)
        + access("load", 1, 2, 0x58)
    )  # fmt: skip
    result, document = checked(racetrap, write(body))
    (race,) = document["oracle"]["races"]
    assert (race["outcome"], race["missed"]) == ("handed-over entry", True)
    assert result.exit_code == 1
    assert "0 of 1 distinct races reported, 1 missed, 0 out of scope; 0 rep" in result.stderr
    assert "detector: 1 handed-over entry" in result.stderr
    assert document["detector"]["missed"] == 1


def test_not_confirmed(racetrap, write):
    """Synchronisation handed on by another warp: the entry knows only the writer."""
    body = (
        access("store", 0, 0, 0x40) + fence(0, 0, 0x44, "block") + flag(0, 0, 0x48, 1)
        + flag(0, 1, 0x4C, 0) + fence(0, 1, 0x50, "device") + flag(0, 1, 0x54, 2)
        + flag(1, 2, 0x58, 0) + fence(1, 2, 0x5A, "device") + access("load", 1, 2, 0x5C)
    )  # fmt: skip
    result, document = checked(racetrap, write(body))
    assert document["oracle"]["races"] == []
    strays = [{"place": "pc 0x5c", "kind": "missing-device-fence"}]
    assert document["detector"]["not_confirmed"] == strays
    assert "pc 0x5c: not confirmed: detector scord reports missing-device-fence" in result.stderr
    assert result.exit_code == 0


def test_what_the_detector_does_not_look_for(racetrap, write):
    body = (
        access("store", 0, 0, 0x40, 0x0, "shared", "=1")
        + access("store", 0, 1, 0x44, 0x0, "shared", "=2")
        + access("store", 0, 0, 0x48, 0x8_0000) + access("load", 1, 2, 0x4C, 0x8_0000)
        + "store sm=0 slot=0 warp=0 pc=0x50 size=4 lanes 0:0x10100=1 1:0x10100=2\n"
    )  # fmt: skip
    result, document = checked(racetrap, write(body))
    races = document["oracle"]["races"]
    assert [race["outcome"] for race in races] == [
        "in shared memory", "outside the monitored region", "inside a warp",
    ]  # fmt: skip
    for race in races:
        assert not race["missed"], race
    assert "0 of 3 distinct races reported, 0 missed, 3 out of scope" in result.stderr


def test_only_lockstep_orders_the_lanes_of_a_warp(racetrap, write):
    """Lane 0 stores, lane 1 loads: from Volta on they need a barrier of the warp."""
    store = "store sm=0 slot=0 warp=0 pc=0x40 size=4 lanes 0:0x10100=1\n"
    barrier = "warp_barrier sm=0 slot=0 warp=0 pc=0x44{}\n"
    load = "load sm=0 slot=0 warp=0 pc=0x48 size=4 lanes 1:0x10100\n"
    for between, count in (
        ("", 1), (barrier.format(""), 0), (barrier.format(" mask=0x3"), 0),
        (barrier.format(" mask=0x1"), 1),
    ):  # fmt: skip
        result, document = checked(racetrap, write(store + between + load), "--notes")
        oracle = document["oracle"]
        assert (result.exit_code, oracle["races"]) == (0, [])
        assert [pair["later"]["pc"] for pair in oracle["ordered_by_lockstep"]] == [0x48] * count
        begin = "pc 0x48: advice: only lockstep orders these: load and "
        assert result.stderr.count(begin) == count


def test_imposed_by_the_method(racetrap, write):
    """Weak data, ordered by fences and a flag: the method asks for strong accesses."""
    body = (
        access("store", 0, 0, 0x40, words="", value="=1") + fence(0, 0, 0x44, "device")
        + flag(0, 0, 0x48, 1) + flag(1, 2, 0x58, 0) + fence(1, 2, 0x5A, "device")
        + access("load", 1, 2, 0x5C, words="")
    )  # fmt: skip
    result, document = checked(racetrap, write(body))
    assert (document["oracle"]["races"], document["detector"]["not_confirmed"]) == ([], [])
    assert document["detector"]["imposed_by_method"] == [{"place": "pc 0x5c", "kind": "not-strong"}]
    assert "0 reports not confirmed, 1 imposed by the method." in result.stderr
    assert result.exit_code == 0


def test_the_cause_of_a_report_that_the_method_imposes(racetrap, write):
    """A polled flag: all accesses are strong and fenced, and ScoRD misses the acquire."""
    body = (
        access("store", 0, 0, 0x40) + fence(0, 0, 0x44, "device")
        + access("store", 0, 0, 0x48, FLAG, value="=1")
        + access("load", 1, 2, 0x58, FLAG) + fence(1, 2, 0x5A, "device")
        + access("load", 1, 2, 0x5C)
    )  # fmt: skip
    result, document = checked(racetrap, write(body))
    imposed = document["detector"]["imposed_by_method"]
    assert imposed == [{"place": "pc 0x58", "kind": "missing-device-fence"}]
    (line,) = [line for line in result.stderr.splitlines() if "0x58: imposed by " in line]
    assert "no acquire" in line
    assert "strong" not in line


def test_reported_in_another_instance(racetrap, write):
    """The first instance is handed over to a reader in the block; a second one is not."""
    other = DATA + 0x40
    body = (
        access("store", 0, 0, 0x40) + fence(0, 0, 0x44, "block") + flag(0, 0, 0x48, 1)
        + flag(0, 1, 0x4C, 0) + fence(0, 1, 0x4E, "block") + access("load", 0, 1, 0x50)
        + access("load", 1, 2, 0x58)
        + access("store", 0, 0, 0x40, other) + access("load", 1, 2, 0x58, other)
    )  # fmt: skip
    result, document = checked(racetrap, write(body))
    (race,) = document["oracle"]["races"]
    assert (race["outcome"], race["missed"]) == ("reported in another instance", False)
    assert result.exit_code == 1


def test_races_that_weak_memory_exposes(racetrap):
    kernel = (_EXAMPLES / "handover.ptx", "--launch", _EXAMPLES / "handover.toml")
    result = racetrap(
        "check", *kernel, "--memory", "views", "--budget", "5", "--notes", "--json", "-"
    )
    document = json.loads(result.stdout)
    ((race,),) = (finding["pairs"] for finding in document["findings"])
    (strong,) = document["unordered_strong"]
    assert (race["exposure"]["failure"], race["exposure"]["alone"]) == ("wrong result", True)
    assert strong["exposure"] == {
        "memory": "views", "runs": 5, "seed": 5, "failure": None, "sentence": "", "alone": True,
    }  # fmt: skip
    assert document["exposed_besides"] == []
    assert "  exposed by views, seed 1: wrong result: Buffer 2: " in result.stderr
    assert "  not exposed by views in 5 runs, seeds 1 to 5" in result.stderr
    assert "Exposed by views: 1 of 2 unordered pairs, 0 only under weak memory." in result.stderr
    document = json.loads(racetrap("check", *kernel, "--json", "-").stdout)
    assert document["findings"][0]["pairs"][0]["exposure"] is None


def test_exposure_needs_a_kernel(racetrap, write):
    path = write(access("store", 0, 1, 0x40))
    result = racetrap("check", path, "--memory", "views")
    assert result.exit_code == ExitStatus.BAD_INPUT
    assert "Option --memory is for a kernel, not for a trace of a GPU" in result.stderr
    result = racetrap("check", path, "--budget", "3")
    assert " --budget is for a kernel, not for a trace of a GPU" in result.stderr
