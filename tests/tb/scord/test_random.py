"""Random traffic on several configurations: every step, report, counter and entry compared."""

import pytest

from tests.support.campaign import later_but
from tests.support.gpu.memory_plans import fast_memory, hard_memory
from tests.support.scord.plans import TWO_BANKS, random_plan

#: Sizes of each kind at, below and above powers of two, and every kind of metadata memory.
_CONFIGURATIONS = {
    "tiny": {},
    "two-banks": TWO_BANKS,
    "one-of-all": {
        "sm_count": 1, "blocks_per_sm": 1, "warps_per_sm": 1, "lock_table_depth": 1, "ratio": 1,
    },
    "odd": {"sm_count": 3, "blocks_per_sm": 3, "warps_per_sm": 9, "lock_table_depth": 5},
    "8-byte-nocache": {"granularity": 8, "ratio": 1, "outstanding": 4},
    "16-byte-four-banks": {"granularity": 16, "ratio": 2, "banks": 4, "sm_count": 5},
    "local-two-banks": {"local_bytes": 4096, "banks": 2, "ratio": 16},
    "regions-and-buffers": {
        "regions": 3, "banks": 3, "access_buffer_depth": 3, "access_policy": "drop",
    },
    "narrow": {"address_bits": 32, "pc_bits": 16, "fence_id_bits": 2, "barrier_id_bits": 2},
}  # fmt: skip
#: In `make campaign`: a build each, and the fast co-simulation draws such sizes as well, and has
#: access buffers and tables of regions in `make test`.
_LATER = {
    "tiny", "regions-and-buffers", "one-of-all", "odd", "8-byte-nocache", "16-byte-four-banks",
    "local-two-banks", "narrow",
}  # fmt: skip


# Fast memory has random traffic in `make test` with the planted bugs.
@pytest.mark.parametrize(
    "memory",
    [pytest.param(fast_memory, marks=pytest.mark.campaign), hard_memory],
    ids=["fast", "hard"],
)
@pytest.mark.parametrize(
    "name",
    later_but(lambda name: name not in _LATER, _CONFIGURATIONS),
)
def test_random_traffic(model, testbench, name, memory):
    built = model("scord-tiny", **_CONFIGURATIONS[name])
    plan = random_plan(built.params, ["mixed", "streaming"], 300, memory())
    result = testbench(built, "random_tests", plan)
    assert [case.failure for case in result.cases] == [None]
    compared = [note["compared"] for note in result.notes if "launch" in note]
    assert len(compared) == 2
    assert min(compared) > 100


@pytest.mark.parametrize(
    "name", ["two-banks", pytest.param("16-byte-four-banks", marks=pytest.mark.campaign)]
)
@pytest.mark.parametrize("size_log2", [pytest.param(24, marks=pytest.mark.campaign), 34])
def test_region_too_large_to_be_swept(model, testbench, name, size_log2):
    built = model("scord-tiny", **_CONFIGURATIONS[name])
    plan = random_plan(built.params, ["mixed", "streaming"], 100, hard_memory(), size_log2)
    result = testbench(built, "random_tests", plan)
    assert [case.failure for case in result.cases] == [None]
    for note in result.notes:
        if "launch" in note:
            assert note["cycles"] < 20_000, note


# HiRace has the same memory in `make test`.
@pytest.mark.campaign
@pytest.mark.parametrize(
    "changes",
    [TWO_BANKS, {"banks": 4, "words_per_cycle": 2}],
    ids=["words", "segments"],
)
def test_third_party_memory_agrees(model, testbench, changes):
    built = model("scord-tiny", **changes)
    plan = random_plan(built.params, ["mixed", "atomics"], 400, {"axi_ram": True})
    result = testbench(built, "random_tests", plan)
    assert [case.failure for case in result.cases] == [None]


def test_same_seed_gives_the_same_run(model, testbench):
    built = model("scord-tiny", **TWO_BANKS)
    plan = random_plan(built.params, ["mixed"], 40, hard_memory())
    first, second = (testbench(built, "random_tests", plan).notes for _ in range(2))
    for notes in (first, second):
        for note in notes:
            note.pop("seconds", None)
    assert first == second
