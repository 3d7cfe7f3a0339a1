"""A kernel launch on the fast co-simulation and on the golden model, compared in full.

Ref: ScoRD (ISCA'20) Section IV.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from racetrap.generators.garbage_collection import garbage_collection_paused
from racetrap.golden_model.scord.packets import Transaction, TransactionKind
from racetrap.golden_model.scord.params import AccessPolicy, ScordParams
from racetrap.golden_model.scord.region_table import MonitoredRegion
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.scord.batch_scoreboard import BatchScoreboard
from racetrap.sim.cosim.scord.fast_simulation import FastSim
from racetrap.sim.cosim.scord.scoreboard import Observer, Scoreboard

__all__ = ["LaunchResult", "check_launch"]


@dataclass(frozen=True)
class LaunchResult:
    """What one launch compared.

    Parameters
    ----------
    accesses, steps, races : int
        Accesses in the monitored region, steps (with fences and other accesses), races.
    reports : tuple of int
        Records in the ring, oldest first.
    cycles : int
        Clock cycles from the launch's first step to its last, over all banks.
    """

    accesses: int
    steps: int
    races: int
    reports: tuple[int, ...]
    cycles: int


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
    observer: Observer | None = None,
) -> LaunchResult:
    """Launch a kernel, play its transactions and compare everything that can be seen.

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
        Offer a transaction only when all steps of those before it have been taken, so that
        the banks see the global order; otherwise each SM plays its own as fast as it can.  No
        buffer may drop any then, as one does that transactions without a step have filled.
    capacity_log2, report_filter, sweep
        As of ``FastSim.launch``.
    observer : Observer or None
        Receiver of functional coverage.

    Raises
    ------
    Mismatch
        If hardware and golden model differ.
    SimulationError
        If the simulation cannot go on.
    """
    played = list(transactions)
    before = sim.stats
    sim.launch(region, capacity_log2, report_filter, sweep)
    with garbage_collection_paused():
        batch = BatchScoreboard(params, region)
        steps, left_out = _play(sim, batch, params, played, in_order)
        words = [sim.step_words(bank) for bank in range(params.banks)]
        agree = all(map(batch.take, range(params.banks), words))
        board: Scoreboard = batch
        if observer is not None or not agree:
            board = _one_by_one(sim, Scoreboard(params, region, observer), played, left_out)
    reports = sim.reports()
    for record in reports:
        board.report(record)
    counters, after = sim.counters(), sim.stats
    for name, errors in (
        ("metadata_write_errors", after.write_errors - before.write_errors),
        ("report_write_errors", after.report_errors - before.report_errors),
    ):
        if counters[name] != errors:
            raise Mismatch(f"Counter {name} must be {errors}, not {counters[name]}")
    board.finish(
        counters,
        memory=None if params.local_bytes else sim.entry,
        read_errors=after.read_errors - before.read_errors,
        reached=sim.reached,
    )
    if not agree:
        raise Mismatch("Steps must be those of the golden model in every bit outside fields, too")
    taken = [at for bank in range(params.banks) if (at := sim.step_cycles(bank))]
    cycles = max(at[-1] for at in taken) - min(at[0] for at in taken) + 1 if taken else 0
    races = sum(value for name, value in counters.items() if name.startswith("races_"))
    return LaunchResult(counters["accesses"], steps, races, tuple(reports), cycles)


def _play(
    sim: FastSim,
    board: Scoreboard,
    params: ScordParams,
    played: Sequence[tuple[int, Transaction]],
    in_order: bool,
) -> tuple[int, Sequence[bool | None]]:
    """Run the hardware; gives the steps that all banks must take, and what it has left out."""
    queues: list[list[Transaction]] = [[] for _ in range(params.sm_count)]
    for sm, transaction in played:
        queues[sm].append(transaction)
    left_out: Sequence[bool | None] = [None] * len(played)
    if params.access_policy == AccessPolicy.DROP and not in_order:
        # What finds its buffer full is the hardware's to say.
        sim.run(queues, ())
        dropped = [iter(sim.left_out(sm)) for sm in range(params.sm_count)]
        left_out = [next(dropped[sm]) for sm, _ in played]
    order: list[list[tuple[int, int]]] = [[] for _ in range(params.sm_count)]
    steps = 0
    for number, ((sm, transaction), is_left_out) in enumerate(zip(played, left_out, strict=True)):
        order[sm].append((number, steps))
        packets = board.transaction(sm, transaction, is_left_out)
        fence = transaction.kind == TransactionKind.FENCE
        steps += params.banks if fence else len(packets)
    if params.access_policy != AccessPolicy.DROP or in_order:
        sim.run(queues, board.due, order if in_order else None)
    return steps, left_out


def _one_by_one(
    sim: FastSim,
    board: Scoreboard,
    played: Iterable[tuple[int, Transaction]],
    left_out: Iterable[bool | None],
) -> Scoreboard:
    """The board after all transactions and steps of a launch, compared field by field."""
    for (sm, transaction), is_left_out in zip(played, left_out, strict=True):
        board.transaction(sm, transaction, is_left_out)
    for bank in range(len(board.banks)):
        for step in sim.steps(bank):
            board.step(bank, step)
    return board
