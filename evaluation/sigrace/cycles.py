"""Throughput of SigRace's hardware in exact cycles.

Every figure is taken from runs that were compared with the golden model in full.

Ref: SigRace (ISCA'09) Sections 3.2 and 5.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from racetrap.generators.sigrace import SIGRACE
from racetrap.golden_model.sigrace.environment import OWN, Command, CoreCommand, Remap
from racetrap.golden_model.sigrace.packets import CoreEvent, CoreOp, RdmStepKind
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.sim.cosim.fast.build import build_fast
from racetrap.sim.cosim.sigrace.fast_compare import check_commands
from racetrap.sim.cosim.sigrace.fast_simulation import FastSim
from racetrap.sim.cosim.sigrace.scoreboard import Scoreboard

_PRESET = "sigrace"


@dataclass(frozen=True)
class Scan:
    """One message that is compared with every entry of all other threads' full queues.

    Parameters
    ----------
    comparisons : int
        Entries.
    cycles : int
        Clock cycles from the first comparison to the push, both included.
    """

    comparisons: int
    cycles: int


@dataclass(frozen=True)
class Sustained:
    """All cores run at one instruction a cycle, and no two blocks are ordered.

    Parameters
    ----------
    block_instructions : int
        Instructions of a block.
    messages : int
        Messages, all of them compared.
    comparisons : float
        Comparisons of a message, on the mean.
    message_cycles : float
        Cycles from a message's end in the RDM to the next one's, on the mean.
    core_stalls : int
        Cycles, over all cores, in which an event had to wait.
    link_stalls : int
        Cycles, over all links, in which a flit had to wait for its place at the RDM.
    """

    block_instructions: int
    messages: int
    comparisons: float
    message_cycles: float
    core_stalls: int
    link_stalls: int


def _start(params: SigraceParams) -> Iterator[Command]:
    """A thread on each core, not ordered with any other."""
    for core in range(params.cores):
        yield Remap(core, 0, core)
        yield CoreCommand(core, 0, CoreEvent(CoreOp.SWITCH_IN, index=core), OWN)
        yield CoreCommand(core, 0, CoreEvent(CoreOp.COLLECT_ON), OWN)


def _access(core: int, number: int, words: int, instructions: int) -> CoreCommand:
    """An access of a core to its own page; every third is a store."""
    address = (core << 16) + 4 * (number * 7 % words)
    op = CoreOp.STORE if number % 3 == 0 else CoreOp.LOAD
    return CoreCommand(core, 0, CoreEvent(op, address, 4, 0, instructions), OWN)


def _fill_queues(params: SigraceParams) -> Iterator[Command]:
    """Every thread sends as many blocks as its queue holds."""
    for number in range(params.history_depth):
        for core in range(params.cores):
            yield _access(core, number, params.history_depth, 0)
            yield CoreCommand(core, 0, CoreEvent(CoreOp.SWITCH_OUT), OWN)


def worst_scan() -> Scan:
    """Measure a message that meets full queues without a predecessor."""
    params = SIGRACE.presets[_PRESET].params
    with FastSim(build_fast(_PRESET, params)) as sim:
        sim.rdm.control()
        board = Scoreboard(params)
        check_commands(sim, board, params, [*_start(params), *_fill_queues(params)])
        last = [_access(0, 0, 1, 0), CoreCommand(0, 0, CoreEvent(CoreOp.SWITCH_OUT), OWN)]
        result = check_commands(sim, board, params, last)
        cycles = sim.rdm_cycles()
        return Scan(result.rdm_steps - 1, cycles[-1] - cycles[0] + 1)


def sustained(block_instructions: int = 2000, blocks: int = 24) -> Sustained:
    """Measure cores that commit an access a cycle and end their blocks together.

    Parameters
    ----------
    block_instructions : int
        Events of a block; the preset's limit, or software ends it earlier.
    blocks : int
        Blocks of each core, measured after the queues have been filled.
    """
    params = SIGRACE.presets[_PRESET].params
    if block_instructions > (limit := params.block_instructions):
        raise ValueError(f"Block must have at most {limit} instructions, not {block_instructions}")
    commands = [
        _block_event(params, core, number, block_instructions)
        for number in range(blocks * block_instructions)
        for core in range(params.cores)
    ]
    with FastSim(build_fast(_PRESET, params)) as sim:
        sim.rdm.control()
        board = Scoreboard(params)
        check_commands(sim, board, params, [*_start(params), *_fill_queues(params)])
        sim.rdm.clear_counters()
        board.clear_counters()
        result = check_commands(sim, board, params, commands)
        counters = sim.rdm.counters()
        ends = [
            cycle
            for step, cycle in zip(sim.rdm_steps(), sim.rdm_cycles(), strict=True)
            if step.kind == RdmStepKind.PUSH
        ]
    return Sustained(
        block_instructions,
        messages=len(ends),
        comparisons=counters["comparisons"] / len(ends),
        message_cycles=(ends[-1] - ends[0]) / (len(ends) - 1),
        core_stalls=params.cores * result.cycles - result.events,
        link_stalls=counters["stall_cycles"],
    )


def _block_event(params: SigraceParams, core: int, number: int, length: int) -> CoreCommand:
    """An access, or the end of a block that ends before the limit."""
    if length < params.block_instructions and number % length == length - 1:
        return CoreCommand(core, 0, CoreEvent(CoreOp.SWITCH_OUT), OWN)
    return _access(core, number, 512, 1)
