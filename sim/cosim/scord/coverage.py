"""Functional coverage of ScoRD, fed with what a scoreboard has compared.

Bins of port events, which only a testbench can see, are hit by name.
"""

from __future__ import annotations

from collections import Counter

from racetrap.golden_model.events import AtomicOp, Scope
from racetrap.golden_model.gpu.params import LINE_BYTES, WORD_BYTES, WORDS_PER_LINE
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.gpu.region_table import MonitoredRegion
from racetrap.golden_model.scord.metadata import unpack_entry
from racetrap.golden_model.scord.packets import (
    LockState,
    Packet,
    PacketKind,
    Preliminary,
    RaceKind,
    Step,
    TableRow,
    Transaction,
    TransactionKind,
)
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.report import RaceReport
from racetrap.sim.cosim.comparison.coverage import BinCounts
from racetrap.sim.cosim.scord.coverage_bins import (
    BINS,
    GENERATION_BINS,
    LEFT_OUT_BINS,
    UNREACHABLE,
    distance_bin,
    lock_change,
)

_ACCESS_NAMES: dict[int, str] = {
    PacketKind.LOAD: "load",
    PacketKind.STORE: "store",
    PacketKind.ATOMIC: "atomic",
}
#: Names are needed for every step, so they are built once.
_ROWS: dict[tuple[int, int], str] = {
    (kind, row): f"row.{row.name.lower()}.{name}"
    for kind, name in _ACCESS_NAMES.items()
    for row in TableRow
}
_PRELIMINARY: dict[tuple[int, int], str] = {
    (kind, check): f"preliminary.{check.name.lower()}.{name}"
    for kind, name in _ACCESS_NAMES.items()
    for check in Preliminary
}
_RACES: dict[tuple[int, int, bool], str] = {
    (kind, race, other): f"race.{race.name.lower()}.{name}.{'device' if other else 'block'}"
    for kind, name in _ACCESS_NAMES.items()
    for race in RaceKind
    for other in (False, True)
}


