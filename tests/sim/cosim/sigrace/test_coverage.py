"""Functional coverage model of SigRace: what counts as a hit of each bin."""

import pytest

from racetrap.generators.presets import find_preset
from racetrap.golden_model.sigrace.core_unit import CoreUnit
from racetrap.golden_model.sigrace.environment import Remap
from racetrap.golden_model.sigrace.packets import CoreEvent, CoreOp, RdmStep, RdmStepKind
from racetrap.sim.cosim.sigrace.coverage import Coverage
from racetrap.sim.cosim.sigrace.coverage_bins import BINS, UNREACHABLE

_PARAMS = find_preset("sigrace-tiny").params
_PAGE = 1 << _PARAMS.lsb_bits


@pytest.fixture
def coverage():
    coverage = Coverage(_PARAMS)
    coverage.counts.clear()
    return coverage


@pytest.fixture
def take(coverage):
    """Function that lets a core unit take events, with the coverage watching."""
    unit = CoreUnit(_PARAMS)

    def taken(*events):
        for event in events:
            step = unit.step(event)
            for block in unit.blocks:
                coverage.block(block)
            unit.blocks.clear()
            coverage.core_step(unit, step)

    taken(CoreEvent(CoreOp.COLLECT_ON))
    return taken


def _compare(position=0, relation=0, **fields):
    return RdmStep(
        RdmStepKind.COMPARE, 0, 0, 0, 0, 1, other=1, position=position, relation=relation, **fields
    )


_PUSH = RdmStep(RdmStepKind.PUSH, 0, 0, 0, 0, 1)


def test_full_set_is_told_apart_by_the_granule_that_has_no_place(coverage, take):
    take(*(CoreEvent(0, data=number * _PAGE, size=4) for number in range(_PARAMS.usb_limit + 1)))
    assert coverage.counts["block.full.first_granule"] == 1
    assert coverage.counts["block.full.mid_access"] == 0
    take(*(CoreEvent(0, data=number * _PAGE, size=4) for number in range(_PARAMS.usb_limit - 1)))
    take(CoreEvent(0, data=(_PARAMS.usb_limit + 1) * _PAGE - 4, size=8))
    assert coverage.counts["block.full.mid_access"] == 1
    assert coverage.counts["block.full.sent"] == coverage.counts["block.usb_limit"] == 2


def test_limit_is_reached_or_passed(coverage, take):
    most = _PARAMS.block_instructions
    take(CoreEvent(CoreOp.INSTRUCTIONS, instructions=most))
    assert coverage.counts["block.limit.reached"] == coverage.counts["block.limit.empty"] == 1
    take(CoreEvent(CoreOp.STORE, data=1, size=1, instructions=most + 1))
    assert coverage.counts["block.limit.passed"] == coverage.counts["block.limit.sent"] == 1
    assert coverage.counts["block.writes"] == 1


def test_saturation_by_sync_by_write_and_after_it(coverage, take):
    most = _PARAMS.max_counter
    take(CoreEvent(CoreOp.TS_WRITE, data=most - 2), *[CoreEvent(CoreOp.SYNC_REACHED)] * 3)
    names = ("write", "increment", "saturates_by_sync", "stays_saturated")
    assert [coverage.counts[f"timestamp.{name}"] for name in names] == [1, 1, 1, 1]
    take(CoreEvent(CoreOp.TS_WRITE, data=most, index=1))
    assert coverage.counts["timestamp.saturates_by_write"] == 1


def test_queues_are_counted_before_the_push(coverage):
    depth = _PARAMS.history_depth
    coverage.message([_PUSH._replace(lost=0b100)], [depth, 0, depth])
    for name in ("queue.overflow", "queue.empty", "queue.full", "queue.lost.one", "push.limit"):
        assert coverage.counts[name] == 1, name


def test_comparisons_by_relation_place_and_conflict(coverage):
    steps = [_compare(0, 2, conflict=3), _compare(1, 1), _compare(2, 0), _PUSH]
    coverage.message(steps, [0, 3, 0])
    for name in (
        "relation.unordered.newest", "relation.follows.middle", "relation.precedes.oldest",
        "conflict.read_write+write_read",
    ):  # fmt: skip
        assert coverage.counts[name] == 1, name


def test_remaps_with_messages_under_way_and_threads_that_move(coverage):
    for remap, under_way in ((Remap(0, 0, 1), 0), (Remap(0, 0, None), 2), (Remap(1, 0, 1), 0)):
        coverage.remap(remap, under_way)
    assert coverage.counts["remap.under_way"] == coverage.counts["remap.thread_moves"] == 1
    assert coverage.counts["remap.turns_taken"] == 0
    coverage.remap(Remap(0, 0, 2), 0)
    assert coverage.counts["remap.turns_taken"] == 1


def test_unknown_bins_are_refused(coverage):
    with pytest.raises(KeyError, match=r"Unknown coverage bin 'no.such.bin'"):
        coverage.hit("no.such.bin")


def test_only_known_bins_have_reasons():
    assert UNREACHABLE.keys() <= BINS.keys()
