"""Full comparison of a kernel launch on the fast co-simulation with the golden model.

Ref: ScoRD (ISCA'20) Section IV.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from racetrap.generators.garbage_collection import garbage_collection_paused
from racetrap.golden_model.gpu.region_table import MonitoredRegion
from racetrap.golden_model.scord.packets import Transaction
from racetrap.golden_model.scord.params import AccessPolicy, ScordParams
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.gpu.launch_result import LaunchResult, launch_result, outcome
from racetrap.sim.cosim.gpu.tile_places import TilePlaces
from racetrap.sim.cosim.scord.compiled_scoreboard import CompiledScoreboard
from racetrap.sim.cosim.scord.fast_simulation import FastSim
from racetrap.sim.cosim.scord.fencing_check import check_fencing
from racetrap.sim.cosim.scord.scoreboard import Observer, Scoreboard


def check_launch(
    sim: FastSim,
    params: ScordParams,
    region: MonitoredRegion,
    transactions: Iterable[tuple[int, Transaction]],
    *,
    in_order: bool = False,
    capacity_log2: int = 10,
    report_filter: bool = False,
    sweep: bool = False,
    waiting: bool = False,
    amid: int = 0,
    observer: Observer | None = None,
    late_cycles: int = 0,
    places: TilePlaces | None = None,
) -> LaunchResult:
    """Launch a kernel, play its transactions and compare everything observable.

    Parameters
    ----------
    sim : FastSim
        The hardware.
    params : ScordParams
        Its parameters.
    region : MonitoredRegion
        Monitored region.
    transactions : iterable of (int, Transaction)
        SM and transaction, in the program's global order.
    in_order : bool
        Offer a transaction only when all steps of those before it have been taken, so that the
        banks see the global order; otherwise each SM plays its own as fast as it can.  Then no
        buffer may drop any, as it could when filled by transactions without a step.
    capacity_log2, report_filter, sweep
        As of ``FastSim.launch``.
    waiting, amid
        As of ``FastSim.begin``; not of those in order.
    observer : Observer or None
        Receiver of functional coverage.
    late_cycles : int
        As of ``check_fencing``.
    places : TilePlaces or None
        Tiles that are there; None: all.

    Raises
    ------
    Mismatch
        If hardware and golden model differ.
    SimulationError
        If the simulation cannot continue.
    """
    before = sim.stats
    played, queues = sim.begin(
        region, list(transactions), capacity_log2, report_filter, sweep, waiting, amid
    )
    has_memory = not params.local_bytes
    with garbage_collection_paused(), closing(CompiledScoreboard(params, region, places)) as board:
        left_out, agree = _play(sim, board, params, played, queues, in_order)
        steps = sum(board.due)
        agree = agree and all(
            board.take(bank, sim.step_words(bank)) for bank in range(params.banks)
        )
        seen, reached = outcome(sim, params, before), sim.reached
        reports, counters, read_errors = seen
        agree = agree and board.finish(
            counters, reports, sim.entries if has_memory else None, read_errors, reached
        )
        if observer is not None or not agree:
            slow = _one_by_one(sim, Scoreboard(params, region, observer, places), played, left_out)
            for record in reports:
                slow.report(record)
            slow.finish(counters, sim.entry if has_memory else None, read_errors, reached)
    if not agree:
        raise Mismatch(
            "Steps must be those of the golden model in every bit outside fields, too, if the "
            "compiled scoreboard is right"
        )
    there = range(params.banks) if places is None else places.banks
    check_fencing(sim, params, queues, there, late_cycles)
    return launch_result(sim, params, steps, seen)


def _play(
    sim: FastSim,
    board: CompiledScoreboard,
    params: ScordParams,
    played: Sequence[tuple[int, Transaction]],
    queues: Sequence[NDArray[np.uint32]],
    in_order: bool,
) -> tuple[list[list[bool] | None], bool]:
    """Run the hardware; return the accesses that each SM skipped, if known, and whether it may."""
    # Which accesses find the buffer full follows the hardware.
    must_ask = params.access_policy == AccessPolicy.DROP and not in_order
    if must_ask:
        sim.run(queues, ())
    left_out = [sim.left_out(sm) if must_ask else None for sm in range(params.sm_count)]
    steps = [
        board.transactions(sm, words, flags)
        for sm, (words, flags) in enumerate(zip(queues, left_out, strict=True))
    ]
    if not must_ask:
        sim.run(queues, board.due, _order(played, steps) if in_order else None)
    return left_out, all(each is not None for each in steps)


def _order(
    played: Iterable[tuple[int, Transaction]], steps: Iterable[NDArray[np.uint32] | None]
) -> list[list[tuple[int, int]]]:
    """For each SM's transactions, their global number and the number of earlier steps."""
    steps_of = [iter(() if each is None else each.tolist()) for each in steps]
    order: list[list[tuple[int, int]]] = [[] for _ in steps_of]
    before = 0
    for number, (sm, _) in enumerate(played):
        order[sm].append((number, before))
        before += next(steps_of[sm])
    return order


def _one_by_one(
    sim: FastSim,
    board: Scoreboard,
    played: Iterable[tuple[int, Transaction]],
    left_out: Iterable[Sequence[bool] | None],
) -> Scoreboard:
    """The board after all transactions and steps of a launch, compared field by field."""
    flags = [repeat(None) if each is None else iter(each) for each in left_out]
    for sm, transaction in played:
        board.transaction(sm, transaction, next(flags[sm]))
    for bank in range(len(board.banks)):
        for step in sim.steps(bank):
            board.step(bank, step)
    return board
