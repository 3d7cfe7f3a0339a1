"""Adapter of Vortex: equal to the plain decoder on random words; what it does not support."""

import pytest

from racetrap.golden_model.vortex.adapter import Adapter, AdapterError, Start
from racetrap.golden_model.vortex.issue_decoder import decode, may_pass, order_key
from tests.support.vortex.plain_decoder import expected
from tests.support.vortex.random_issue import RandomCore, word_of

_FIELDS = (
    "kind", "slot", "warp", "pc", "scope", "strong", "op", "size", "number", "warps", "lanes",
    "marks", "addresses",
)  # fmt: skip


def _shown(instruction):
    return {name: value for name in _FIELDS if (value := getattr(instruction, name))}


def _compare(seed, count):
    core, adapter, living = RandomCore(seed), Adapter(), {}
    for number in range(count):
        kind, item = core.item()
        if kind == "start":
            warp, slot, _, warps, _ = item[0]
            given = [one for each in item for one in adapter.start(Start(*each))]
            mask = sum(1 << warp + rank for rank in range(warps))
            due = [{"kind": 6, "slot": slot, "warp": warp, "warps": mask, "lanes": 15}]
            living[slot] = warps
        else:
            issued = decode(item)
            given = [] if issued is None else adapter.step(issued)
            due = expected(item) or []
            if due and due[0]["kind"] == 12:
                slot = due[0]["slot"]
                living[slot] -= 1
                if not living[slot]:
                    due = [*due, {"kind": 7, "slot": slot}]
        due = [{name: value for name, value in each.items() if value} for each in due]
        assert [_shown(each) for each in given] == due, f"item {number} of seed {seed}"
    assert adapter.error == AdapterError.NONE
    return core.bins


def test_random_words_are_as_the_plain_decoder_says():
    bins = _compare(1, 2500)
    due = [
        *(f"{count} warps" for count in (1, 2, 3, 4)), *(f"kind {kind}" for kind in range(6)),
        "kind 12", "nothing", "several windows", "packed", "unequal stores",
        *(f"atomic {op} scope {scope}" for op in (0, 1, 2) for scope in (0, 1)),
    ]  # fmt: skip
    assert {name for name in due if not bins[name]} == set()


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(4))
def test_many_random_words_are_as_the_plain_decoder_says(seed):
    _compare(f"many {seed}", 250_000)


_UNSUPPORTED = {
    "warps that a warp spawns": {"unit": 2, "operation": 1},
    "wait without arrival": {"unit": 2, "operation": 4, "offset": 0},
    "barrier of several cores": {"unit": 2, "operation": 4, "offset": 2, "rs1": 1 << 127},
    "barrier that counts bytes": {"unit": 2, "operation": 4, "offset": 1, "rs2": 1 << 127},
    "several lanes take a lock": {
        "unit": 1, "operation": 2, "rs1": (0xD << 28 | 0xD << 124), "rs2": 0, "offset": 0
    },
}  # fmt: skip


@pytest.mark.parametrize("name", _UNSUPPORTED)
def test_what_is_not_supported_is_an_error(name):
    adapter, lanes = Adapter(), 9
    adapter.step(decode(word_of(0, lanes=lanes, pc=0x80000044, **_UNSUPPORTED[name])))
    assert (adapter.error, adapter.error_pc) == (AdapterError.UNSUPPORTED, 0x80000044)
    assert isinstance(expected(word_of(0, lanes=lanes, **_UNSUPPORTED[name])), str)


@pytest.mark.parametrize("warps", [(0, 2), (3, 0)])
def test_warps_of_a_block_must_be_consecutive(warps):
    adapter = Adapter()
    for rank, warp in enumerate(warps):
        adapter.start(Start(warp, 0, rank, 2, 15))
    assert adapter.error == AdapterError.SCATTERED


def test_an_instruction_passes_with_the_last_one_that_has_been_taken():
    numbers = [0xFF_FFFE, 0xFF_FFFF, 0x1 << 24, 0x1 << 24 | 1]
    for last, taken in enumerate(numbers):
        passed = [may_pass(order_key(taken), 3 << 32 | each) for each in numbers]
        assert passed == [number <= last for number in range(len(numbers))]


def test_an_element_of_a_packed_load_does_not_pass_before_it_is_taken():
    first, second, later = (repeat << 24 | 5 for repeat in (0, 1, 2))
    assert may_pass(order_key(second), first)
    assert not may_pass(order_key(second), later)
