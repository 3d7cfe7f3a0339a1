"""Random volume through SigRace's hardware and golden model, in cases that can be rerun alone.

A case is one simulation after reset with some runs; between them software flushes queues,
clears log and counters, and switches checking off and on.  Everything about it follows from
preset, seed and the case's number.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from racetrap.evaluation.campaign.cases import Case
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.simulation import SimulationError
from racetrap.sim.cosim.sigrace.fast_compare import RunResult, check_commands
from racetrap.sim.cosim.sigrace.fast_simulation import FastSim, Timing
from racetrap.sim.cosim.sigrace.knobs import KNOBS
from racetrap.sim.cosim.sigrace.random_events import random_events
from racetrap.sim.cosim.sigrace.scoreboard import Observer, Scoreboard

__all__ = ["CaseResult", "run_case"]

#: Actions of each run of a case.
_ACTIONS = (16_000, 4_000, 1_000)


@dataclass(frozen=True)
class CaseResult:
    """What a case compared.

    Parameters
    ----------
    case : Case
        The case.
    events, messages, conflicts, cycles : int
        Events of all contexts, messages, conflicts, and clock cycles in which events came.
    seconds : float
        Time for all of it, making the stimulus included.
    difference : str
        First difference in one sentence; empty if there is none.
    observer : Observer or None
        The observer of the case, with what it saw.
    """

    case: Case[SigraceParams]
    events: int
    messages: int
    conflicts: int
    cycles: int
    seconds: float
    difference: str
    observer: Observer | None

    @property
    def volume(self) -> int:
        """Events compared."""
        return self.events


def run_case(
    case: Case[SigraceParams], make_observer: Callable[[SigraceParams], Observer] | None = None
) -> CaseResult:
    """Run one case; a difference is a result, not an exception.

    Parameters
    ----------
    case : Case
        The case.
    make_observer : callable or None
        Makes the receiver of functional coverage from the parameters.
    """
    params = case.model.params
    observer = None if make_observer is None else make_observer(params)
    random = Random(f"{case.model.preset} {case.seed} {case.number}")
    started = time.perf_counter()
    results: list[RunResult] = []
    difference = ""
    with FastSim(case.model, random.getrandbits(63), _timing(random)) as sim:
        board = Scoreboard(params, observer)
        try:
            for actions in _ACTIONS:
                _software(sim, board, random)
                results.append(_run(sim, board, case, random, actions))
        except (Mismatch, SimulationError) as error:
            difference = str(error)
    return CaseResult(
        case,
        events=sum(result.events for result in results),
        messages=sum(result.messages for result in results),
        conflicts=sum(result.conflicts for result in results),
        cycles=sum(result.cycles for result in results),
        seconds=time.perf_counter() - started,
        difference=difference,
        observer=observer,
    )


def _timing(random: Random) -> Timing:
    """From cores that never wait to slow ones, whose trap records are seldom fetched."""
    return Timing(
        idle_percent=random.choice((0, 0, 20, 60, 95)), trap_stall=random.choice((0, 0, 50, 95))
    )


def _software(sim: FastSim, board: Scoreboard, random: Random) -> None:
    """What software does before a run."""
    on = random.random() < 0.9
    sim.rdm.control(enable=on, irq_enable=random.random() < 0.5)
    board.enable(on)
    for name in ("flush", "clear_log", "clear_counters"):
        if random.random() < 0.5:
            getattr(sim.rdm, name)()
            getattr(board, name)()


def _run(
    sim: FastSim, board: Scoreboard, case: Case[SigraceParams], random: Random, actions: int
) -> RunResult:
    knobs = list(KNOBS.values())[case.number % len(KNOBS)]
    params = case.model.params
    commands = random_events(params, knobs, random.getrandbits(32), actions)
    return check_commands(sim, board, params, commands)
