"""Functional coverage of causality: what orders accesses, entries, decisions, what did not fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import IntEnum

from racetrap.golden_model.causality.detector_bank import Step
from racetrap.golden_model.causality.entry import Entry
from racetrap.golden_model.causality.learning import Race
from racetrap.golden_model.causality.packets import (
    Against,
    Fenced,
    FenceOrder,
    Observed,
    Packet,
    PacketKind,
    RaceKind,
    SizeCode,
    Transaction,
    TransactionKind,
    Undecided,
)
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.causality.report import RaceReport
from racetrap.golden_model.causality.warp_row import is_tile
from racetrap.golden_model.events import ALL_LANES, Scope
from racetrap.golden_model.gpu.region import Region
from racetrap.sim.cosim.causality.coverage_bins import (
    BINS,
    COUNTED,
    UNREACHABLE,
    without_window,
)
from racetrap.sim.cosim.comparison.coverage import BinCounts

_KINDS = TransactionKind


def _bins(group: str, values: type[IntEnum]) -> dict[int, str]:
    """Bin of each value: looking it up is much faster than making its name at each step."""
    return {value: f"{group}.{value.name.lower()}" for value in values}


_TRANSACTIONS, _ACCESSES = _bins("transaction", TransactionKind), _bins("access", PacketKind)
_SIZES, _OBSERVED = _bins("size", SizeCode), _bins("observed", Observed)
_AGAINST, _UNDECIDED = _bins("against", Against), _bins("undecided", Undecided)
_FENCED = _bins("before.fenced", Fenced)


class Coverage(BinCounts):
    """Counts of every bin; an observer of the scoreboard.

    Parameters
    ----------
    params : CausalityParams
        Configuration that runs.
    """

    def __init__(self, params: CausalityParams):
        super().__init__(
            BINS, UNREACHABLE if params.shared_bytes else UNREACHABLE | without_window()
        )
        self._params = params
        self._depths: Counter[tuple[int, int]] = Counter()
        self._warps: dict[tuple[int, int], int] = {}

    def launch(self, region: Region) -> None:
        """A kernel was launched with this region."""
        self.hit("launch")
        self._depths.clear()

    def transaction(self, sm: int, transaction: Transaction) -> None:
        """A transaction of an SM, in its order."""
        kind = transaction.kind
        self.hit(_TRANSACTIONS[kind])
        if kind in (_KINDS.FENCE, _KINDS.BEGIN, _KINDS.END):
            order, scope = FenceOrder(transaction.order), Scope(transaction.device)
            name = _KINDS(kind).name
            self.hit(f"{name.lower()}.{order.name.lower()}.{scope.name.lower()}")
        elif kind == _KINDS.WARP_BARRIER:
            lanes = transaction.lanes
            name = "tile" if is_tile(lanes) else "some"
            self.hit(f"warp_barrier.{'all' if lanes == ALL_LANES else name}")
        elif kind == _KINDS.BLOCK_START:
            self._start_block(sm, transaction)
        elif kind == _KINDS.PARTIAL_BARRIER:
            block = self._warps.get((sm, transaction.slot), 0)
            some = "some" if transaction.warps else "none"
            is_whole = transaction.warps.bit_count() == block
            self.hit(f"partial_barrier.{'all' if is_whole else some}")
        elif kind in (_KINDS.IF, _KINDS.FI):
            self._branch(sm, transaction)

    def _start_block(self, sm: int, transaction: Transaction) -> None:
        self._warps[sm, transaction.slot] = transaction.warps.bit_count()
        for warp in range(self._params.warps_per_sm):
            if transaction.warps >> warp & 1:
                self._depths[sm, warp] = 0

    def _branch(self, sm: int, transaction: Transaction) -> None:
        place = sm, transaction.warp
        if transaction.kind == _KINDS.FI:
            self._depths[place] -= 1
            return
        is_kept = self._depths[place] < self._params.levels
        self.hit(f"branch.{'kept' if is_kept else 'too_deep'}")
        self._depths[place] += 1

    def step(self, bank: int, step: Step) -> None:
        """A step of a bank, in the bank's order."""
        packet = step.packet
        space = "shared" if packet.shared else "global"
        self.hit(f"{space}.{'monitored' if step.monitored else 'outside'}")
        if not step.monitored:
            return
        self.hit(f"{_ACCESSES[packet.kind]}.{_named(packet)}")
        self.hit(_SIZES[packet.size])
        is_one = packet.lanes.bit_count() == 1
        self.hit(f"lanes.{'one' if is_one else 'all' if packet.lanes == ALL_LANES else 'several'}")
        self._entry(step.before)
        self.hit(_AGAINST[step.against])
        self.hit(_UNDECIDED[step.undecided])
        for name in ("took_on", "displaced", "read_error"):
            if getattr(step, name):
                self.hit(name)
        writer = step.before.writer
        if step.met and writer:
            same = writer.block == packet.block
            self.hit(f"met.{'same' if same else 'other'}_block")
        self._after(step)
        if packet.unequal:
            self.hit("unequal")

    def _after(self, step: Step) -> None:
        """What an access has made of the entry."""
        packet, before, after = step.packet, step.before, step.after
        side, old = (
            (after.writer, before.writer) if packet.writes else (after.reader, before.reader)
        )
        if side is not None and side.bytes != packet.bytes:
            self.hit("joined")
        elif old is not None and old.warp != packet.warp:
            self.hit("handed_over")
        if not packet.writes or side is None:
            return
        if before.message and not after.message:
            self.hit("message.ended")
        elif after.message:
            made = "by_an_operation" if packet.release else "behind_a_fence"
            is_new = packet.strong and (packet.released or packet.released_device)
            self.hit(f"message.{made if is_new else 'goes_on'}")

    def _entry(self, entry: Entry) -> None:
        writer, reader = entry.writer, entry.reader
        sides = [side for side in (writer, reader) if side is not None]
        for name, is_so in (
            ("written", writer is not None),
            ("read", reader is not None),
            ("message", entry.message),
            ("mixed", entry.mixed),
            ("several", any(side.several for side in sides)),
            ("handed", writer is not None and writer.handed),
            ("lost", entry.lost),
            ("unknown", entry.unknown),
        ):
            if is_so:
                self.hit(f"before.{name}")
        for fence, name in _FENCED.items():
            if any(side.sc & fence for side in sides):
                self.hit(name)
        self.hit(_OBSERVED[entry.observed])

    def race(self, race: Race) -> None:
        """A race that the collector has found."""
        self.hit(f"race.{RaceKind(race.kind).name.lower()}")
        self.hit(f"race.{'late' if race.late else 'at_once'}")

    def report(self, report: RaceReport) -> None:
        """A record read from the ring buffer."""
        self.hit(f"report.{RaceKind(report.race).name.lower()}")
        self.hit(f"report.{'shared' if report.shared else 'global'}")

    def finish(self, counters: Mapping[str, int]) -> None:
        """The counters at the end of a launch."""
        for name in COUNTED:
            if counters[name]:
                self.hit(f"counter.{name}", counters[name])
        if counters["clock_wraps"] >= 1 << self._params.epoch_bits:
            self.hit("epochs_restart")


def _named(packet: Packet) -> str:
    """What an access names of its order."""
    if packet.acquire and packet.release:
        return "acq_rel"
    if packet.acquire or packet.release:
        return "acquire" if packet.acquire else "release"
    if packet.named:
        return "relaxed"
    return "volatile" if packet.strong else "weak"
