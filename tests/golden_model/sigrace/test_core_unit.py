"""Core unit: what is collected, and when blocks end."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from racetrap.golden_model.sigrace.address_set import AddressSet
from racetrap.golden_model.sigrace.packets import Cause, CoreEvent, CoreOp
from racetrap.golden_model.sigrace.params import Form, SigraceParams
from racetrap.golden_model.sigrace.signature import signature_hash, signature_of_granules
from tests.support.sigrace.configurations import SIGNATURES, SMALL, signature_params
from tests.support.sigrace.core_events import core_unit, instructions, load, store

_HASHED = replace(SMALL, form=Form.HASHED)


def _read_granules(params, *granules):
    addresses = AddressSet()
    for granule in granules:
        addresses.insert(params, granule)
    return addresses


@pytest.mark.parametrize(
    ("address", "size", "granules"),
    [
        (0x100, 1, [0x100]),
        (0x103, 1, [0x100]),
        (0x103, 2, [0x100, 0x104]),
        (0x100, 16, [0x100, 0x104, 0x108, 0x10C]),
        (0x101, 16, [0x100, 0x104, 0x108, 0x10C, 0x110]),
        (0xFFFFFFFE, 8, [0xFFFFFFFC, 0, 4]),
    ],
)
def test_an_access_is_collected_by_granules(address, size, granules):
    unit = core_unit(SMALL)
    unit.step(store(address, size))
    unit.step(CoreEvent(CoreOp.SWITCH_OUT))
    (block,) = unit.blocks
    assert block.write == _read_granules(SMALL, *granules)
    assert block.read == AddressSet()
    assert (block.core, block.context, block.cause) == (1, 2, Cause.SWITCH)


@pytest.mark.parametrize("count", [49, 50, 51])
def test_limit_of_instructions(count):
    unit = core_unit(SMALL)
    unit.step(load(0x100, instructions=1))
    step = unit.step(instructions(count - 1))
    ended = count >= 50
    assert (step.sent, step.cause) == ((1, Cause.LIMIT) if ended else (0, Cause.NONE))
    assert step.counter == (0 if ended else count)


def test_the_access_that_reaches_the_limit_is_in_the_block():
    unit = core_unit(SMALL)
    assert unit.step(load(0x100, instructions=50)).sent == 1
    assert unit.blocks[0].read == _read_granules(SMALL, 0x100)


def test_block_of_one_instruction():
    unit = core_unit(replace(SMALL, block_instructions=1))
    assert unit.step(load(0x100, instructions=0)).sent == 0
    assert unit.step(instructions(1)).sent == 1


def test_empty_blocks_end_but_are_not_sent():
    unit = core_unit(SMALL)
    step = unit.step(instructions(60))
    assert (step.cause, step.sent, step.counter) == (Cause.LIMIT, 0, 0)
    step = unit.step(CoreEvent(CoreOp.SYNC_REACHED))
    assert (step.cause, step.sent, step.own) == (Cause.SYNC, 0, 1)
    unit.step(load(0))
    assert unit.step(CoreEvent(CoreOp.SYNC_REACHED)).sent == 1
    assert unit.blocks[0].sequence == 0


def test_only_accesses_and_instructions_end_a_block_by_limit():
    unit = core_unit(SMALL)
    step = unit.step(CoreEvent(CoreOp.TS_WRITE, 3, index=1, instructions=80))
    assert (step.cause, step.counter) == (Cause.NONE, 80)
    assert unit.step(CoreEvent(CoreOp.COLLECT_OFF, instructions=20)).counter == 100
    assert unit.step(instructions(5)).cause == Cause.NONE
    assert unit.step(CoreEvent(CoreOp.COLLECT_ON, instructions=5)).counter == 100
    assert unit.step(instructions(0)).cause == Cause.LIMIT


def test_undefined_ops_are_instructions():
    unit = core_unit(SMALL)
    unit.step(load(0))
    assert unit.step(CoreEvent(15, data=7, size=3, index=1, instructions=50)).sent == 1


def test_counter_does_not_wrap():
    unit = core_unit(SMALL)
    steps = [unit.step(CoreEvent(CoreOp.TRT_WRITE, index=99, instructions=4095)) for _ in range(5)]
    assert [step.counter for step in steps] == [4095, 8190, 8191, 8191, 8191]


def test_sync_sends_the_old_timestamp():
    unit = core_unit(SMALL)
    unit.step(load(0x100))
    step = unit.step(CoreEvent(CoreOp.SYNC_REACHED))
    assert step.own == 1
    assert (unit.blocks[0].timestamp, unit.blocks[0].cause) == ((0, 0, 0), Cause.SYNC)
    assert unit.timestamp == [1, 0, 0]


def test_nothing_is_collected_while_off():
    unit = core_unit(SMALL, collecting=False)
    step = unit.step(store(0x100, instructions=60))
    assert (step.counter, step.cause, step.write_values) == (0, 0, 0)
    unit.step(CoreEvent(CoreOp.SYNC_REACHED))
    assert not unit.blocks


def _far(number):
    """An address whose USB value is ``number``."""
    return number << SMALL.lsb_bits


@pytest.mark.parametrize("values", [3, 4, 5, 8, 9])
def test_a_full_set_ends_the_block(values):
    unit = core_unit(SMALL)
    for number in range(values):
        unit.step(load(_far(number), instructions=0))
        unit.step(store(0, instructions=0))
    assert [block.cause for block in unit.blocks] == [Cause.FULL] * ((values - 1) // 4)
    for number, block in enumerate(unit.blocks):
        assert block.read.usb == list(range(4 * number, 4 * number + 4))
        assert block.write.usb == [0]


def test_known_values_fit_into_a_full_set():
    unit = core_unit(SMALL)
    for number in (0, 1, 2, 3, 0, 3):
        unit.step(load(_far(number) + 4))
    assert not unit.blocks


def test_full_in_the_middle_of_an_access():
    unit = core_unit(SMALL)
    for number in range(4):
        unit.step(load(_far(number), instructions=10))
    # Its first granule fits (the set has that USB value), its second does not.
    step = unit.step(load(_far(4) - 4, size=8, instructions=30))
    assert (step.cause, step.sent, step.counter, step.read_values) == (Cause.FULL, 1, 0, 1)
    assert unit.blocks[0].read.bitmap == 1 | 1 << 255
    unit.step(CoreEvent(CoreOp.SWITCH_OUT))
    assert unit.blocks[1].read == _read_granules(SMALL, _far(4))


def test_full_twice_in_one_access():
    unit = core_unit(replace(SMALL, usb_limit=1))
    unit.step(load(0x1000))
    step = unit.step(load(0x1FFC, size=8, instructions=49))
    assert (step.sent, step.cause) == (2, Cause.FULL)
    assert [block.read.usb for block in unit.blocks] == [[4], [7]]


def test_hashed_sets_are_never_full():
    unit = core_unit(_HASHED)
    granules = [_far(number) for number in range(9)]
    for granule in granules:
        step = unit.step(load(granule))
    assert (step.sent, step.read_values) == (0, 0)
    unit.step(CoreEvent(CoreOp.SWITCH_OUT))
    assert unit.blocks[0].read == signature_of_granules(_HASHED, granules)
    assert unit.blocks[0].write == 0


_CONFIGURATIONS = {name: signature_params(name, Form.HASHED) for name in SIGNATURES}
_CONFIGURATIONS |= {"small": SMALL, "small hashed": _HASHED, "default": SigraceParams()}
_accesses = st.tuples(st.booleans(), st.integers(0, 0xFFFF), st.integers(1, 16), st.integers(0, 30))


@pytest.mark.parametrize("name", _CONFIGURATIONS)
@given(accesses=st.lists(_accesses, max_size=60))
@settings(max_examples=10, deadline=None)
def test_every_granule_is_in_a_block_of_its_kind(name, accesses):
    """The blocks sent, in order, cover the granules in order; nothing else is in them."""
    params = replace(_CONFIGURATIONS[name], block_instructions=50)
    unit = core_unit(params)
    granules = ([], [])
    blocks_of = ([], [])
    for is_write, address, size, count in accesses:
        access = store if is_write else load
        before = len(unit.blocks)
        unit.step(access(address, size, count))
        for number in range(address >> 2, (address + size - 1 >> 2) + 1):
            granules[is_write].append(number << 2)
            blocks_of[is_write].append(range(before, len(unit.blocks) + 1))
    unit.step(CoreEvent(CoreOp.SWITCH_OUT))
    for is_write in (False, True):
        union = 0
        signatures = [
            (block.summary(params).write if is_write else block.summary(params).read)
            for block in unit.blocks
        ]
        for signature in signatures:
            union |= signature
        for granule, places in zip(granules[is_write], blocks_of[is_write], strict=True):
            bits = signature_hash(params).granule(granule)
            near = [signatures[place] for place in places if place < len(signatures)]
            assert any(signature & bits == bits for signature in near), (granule, near)
        assert union == signature_of_granules(params, granules[is_write])
