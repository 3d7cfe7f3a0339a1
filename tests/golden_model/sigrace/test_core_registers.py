"""Core unit: its registers, saturation, and what traps."""

from dataclasses import replace

import pytest

from racetrap.golden_model.sigrace.packets import CoreEvent, CoreOp, Mode, Trap
from racetrap.golden_model.sigrace.params import Form, SigraceParams
from racetrap.golden_model.sigrace.signature import signature_hash
from tests.support.sigrace.configurations import SMALL
from tests.support.sigrace.core_events import core_unit, load, store

_HASHED = replace(SMALL, form=Form.HASHED)


def test_sequence_numbers_wrap_and_outlive_reset():
    unit = core_unit(replace(SMALL, sequence_bits=2))
    for number in range(6):
        unit.step(CoreEvent(CoreOp.COLLECT_ON))
        unit.step(load(4))
        unit.step(CoreEvent(CoreOp.SWITCH_OUT))
        assert unit.blocks[-1].sequence == number % 4
        unit.step(CoreEvent(CoreOp.RESET))


@pytest.mark.parametrize("threads", [1, 3, 4, 5])
def test_indices_out_of_range_are_ignored(threads):
    unit = core_unit(replace(SMALL, threads=threads))
    for op in (CoreOp.TS_WRITE, CoreOp.TRT_WRITE, CoreOp.SWITCH_IN):
        unit.step(CoreEvent(op, data=9, index=threads))
    assert (unit.timestamp, unit.trt, unit.thread) == ([0] * threads, [0] * threads, 0)
    for op in (CoreOp.TS_WRITE, CoreOp.TRT_WRITE, CoreOp.SWITCH_IN):
        step = unit.step(CoreEvent(op, data=9, index=threads - 1))
    assert (unit.timestamp[-1], unit.trt[-1], unit.thread) == (9, 9, threads - 1)
    assert step.own == 9
    unit.step(CoreEvent(CoreOp.CONFLICT_WRITE, data=1, index=SMALL.signature_words))
    assert unit.conflict_signature == 0


def test_counters_saturate():
    unit = core_unit(SMALL)
    unit.step(CoreEvent(CoreOp.TS_WRITE, data=61))
    steps = [unit.step(CoreEvent(CoreOp.SYNC_REACHED)) for _ in range(3)]
    assert [(step.own, step.saturated) for step in steps] == [(62, 0), (63, 1), (63, 1)]
    assert unit.step(CoreEvent(CoreOp.TS_WRITE, data=0)).saturated
    assert not unit.step(CoreEvent(CoreOp.RESET)).saturated
    assert unit.step(CoreEvent(CoreOp.TS_WRITE, data=63, index=2)).saturated


def test_reset_discards_the_block():
    unit = core_unit(SMALL)
    unit.step(load(4))
    unit.step(CoreEvent(CoreOp.SWITCH_IN, index=2))
    unit.step(CoreEvent(CoreOp.MODE, data=7))
    step = unit.step(CoreEvent(CoreOp.RESET))
    assert (step.cause, step.sent, step.thread, step.collecting) == (0, 0, 0, 0)
    assert (unit.mode, unit.is_conflicting) == (0, False)
    unit.step(CoreEvent(CoreOp.SYNC_REACHED))
    assert not unit.blocks


def _write_conflict(unit, params, signature):
    for word in range(params.signature_words):
        data = signature >> 32 * word & 0xFFFFFFFF
        unit.step(CoreEvent(CoreOp.CONFLICT_WRITE, data=data, index=word))


@pytest.mark.parametrize("params", [SMALL, _HASHED, SigraceParams()])
def test_analysis_traps_members_of_the_conflict_signature(params):
    unit = core_unit(params)
    _write_conflict(unit, params, signature_hash(params).granule(0x104))
    assert unit.conflict_signature == signature_hash(params).granule(0x104)
    assert unit.step(load(0x104)).traps == 0
    unit.step(CoreEvent(CoreOp.MODE, data=Mode.ANALYSIS | 4))
    assert unit.step(store(0x103, size=3)).traps == 1
    assert unit.step(load(0x106, size=1)).traps == 1
    unit.step(CoreEvent(CoreOp.MODE, data=Mode.REEXECUTION | 4))
    assert unit.step(load(0x104)).traps == 0
    unit.step(CoreEvent(CoreOp.MODE, data=Mode.ANALYSIS))
    assert unit.step(load(0x104)).traps == 0
    assert unit.traps == [Trap(0x104, 0x44, 1), Trap(0x104, 0x40, 0)]


def test_no_traps_while_off():
    unit = core_unit(SMALL, collecting=False)
    _write_conflict(unit, SMALL, (1 << SMALL.signature_bits) - 1)
    unit.step(CoreEvent(CoreOp.MODE, data=Mode.ANALYSIS | 4))
    assert unit.step(load(0x104)).traps == 0


def test_bits_beyond_the_conflict_signature_are_ignored():
    params = replace(SMALL, one_hot_lsb=True, lsb_bits=6, filters=2, filter_bits=32)
    assert params.signature_bits == 48
    unit = core_unit(params)
    _write_conflict(unit, params, (1 << 64) - 1)
    assert unit.conflict_signature == (1 << 48) - 1
