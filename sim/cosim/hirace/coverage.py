"""Functional coverage of HiRace: transitions, their causes, counts and reports."""

from __future__ import annotations

from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.hirace.packets import (
    RaceKind,
    Step,
    Transaction,
    TransactionKind,
    access_of,
)
from racetrap.golden_model.hirace.params import STATE_BITS, HiraceParams
from racetrap.golden_model.hirace.report import RaceReport
from racetrap.golden_model.hirace.states import Relation, State, Sync
from racetrap.golden_model.hirace.tracker import Tracker
from racetrap.sim.cosim.comparison.coverage import BinCounts
from racetrap.sim.cosim.hirace.coverage_bins import (
    BINS,
    OPTIONAL_BINS,
    UNREACHABLE,
    transition_bin,
    without_window,
)

_STATES, _SYNCS, _RELATIONS = tuple(State), tuple(Sync), tuple(Relation)


class Coverage(BinCounts):
    """Counts of every bin; an observer of the scoreboard.

    Parameters
    ----------
    params : HiraceParams
        Configuration that runs.
    """

    def __init__(self, params: HiraceParams):
        super().__init__(
            BINS if params.begin_anew else {**BINS, **OPTIONAL_BINS},
            UNREACHABLE if params.shared_bytes else UNREACHABLE | without_window(),
        )
        self._params = params

    def launch(self, region: Region) -> None:
        """A kernel was launched with this region."""
        self.hit("launch")

    def transaction(self, sm: int, transaction: Transaction, tracker: Tracker) -> None:
        """A transaction, and the tracker before it."""
        kind, params = TransactionKind(transaction.kind), self._params
        self.hit(f"transaction.{kind.name.lower()}")
        if kind <= TransactionKind.ATOMIC:
            self.hit(f"words.{transaction.more + 1}")
            return
        name, count, bits = {
            TransactionKind.BARRIER: (
                "barriers", tracker.barriers[transaction.slot], params.barrier_bits,
            ),
            TransactionKind.WARP_BARRIER: (
                "warp_barriers", tracker.warp_barriers[transaction.warp], params.warp_barrier_bits,
            ),
            TransactionKind.BLOCK_START: (
                "generations", tracker.generations[transaction.slot], params.generation_bits,
            ),
        }[kind]  # fmt: skip
        if count == (1 << bits) - 1:
            self.hit(f"wraps.{name}")

    def step(self, bank: int, step: Step) -> None:
        """A step of a bank, in the bank's order."""
        space = "shared" if step.packet.shared else "global"
        self.hit(f"{space}.{'monitored' if step.monitored else 'outside'}")
        if not step.monitored:
            return
        state = _STATES[step.before & (1 << STATE_BITS) - 1]
        access = access_of(step.packet)
        self.hit(transition_bin(state, access, _SYNCS[step.sync], _RELATIONS[step.relation]))
        if step.race:
            self.hit(f"race.{RaceKind(step.race).name.lower()}")
        if step.read_error:
            self.hit("read_error")

    def report(self, report: RaceReport) -> None:
        """A record read from the ring buffer."""
        self.hit(f"report.{RaceKind(report.race).name.lower()}")
        self.hit(f"report.{'shared' if report.shared else 'global'}")
