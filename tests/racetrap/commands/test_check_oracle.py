"""`racetrap check --oracle`: reported, missed and unconfirmed races side by side."""

import json

from racetrap.commands.shared.terminal import ExitStatus
from tests.support import REPOSITORY

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


def checked(racetrap, path):
    result = racetrap("check", path, "--oracle", "--json", "-")
    return result, json.loads(result.stdout)["oracle"]


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
        result = racetrap("check", path, f"--oracle={rule}", "--json", "-")
        oracle = json.loads(result.stdout)["oracle"]
        assert oracle["rule"] == rule
        lists = (oracle["races"], oracle["unordered_strong"])
        found[rule] = [[race["later"]["pc"] for race in each] for each in lists]
    assert found["causality"] == [[0x48], []]
    assert found["ptx"] == [[], [0x48]]
    assert 0x58 in found["scoped"][0]
    assert "Unordered, but no race: global address 0x10004" in result.stderr


def test_threads_have_one_rule(racetrap, tmp_path):
    path = tmp_path / "threads.txt"
    path.write_text(THREADS.read_text())
    result = racetrap("check", path, "--oracle=ptx")
    assert result.exit_code == ExitStatus.BAD_INPUT
    assert "must be left out but for GPUs, not ptx" in result.stderr


def test_reported(racetrap, write):
    path = write(access("store", 0, 1, 0x40) + access("load", 1, 2, 0x48))
    result, oracle = checked(racetrap, path)
    (race,) = oracle["races"]
    assert (race["outcome"], race["missed"], race["class"]) == ("reported", False, "inter-block")
    assert (race["earlier"]["pc"], race["later"]["pc"]) == (0x40, 0x48)
    assert race["earlier"]["grid_block"] == 40
    assert oracle["unconfirmed"] == []
    assert "Oracle: 1 different races in this run; 0 of them missed" in result.stderr


def test_missed(racetrap, write):
    """The reader in the block becomes the owner of the entry; the reader outside is not seen."""
    body = (
        access("store", 0, 0, 0x40) + fence(0, 0, 0x44, "block") + flag(0, 0, 0x48, 1)
        + flag(0, 1, 0x4C, 0) + fence(0, 1, 0x4E, "block") + access("load", 0, 1, 0x50)
        + access("load", 1, 2, 0x58)
    )  # fmt: skip
    result, oracle = checked(racetrap, write(body))
    (race,) = oracle["races"]
    assert (race["outcome"], race["missed"]) == ("handed-over entry", True)
    assert result.exit_code == 0
    assert "1 of them missed, 0 reports not confirmed" in result.stderr


def test_not_confirmed(racetrap, write):
    """Synchronisation handed on by another warp: the entry knows only the writer."""
    body = (
        access("store", 0, 0, 0x40) + fence(0, 0, 0x44, "block") + flag(0, 0, 0x48, 1)
        + flag(0, 1, 0x4C, 0) + fence(0, 1, 0x50, "device") + flag(0, 1, 0x54, 2)
        + flag(1, 2, 0x58, 0) + fence(1, 2, 0x5A, "device") + access("load", 1, 2, 0x5C)
    )  # fmt: skip
    result, oracle = checked(racetrap, write(body))
    assert oracle["races"] == []
    assert oracle["unconfirmed"] == [{"pc": 0x5C, "kind": "missing-device-fence"}]
    assert "Not confirmed: missing-device-fence at pc 0x5c" in result.stderr
    assert result.exit_code == 1


def test_what_the_detector_does_not_look_for(racetrap, write):
    body = (
        access("store", 0, 0, 0x40, 0x0, "shared", "=1")
        + access("store", 0, 1, 0x44, 0x0, "shared", "=2")
        + access("store", 0, 0, 0x48, 0x8_0000) + access("load", 1, 2, 0x4C, 0x8_0000)
        + "store sm=0 slot=0 warp=0 pc=0x50 size=4 lanes 0:0x10100=1 1:0x10100=2\n"
    )  # fmt: skip
    _, oracle = checked(racetrap, write(body))
    assert [race["outcome"] for race in oracle["races"]] == [
        "in shared memory", "outside the monitored region", "inside a warp",
    ]  # fmt: skip
    assert not any(race["missed"] for race in oracle["races"])


def test_only_lockstep_orders_the_lanes_of_a_warp(racetrap, write):
    """Lane 0 stores, lane 1 loads: from Volta on they need a barrier of the warp."""
    store = "store sm=0 slot=0 warp=0 pc=0x40 size=4 lanes 0:0x10100=1\n"
    barrier = "warp_barrier sm=0 slot=0 warp=0 pc=0x44{}\n"
    load = "load sm=0 slot=0 warp=0 pc=0x48 size=4 lanes 1:0x10100\n"
    for between, count in (
        ("", 1), (barrier.format(""), 0), (barrier.format(" mask=0x3"), 0),
        (barrier.format(" mask=0x1"), 1),
    ):  # fmt: skip
        result, oracle = checked(racetrap, write(store + between + load))
        assert oracle["races"] == []
        assert [pair["later"]["pc"] for pair in oracle["ordered_by_lockstep"]] == [0x48] * count
        assert ("1 pair that only lockstep orders." in result.stderr) == bool(count)


def test_by_decree(racetrap, write):
    """Weak data, ordered by fences and a flag: the method asks for strong accesses."""
    body = (
        access("store", 0, 0, 0x40, words="", value="=1") + fence(0, 0, 0x44, "device")
        + flag(0, 0, 0x48, 1) + flag(1, 2, 0x58, 0) + fence(1, 2, 0x5A, "device")
        + access("load", 1, 2, 0x5C, words="")
    )  # fmt: skip
    result, oracle = checked(racetrap, write(body))
    assert (oracle["races"], oracle["unconfirmed"]) == ([], [])
    assert oracle["by_decree"] == [{"pc": 0x5C, "kind": "not-strong"}]
    assert "0 reports not confirmed, 1 by decree of the method." in result.stderr


def test_reported_in_another_instance(racetrap, write):
    """The first instance is handed over to a reader in the block; a second one is not."""
    other = DATA + 0x40
    body = (
        access("store", 0, 0, 0x40) + fence(0, 0, 0x44, "block") + flag(0, 0, 0x48, 1)
        + flag(0, 1, 0x4C, 0) + fence(0, 1, 0x4E, "block") + access("load", 0, 1, 0x50)
        + access("load", 1, 2, 0x58)
        + access("store", 0, 0, 0x40, other) + access("load", 1, 2, 0x58, other)
    )  # fmt: skip
    result, oracle = checked(racetrap, write(body))
    (race,) = oracle["races"]
    assert (race["outcome"], race["missed"]) == ("reported in another instance", False)
    assert result.exit_code == 1