class Coverage(BinCounts):
    """Counts of every bin; an observer of ``racetrap.sim.cosim.scord.scoreboard.Scoreboard``.

    Parameters
    ----------
    params : ScordParams
        Configuration of the device.
    """

    def __init__(self, params: ScordParams):
        bins = BINS | LEFT_OUT_BINS if params.leaves_out else BINS
        self._has_generations = params.slot_generation_bits > 0
        super().__init__(bins | GENERATION_BINS if self._has_generations else bins, UNREACHABLE)
        self._params = params
        self.launch(Region(size_log2=params.min_region_log2))

    def launch(self, region: MonitoredRegion) -> None:
        """A kernel was launched with this region."""
        self._region = region
        self._number = [0] * self._params.banks
        self._last: dict[tuple[int, int], int] = {}
        self._barriers: Counter[tuple[int, int]] = Counter()
        self._starts: Counter[tuple[int, int]] = Counter()
        self.counts["launch"] += 1

    # Observer of a scoreboard ------------------------------------------------------------

    def transaction(
        self,
        sm: int,
        transaction: Transaction,
        before: list[tuple[int, LockState]],
        after: list[tuple[int, LockState]],
        packets: list[Packet],
    ) -> None:
        """A transaction with its warp's lock table before and after."""
        kind = transaction.kind
        self.counts[f"transaction.{TransactionKind(kind).name.lower()}"] += 1
        if kind == TransactionKind.FENCE:
            scope = Scope(transaction.scope).name.lower()
            for (_, old), (_, new) in zip(before, after, strict=True):
                self.counts[f"lock.fence_{scope}.{lock_change(old, new)}"] += 1
        elif kind == TransactionKind.ATOMIC and transaction.lock_mask:
            self._lock(transaction, before, after)
        elif kind == TransactionKind.BARRIER:
            self._barriers[sm, transaction.slot] += 1
            if self._barriers[sm, transaction.slot] % (1 << self._params.barrier_id_bits) == 0:
                self.counts["wrap.barrier_id"] += 1
        elif kind == TransactionKind.BLOCK_START:
            self._start(sm, transaction.slot)
            if before and not after:
                self.counts["lock.cleared"] += 1
        if len(packets) > 1:
            self.counts["transaction.several_packets"] += 1

    def left_out(self, transaction: Transaction) -> None:
        """A transaction that the access buffer skipped."""
        words = transaction.mask.bit_count()
        size = {1: "word", WORDS_PER_LINE: "line"}.get(words, "words")
        self.counts[f"access.left_out.{_ACCESS_NAMES[transaction.kind]}.{size}"] += 1

    def _lock(
        self,
        transaction: Transaction,
        before: list[tuple[int, LockState]],
        after: list[tuple[int, LockState]],
    ) -> None:
        if transaction.lock_mask.bit_count() > 1:
            self.counts["lock.several_words"] += 1
            return
        scope = Scope(transaction.scope).name.lower()
        if transaction.op == AtomicOp.CAS:
            if len(after) > len(before):
                outcome = "inserted"
            else:
                outcome = "already_there" if after == before else "oldest_left"
            self.counts[f"lock.cas_{scope}.{outcome}"] += 1
        elif transaction.op == AtomicOp.EXCH:
            gone = [entry for entry in before if entry not in after]
            outcome = gone[0][1].name.lower() if gone else "not_there"
            self.counts[f"lock.exch_{scope}.{outcome}"] += 1

    def _start(self, sm: int, slot: int) -> None:
        self._starts[sm, slot] += 1
        bits = self._params.slot_generation_bits
        if bits and self._starts[sm, slot] % (1 << bits) == 0:
            self.counts["wrap.generation"] += 1

    def step(self, bank: int, step: Step) -> None:
        """A step of a bank, in the bank's order."""
        packet, counts = step.packet, self.counts
        kind = packet.kind
        self._number[bank] += 1
        if kind == PacketKind.FENCE:
            scope = "device" if packet.scope else "block"
            counts[f"fence.{scope}"] += 1
            # A counter that an increment left at 0 has wrapped.
            if not (step.own_dev_fence_id if packet.scope else step.own_blk_fence_id):
                counts[f"wrap.fence_id.{scope}"] += 1
            return
        if step.row == TableRow.UNMONITORED:
            counts["access.unmonitored"] += 1
            return
        counts[_ROWS[kind, step.row]] += 1
        if step.preliminary:
            counts[_PRELIMINARY[kind, step.preliminary]] += 1
        if step.race or self._has_generations:
            self._parties(step)
        if step.tag_conflict:
            counts["access.tag_conflict"] += 1
        if step.read_error:
            counts["access.read_error"] += 1
        if step.before == step.after:
            counts["access.entry_unchanged"] += 1
        counts[self._line_bin(packet.word * WORD_BYTES)] += 1
        index, _ = self._region.locate(self._params, packet.word * WORD_BYTES)
        number = self._number[bank]
        last = self._last.get((bank, index))
        self._last[bank, index] = number
        if last is not None:
            counts[distance_bin(number - last)] += 1

    def _parties(self, step: Step) -> None:
        """The access and the entry's owner: a race, or two blocks of one slot."""
        packet, entry = step.packet, unpack_entry(self._params, step.before)
        kind, block = packet.kind, entry["block"]
        is_other = (block, entry["generation"]) != (packet.block, packet.generation)
        if step.race:
            self.counts[_RACES[kind, step.race, is_other]] += 1
        if is_other and block == packet.block and step.preliminary != Preliminary.INITIALIZATION:
            party = "same_warp" if entry["warp"] == packet.warp else "other_warp"
            self.counts[f"generation.{party}.{_ACCESS_NAMES[kind]}"] += 1

    def _line_bin(self, address: int) -> str:
        """Bin of the line of a monitored address: the first or the last of a region, or inside."""
        base, size = next(
            (base, size) for base, size in self._region.parts if base <= address < base + size
        )
        line, lines = (address - base) // LINE_BYTES, size // LINE_BYTES
        if line in (0, lines - 1):
            return f"region.{'last' if line else 'first'}_line"
        return "region.inner_line"

    def report(self, report: RaceReport) -> None:
        """A record read from the ring buffer."""
        self.counts["report.read"] += 1
