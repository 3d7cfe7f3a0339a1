"""Full comparison of a kernel launch on the fast co-simulation with the golden model.

Ref: HiRace (SC'24).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from racetrap.generators.garbage_collection import garbage_collection_paused
from racetrap.golden_model.events import Event
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.hirace.lane_splitter import split_lanes
from racetrap.golden_model.hirace.packets import Transaction
from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.sim.cosim.gpu.launch_result import (
    LaunchResult,
    launch_result,
    metadata_reader,
    outcome,
)
from racetrap.sim.cosim.hirace.fast_simulation import FastSim
from racetrap.sim.cosim.hirace.scoreboard import Observer, Scoreboard


def transactions_of(events: Iterable[Event], params: HiraceParams) -> list[tuple[int, Transaction]]:
    """SM and transaction of everything in ``events`` that a tracker sees, in order."""
    return [
        (event.sm, transaction) for event in events for transaction in split_lanes(event, params)
    ]


def check_launch(
    sim: FastSim,
    params: HiraceParams,
    region: Region,
    transactions: Sequence[tuple[int, Transaction]],
    *,
    in_order: bool = False,
    capacity_log2: int = 10,
    report_filter: bool = False,
    sweep: bool = False,
    waiting: bool = False,
    amid: int = 0,
    observer: Observer | None = None,
) -> LaunchResult:
    """Launch a kernel, play its transactions and compare everything observable.

    Parameters
    ----------
    sim : FastSim
        The hardware.
    params : HiraceParams
        Its parameters.
    region : Region
        Monitored region.
    transactions : sequence of (int, Transaction)
        SM and transaction, in the program's global order.
    in_order : bool
        Offer a transaction only when all steps of those before it have been taken, so that
        the banks see the global order; otherwise each SM plays its own as fast as it can.
    capacity_log2, report_filter, sweep
        As of ``FastSim.launch``.
    waiting, amid
        As of ``FastSim.begin``; not of those in order.
    observer : Observer or None
        Receiver of functional coverage.

    Raises
    ------
    Mismatch
        If hardware and golden model differ.
    SimulationError
        If the simulation cannot continue.
    """
    before = sim.stats
    transactions, queues = sim.begin(
        region, transactions, capacity_log2, report_filter, sweep, waiting, amid
    )
    with garbage_collection_paused():
        board = Scoreboard(params, region, observer)
        order: list[list[tuple[int, int]]] = [[] for _ in range(params.sm_count)]
        steps = 0
        for number, (sm, transaction) in enumerate(transactions):
            order[sm].append((number, steps))
            steps += len(board.transaction(sm, transaction))
        sim.run(queues, board.due, order if in_order else None)
        for bank in range(params.banks):
            for step in sim.steps(bank):
                board.step(bank, step)
        seen = outcome(sim, params, before)
        for record in seen.reports:
            board.report(record)
        memory = metadata_reader(sim, params, region)
        board.finish(seen.counters, memory, seen.read_errors, sim.reached)
    return launch_result(sim, params, steps, seen)
