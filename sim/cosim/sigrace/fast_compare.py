"""Full comparison of commands on the fast co-simulation with the golden model.

Ref: SigRace (ISCA'09) Section 3.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from racetrap.generators.garbage_collection import garbage_collection_paused
from racetrap.golden_model.sigrace.environment import Command, Remap
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.packing import pack_tuples
from racetrap.sim.cosim.fast.simulation import SimulationError
from racetrap.sim.cosim.sigrace.fast_simulation import FastSim, Program, Stop
from racetrap.sim.cosim.sigrace.scoreboard import Scoreboard


@dataclass(frozen=True)
class RunResult:
    """Amounts compared in one run.

    Parameters
    ----------
    events, messages, rdm_steps, conflicts : int
        Events of all contexts, messages, steps of the RDM, and conflicts among them.
    cycles : int
        Clock cycles from the first event to the last.
    digest : int
        Digest of the simulation's cycles with a transfer, so far.
    """

    events: int
    messages: int
    rdm_steps: int
    conflicts: int
    cycles: int
    digest: int


def check_commands(
    sim: FastSim,
    board: Scoreboard,
    params: SigraceParams,
    commands: Iterable[Command],
    *,
    in_order: bool = False,
) -> RunResult:
    """Play commands and compare everything observable.

    Contexts run as fast as they can; before a change of CoreToThread its context waits for
    its messages.

    Parameters
    ----------
    sim : FastSim
        The hardware.
    board : Scoreboard
        Scoreboard of this hardware since its reset.
    params : SigraceParams
        Parameters of the hardware.
    commands : iterable of Command
        Commands of the contexts, in one global order.
    in_order : bool
        Let a context send a message only when the RDM has taken all those before it in the global
        order, so that the RDM finds the same as the golden model in that order.

    Raises
    ------
    Mismatch
        If hardware and golden model differ.
    SimulationError
        If the simulation cannot continue.
    """
    before = board.events, board.messages, board.rdm_steps
    conflicts = board.rdm.counters["conflicts"]
    with garbage_collection_paused():
        _play(sim, board, params, commands, in_order)
        for core in range(params.cores):
            for context in range(params.contexts):
                _compare_unit(sim, board, params, core, context)
        for step in sim.rdm_steps():
            board.rdm_step(step)
    board.finish(sim.rdm.log(), sim.rdm.status()["reasons"], sim.rdm.counters())
    stats = sim.stats
    return RunResult(
        board.events - before[0],
        board.messages - before[1],
        board.rdm_steps - before[2],
        board.rdm.counters["conflicts"] - conflicts,
        stats.last_event - stats.first_event + 1,
        stats.digest,
    )


def _compare_unit(
    sim: FastSim, board: Scoreboard, params: SigraceParams, core: int, context: int
) -> None:
    """Compare steps and trap records of a core unit, field by field only if the arrays differ."""
    unit = core * params.contexts + context
    golden = pack_tuples(params.core_step_layout, board.core_steps_due(core, context))
    words = sim.core_words(unit)
    if np.array_equal(golden, words):
        board.core_steps_agree(core, context)
    else:
        for core_step in sim.core_steps(unit):
            board.core_step(core, context, core_step)
        if len(golden) == len(words):
            raise Mismatch("Steps must be the golden model's in every bit outside fields, too")
    for trap in sim.traps(unit):
        board.trap(core, context, trap)


def _play(
    sim: FastSim,
    board: Scoreboard,
    params: SigraceParams,
    commands: Iterable[Command],
    in_order: bool,
) -> None:
    """Run the hardware; the golden core units give the expected amounts."""
    sent = 0
    units = params.cores * params.contexts
    program = Program([[] for _ in range(units)], stops=[[] for _ in range(units)])
    for command in commands:
        core, context = command.core, command.context
        unit = core * params.contexts + context
        if isinstance(command, Remap):
            program.remaps.append((command, board.messages_due(core, context)))
            program.stops[unit].append(Stop(len(program.events[unit]), remaps=len(program.remaps)))
            board.remap(command)
        else:
            blocks = board.event(core, context, command.event)
            if blocks and in_order:
                program.stops[unit].append(Stop(len(program.events[unit]), messages=sent))
            sent += blocks
            program.events[unit].append(command.event)
    places = [(core, context) for core in range(params.cores) for context in range(params.contexts)]
    messages = sum(board.messages_due(*place) for place in places)
    if board.rdm.enabled:
        sim.run(program, messages, board.traps_due())
        sim.rdm.wait_idle()
    else:
        _run_ignored(sim, board, program, messages)


def _run_ignored(sim: FastSim, board: Scoreboard, program: Program, messages: int) -> None:
    """Run with checking off: ignored messages make no steps, and remaps do not wait for them."""
    program.remaps = [(remap, 0) for remap, _ in program.remaps]
    goal = board.rdm.counters["ignored"] + messages
    sim.run(program, 0, board.traps_due())
    end = sim.stats.cycles + sim.timing.watchdog
    while sim.rdm.counters()["ignored"] < goal:
        if sim.stats.cycles > end:
            raise SimulationError(f"Messages ignored must become {goal}")
