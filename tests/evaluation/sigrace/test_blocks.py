"""Proof that the blocks of the NumPy engine are those of the golden core units."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from racetrap.evaluation.sigrace.blocks import Blocks, make_blocks
from racetrap.evaluation.sigrace.execution import Execution
from racetrap.golden_model.sigrace.address_set import AddressSet
from racetrap.golden_model.sigrace.packets import Cause
from racetrap.golden_model.sigrace.params import Form, SigraceParams
from racetrap.golden_model.sigrace.signature import signature_of_granules
from racetrap.sim.cpu.random_run import random_run
from tests.support.sigrace.engine import engine_case, golden_blocks, set_of
from tests.support.sigrace.programs import ThreadProgram

SEEDS = range(40)


def blocks_of(seed: int) -> tuple[Execution, Blocks]:
    case = engine_case(seed)
    execution = Execution(case.trace, case.interval)
    return execution, make_blocks(execution, case.params)


@pytest.mark.parametrize("seed", SEEDS)
def test_blocks_are_those_of_the_core_units(seed: int) -> None:
    case = engine_case(seed)
    execution, blocks = blocks_of(seed)
    golden = golden_blocks(case, execution)
    assert len(golden) == len(blocks.thread)
    for number, (event, block) in enumerate(golden):
        thread = block.thread
        assert (blocks.event[number], blocks.thread[number]) == (event, thread)
        assert blocks.cause[number] == block.cause
        row = execution.clocks.first[thread] + blocks.epoch[number]
        stamp = execution.clocks.matrix[row].tolist()
        assert tuple(stamp) == block.timestamp[: len(stamp)]
        for index, addresses in enumerate((block.read, block.write)):
            granules = [4 * granule for granule in set_of(blocks, 2 * number + index)]
            if isinstance(addresses, AddressSet):
                values = {granule >> case.params.lsb_bits for granule in granules}
                assert sorted(addresses.usb) == sorted(values)
                addresses = addresses.signature(case.params)
            assert addresses == signature_of_granules(case.params, granules)


def test_every_cause_occurs() -> None:
    causes: Counter[int] = Counter()
    checkpoints = 0
    for seed in SEEDS:
        execution, blocks = blocks_of(seed)
        causes.update(blocks.cause.tolist())
        checkpoints += len(execution.checkpoints)
    assert min(causes[cause] for cause in Cause if cause) > 20
    assert checkpoints > 20


@pytest.mark.parametrize("seed", range(0, 40, 5))
def test_instructions_at_the_end_of_a_block(seed: int) -> None:
    """Committed since the checkpoint, counted event by event."""
    execution, blocks = blocks_of(seed)
    events = list(execution.trace)
    for number in range(len(blocks.thread)):
        thread, event = blocks.thread[number], int(blocks.event[number])
        interval = int(blocks.interval[number])
        start = ([0] + execution.checkpoints)[interval]
        stop = event if blocks.cause[number] == Cause.SWITCH else event + 1
        mine = sum(each.instructions for each in events[start:stop] if each.thread == thread)
        total = sum(each.instructions for each in events[:stop])
        # More instructions than an event of a core has can be divided by a block's end.
        late = mine - blocks.committed[number]
        assert total - blocks.total[number] == late
        assert late == 0 or 0 < late <= events[event].instructions - 4095


def test_a_block_can_end_within_many_instructions() -> None:
    program = ThreadProgram(1)
    program.store(0, 0x1000, instructions=5)
    program.store(0, 0x2000, instructions=10_000)
    execution = Execution(program.trace())
    blocks = make_blocks(execution, SigraceParams(block_instructions=4000))
    assert blocks.cause.tolist() == [Cause.LIMIT, Cause.SYNC]
    assert blocks.committed[0] == 5 + 1 + 4095  # BEGIN, and the first part of the 10,000
    assert blocks.total[0] == blocks.committed[0]


@pytest.mark.parametrize("seed", range(8))
def test_sync_only(seed: int) -> None:
    case = engine_case(seed)
    execution = Execution(case.trace, case.interval)
    hashed = replace(case.params, form=Form.HASHED)
    blocks = make_blocks(execution, hashed, sync_only=True)
    largest = replace(hashed, block_instructions=1 << 20)
    assert set(blocks.cause.tolist()) <= {Cause.SYNC, Cause.SWITCH}
    for one, other in zip(blocks, make_blocks(execution, largest), strict=True):
        assert (one == other).all()


def test_program_without_accesses() -> None:
    assert len(make_blocks(Execution(ThreadProgram(2).trace()), SigraceParams()).thread) == 0


def test_too_many_threads() -> None:
    execution = Execution(random_run(1, threads=5))
    with pytest.raises(ValueError, match="Threads of the trace must be at most 4, not 5"):
        make_blocks(execution, SigraceParams(cores=4))


def test_interval_must_be_positive() -> None:
    with pytest.raises(ValueError, match="Checkpoint interval must be at least 1, not 0"):
        Execution(random_run(1), 0)
