"""Cases for the NumPy engine of the evaluation, and the golden model's blocks of them."""

from __future__ import annotations

from typing import NamedTuple

from racetrap.evaluation.sigrace.blocks import Blocks
from racetrap.evaluation.sigrace.execution import Execution
from racetrap.golden_model.sigrace.block import FinishedBlock
from racetrap.golden_model.sigrace.core_unit import CoreUnit
from racetrap.golden_model.sigrace.environment import CoreCommand, Environment
from racetrap.golden_model.sigrace.packets import CoreEvent, CoreOp
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.playback import play
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cpu.random_run import random_run
from tests.support.threads.random_traces import random_thread_trace

__all__ = ["EngineCase", "engine_case", "golden_blocks", "set_of"]

_SWITCH_OUT = CoreEvent(CoreOp.SWITCH_OUT)


class EngineCase(NamedTuple):
    """A program, a configuration, and instructions between checkpoints."""

    trace: ThreadTrace
    params: SigraceParams
    interval: int


def engine_case(seed: int) -> EngineCase:
    """Case number ``seed``: small limits, so that every way of ending a block occurs."""
    if seed % 3:
        trace = random_run(
            seed,
            threads=1 + seed % 6,
            events=600,
            granules=(12, 2000, 100)[seed % 3],
            sync=(0.05, 0.1, 0.3)[seed // 2 % 3],
        )
    else:
        trace = random_thread_trace(seed, threads=5, addresses=4096)
    if seed % 4 == 1:
        trace = ThreadTrace(trace.header, trace.events[:450])  # stopped before its end
    params = SigraceParams(
        cores=(8, 4)[seed % 2],
        contexts=2,
        form=("hashed", "sets")[seed % 5 > 0],
        one_hot_lsb=seed % 4 == 0,
        lsb_bits=(4, 6, 10)[seed // 2 % 3],
        filter_bits=(16, 64, 128)[seed // 3 % 3],
        usb_limit=(1, 2, 5)[seed % 3],
        block_instructions=(50, 200, 2000)[seed % 3],
        history_depth=(2, 5, 16)[seed // 3 % 3],
        log_depth=1 + seed % 9,
        log_blocks=1 + seed % 4,
    )
    return EngineCase(trace, params, (700, 3000, 1_000_000)[seed // 2 % 3])


def golden_blocks(case: EngineCase, execution: Execution) -> list[tuple[int, FinishedBlock]]:
    """Blocks of the golden core units, each with the number of the event under way.

    At a checkpoint, and at the end, all units end their blocks one after the other.
    """
    units: dict[tuple[int, int], CoreUnit] = {}
    sent: list[tuple[int, FinishedBlock]] = []

    def interrupt(number: int) -> None:
        for _, unit in sorted(units.items()):
            unit.take(_SWITCH_OUT)
            sent.extend((number, block) for block in unit.blocks)
            unit.blocks.clear()

    checkpoints = list(execution.checkpoints)
    for command in play(case.trace, case.params, Environment("fixed")):
        if not isinstance(command, CoreCommand):
            continue
        core, context, event, number = command
        if checkpoints and number >= checkpoints[0]:
            interrupt(checkpoints.pop(0))
        unit = units.setdefault((core, context), CoreUnit(case.params, core, context))
        unit.take(event)
        sent.extend((number, block) for block in unit.blocks)
        unit.blocks.clear()
    interrupt(len(case.trace))
    return sent


def set_of(blocks: Blocks, number: int) -> set[int]:
    """Granules (address / 4) of one set."""
    return set(blocks.granule[blocks.first[number] : blocks.first[number + 1]].tolist())
