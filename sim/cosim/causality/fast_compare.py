"""Full comparison of a kernel launch on the fast co-simulation with the golden model.

Ref: ScoRD (ISCA'20) Section VI.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from racetrap.generators.garbage_collection import garbage_collection_paused
from racetrap.golden_model.causality.packets import Transaction, TransactionKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.causality.word_splitter import split_words
from racetrap.golden_model.events import Event
from racetrap.golden_model.gpu.region import Region
from racetrap.sim.cosim.causality.fast_simulation import FastSim
from racetrap.sim.cosim.causality.scoreboard import Observer, Scoreboard
from racetrap.sim.cosim.gpu.launch_result import (
    LaunchResult,
    launch_result,
    metadata_reader,
    outcome,
)
from racetrap.sim.cosim.gpu.tile_places import TilePlaces


def transactions_of(
    events: Iterable[Event], params: CausalityParams
) -> list[tuple[int, Transaction]]:
    """SM and transaction of everything in ``events`` that a tracker sees, in order."""
    return [
        (event.sm, transaction) for event in events for transaction in split_words(event, params)
    ]


def at_tiles(
    transactions: Iterable[tuple[int, Transaction]], places: TilePlaces, region: Region
) -> Iterator[tuple[int, Transaction]]:
    """Transactions of ``places.playing`` that were drawn in ``places.drawn(region)``, moved to the
    tiles that are there."""
    for sm, transaction in transactions:
        if transaction.kind <= TransactionKind.ATOMIC:
            word = transaction.word
            word = places.word(word) if transaction.shared else places.spread(region, word)
            transaction = transaction._replace(word=word)
        yield places.sms[sm], transaction


def check_launch(
    sim: FastSim,
    params: CausalityParams,
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
    params : CausalityParams
        Its parameters.
    region : Region
        Monitored region.
    transactions : sequence of (int, Transaction)
        SM and transaction, in the program's global order.
    in_order : bool
        Offer a transaction only when those before it are done, so that banks and collector see the
        global order; otherwise each SM plays its own as fast as it can.
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
            steps += board.transaction(sm, transaction)
        sim.run(queues, [steps], order if in_order else None)
        for seen in sim.seen():
            if seen.step is None:
                board.told(seen.kind, seen.source)
            else:
                board.step(seen.bank, seen.step)
        result = outcome(sim, params, before)
        for record in result.reports:
            board.report(record)
        memory = metadata_reader(sim, params, region)
        board.finish(result.counters, memory, result.read_errors, sim.reached)
    return launch_result(sim, params, steps, result)
