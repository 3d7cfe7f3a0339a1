"""Random tests of SigRace: cases of three runs.

Between the runs of a case software flushes queues, clears log and counters, and switches
checking off and on.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from racetrap.evaluation.campaign.random_volume import RandomVolume
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.fast.register_exercise import exercise_registers
from racetrap.sim.cosim.sigrace.fast_compare import RunResult, check_commands
from racetrap.sim.cosim.sigrace.fast_simulation import FastSim, Timing
from racetrap.sim.cosim.sigrace.knobs import KNOBS
from racetrap.sim.cosim.sigrace.random_events import random_events
from racetrap.sim.cosim.sigrace.scoreboard import Observer, Scoreboard

#: Actions of each run of a case.
_ACTIONS = (16_000, 4_000, 1_000)


def play(
    model: FastModel[SigraceParams], number: int, random: Random, observer: Observer | None
) -> Iterator[RunResult]:
    """Play the runs of case ``number``; gives what each compared.

    Raises
    ------
    Mismatch
        If hardware and golden model differ.
    SimulationError
        If the simulation cannot continue.
    """
    params = model.params
    knobs = list(KNOBS.values())[number % len(KNOBS)]
    with FastSim(model, random.getrandbits(63), _timing(random)) as sim:
        board = Scoreboard(params, observer)
        for actions in _ACTIONS:
            exercise_registers(sim, random)
            _software(sim, board, random)
            commands = random_events(params, knobs, random.getrandbits(32), actions)
            yield check_commands(sim, board, params, commands)


def _timing(random: Random) -> Timing:
    """From cores that never wait to slow ones, whose trap records are seldom fetched."""
    return Timing(
        idle_percent=random.choice((0, 0, 20, 60, 95)), trap_stall=random.choice((0, 0, 50, 95))
    )


def _software(sim: FastSim, board: Scoreboard, random: Random) -> None:
    """Software's actions before a run."""
    on = random.random() < 0.9
    sim.rdm.control(enable=on, irq_enable=random.random() < 0.5)
    board.enable(on)
    for name in ("flush", "clear_log", "clear_counters"):
        if random.random() < 0.5:
            getattr(sim.rdm, name)()
            getattr(board, name)()


RANDOM_VOLUME = RandomVolume(play, ("events", "messages", "conflicts"))
