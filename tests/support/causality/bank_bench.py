"""Runs a detector bank of causality beside the golden one, with rows, markers and epochs."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import NamedTuple

from racetrap.golden_model.causality.detector_bank import DetectorBank as GoldenBank
from racetrap.golden_model.causality.detector_bank import Step, concerns_collector
from racetrap.golden_model.causality.entry import Entry
from racetrap.golden_model.causality.packets import Packet, PacketKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.causality.warp_row import WarpRow
from racetrap.golden_model.gpu.region import Region
from racetrap.rtl.causality.detector_bank import DetectorBank
from tests.support.causality.encounters import Encounters, pack_row
from tests.support.rtl.streams import put, shared
from tests.support.scord.bank_bench import BankBench


class RowWrite(NamedTuple):
    """A row from the collector: values of its fields, what the warp's lanes have done, and whether
    a warp has passed a ``fence.sc``."""

    warp: int
    row: WarpRow
    begins: int = 0
    met: int = 0
    fenced: int = 0


class NewEpoch(NamedTuple):
    """A clock would wrap."""


#: What happens to a bank, in order.
Item = Packet | RowWrite | NewEpoch


class CausalityBankBench(BankBench):
    """A bank with its memory; a list of items happens to it and to the golden bank.

    A row is written when the last packet of its warp is done.
    """

    detector = DetectorBank

    def _parts(self):
        params = self.params
        count = params.sm_count << params.warp_bits
        self.rows = [WarpRow(params, Counter()) for _ in range(count)]
        self._fenced = False
        self._done = self._rows_done = 0
        self.expected: list[int] = []
        return shared(self.detector, params), GoldenBank(
            params, self.region, self.rows, lambda: self._fenced
        )

    def _report_of(self, record: int) -> int:
        return record

    # Running ----------------------------------------------------------------------------

    def _monitors(self):
        return [self._watch_done]

    async def _watch_done(self, ctx) -> None:
        done = self.dut.o_done
        while True:
            *_, valid, packet, row = await ctx.tick().sample(done.valid, done.p.packet, done.p.row)
            self._done += valid & packet
            self._rows_done += valid & row

    async def play(self, ctx, packets) -> None:
        last: Counter[int] = Counter()
        sent, has_fenced = 0, 0
        for item in packets:
            if isinstance(item, Packet):
                sent += 1
                last[item.warp] = sent
                await super().play(ctx, [item])
                continue
            # The first fence counts for packets behind it, of all warps.
            is_of_warp = isinstance(item, RowWrite) and item.fenced == has_fenced
            has_fenced |= isinstance(item, RowWrite) and item.fenced
            due = last[item.warp] if is_of_warp else sent
            while self._done < due:
                await ctx.tick()
            rows = self._rows_done
            await put(ctx, self.dut.i_row, self._packed(item))
            await ctx.tick()
            assert self._rows_done == rows + 1

    def _packed(self, item: RowWrite | NewEpoch) -> int:
        params, layout = self.params, self.params.row_write_layout
        values = dict.fromkeys(layout.fields, 0)
        if isinstance(item, RowWrite):
            row = params.row_layout.unpack(pack_row(params, item.row))
            values |= item._asdict() | {"row": row}
        else:
            values |= {"epoch": 1, "row": params.row_layout.unpack(0)}
        packed: int = layout.pack(values)
        return packed

    # Checking ---------------------------------------------------------------------------

    def check(self, packets) -> list[Step]:
        """Everything that left the bank is what the golden bank says; the golden steps."""
        params, layout = self.params, self.params.step_layout
        got = [layout.unpack(step) for _, step in self.traced]
        steps: list[Step] = []
        self._fenced = False
        for item in packets:
            if isinstance(item, Packet) and item.kind <= PacketKind.ATOMIC:
                assert len(steps) < len(got)
                one = got[len(steps)]
                steps.append(self._step(item, bool(one["read_error"])))
                assert one == self._values(steps[-1]), f"step {len(steps) - 1}"
            else:
                self._happens(item)
        assert len(got) == len(steps)
        assert self.reports == self.expected
        errors = sum(write.is_error for write in self.memory.writes)
        counts = {name: count for name, count in self.counts.items() if count}
        counts.pop("stall_cycles", None)
        assert counts.pop("metadata_write_errors", 0) == errors
        # What a packet takes from the one before it is no memory's error.
        wrong = sum(read.is_error for read in self.memory.reads)
        assert sum(one["read_error"] for one in got) == wrong
        assert counts == {name: count for name, count in self.model.counters.items() if count}
        self._check_memory()
        assert params.entry_bytes == self.memory.entry_bytes
        return steps

    def _values(self, step: Step) -> dict:
        before, after = (entry.pack(self.params) for entry in (step.before, step.after))
        values = step._asdict() | {"packet": step.packet._asdict()}
        return values | {"before": before, "after": after}

    def _step(self, packet: Packet, read_error: bool) -> Step:
        row = self.rows[packet.warp]
        step = self.model.step(packet, read_error)
        if concerns_collector(step, row):
            self._expect(packet, self._values(step))
        return step

    def _expect(self, packet: Packet, values: dict) -> None:
        layout = self.params.notice_layout
        entry = self.params.entry_layout.unpack(values.get("before", 0))
        known = {"packet": packet._asdict(), "before": entry}
        self.expected.append(
            layout.pack(dict.fromkeys(layout.fields, 0) | {
                name: values[name] for name in layout.fields if name in values
            } | known)
        )  # fmt: skip

    def _happens(self, item: Item) -> None:
        if isinstance(item, Packet):
            row = self.rows[item.warp]
            if item.kind == PacketKind.IF:
                row.begin_branch(item.lanes, item.clock)
            elif item.kind == PacketKind.ELSE:
                row.swap_branch()
            elif item.kind == PacketKind.FI:
                row.end_branch()
            else:
                row.warp_barrier(item.lanes, item.clock)
        elif isinstance(item, RowWrite):
            row = self.rows[item.warp]
            for name in ("start", "bar", "own", "lanes_before", "know"):
                setattr(row, name, getattr(item.row, name))
            if item.begins:
                row.levels, row.depth = [], 0
            if item.begins or item.met:
                row.records = []
            self._fenced |= bool(item.fenced)
        else:
            self._begin_epoch()

    def _begin_epoch(self) -> None:
        self.model.begin_epoch()
        for row in self.rows:
            row.know.clear()
            row.start, row.lanes_before, row.bar, row.own = 1, 0, 0, 0
            row.records = []
            row.levels = [level._replace(clock=0) for level in row.levels]

    def _entry_in_memory(self, index: int) -> int:
        return self.model.entries.get(index, Entry()).pack(self.params)


class RandomItems:
    """What may happen to a bank: accesses of few warps to few entries, and all else between them.

    Parameters
    ----------
    params : CausalityParams
        Configuration.
    region : Region
        Monitored region.
    rng : Random
        Source of all choices.
    entries : int
        Entries that are accessed.
    others : float
        Share of items that are no accesses.
    """

    def __init__(
        self, params: CausalityParams, region: Region, rng: Random, entries: int = 3,
        others: float = 0.15,
    ) -> None:  # fmt: skip
        self._params, self._region, self._rng, self._others = params, region, rng, others
        self._encounters = Encounters(params, rng)
        self._indices = [rng.randrange(8) * params.banks for _ in range(entries)]
        count = params.sm_count << params.warp_bits
        self._rows = [WarpRow(params, Counter()) for _ in range(count)]
        self._has_fenced = 0

    def make(self, count: int) -> list[Item]:
        """So many random items or some more."""
        items: list[Item] = []
        while len(items) < count:
            choice = self._rng.random()
            if choice < self._others / 3:
                items += self._row_write()
            elif choice < self._others:
                items += self._update()
            else:
                items.append(self._access())
        return items

    def _packet(self, word: int) -> Packet:
        """A packet of a warp, which is always of the same block: its clocks are no older one's."""
        packet, params = self._encounters.packet(word), self._params
        sm, warp = divmod(packet.warp, 1 << params.warp_bits)
        return packet._replace(block=params.block_id(sm, warp % params.blocks_per_sm))

    def _access(self) -> Packet:
        params, rng, region = self._params, self._rng, self._region
        tag = rng.randrange(params.ratio) if rng.random() < 0.15 else 0
        word = region.data_base // 4 + rng.choice(self._indices)
        word += tag * (region.entries(params) >> (params.shared_bytes > 0))
        if rng.random() < 0.05:
            word ^= 1 << rng.randrange(region.size_log2 - 2, params.word_bits)
        packet = self._packet(word)
        if params.shared_bytes and rng.random() < 0.2:
            word = rng.choice(self._indices) if rng.random() < 0.9 else word
            packet = packet._replace(shared=1, word=word)
        return packet

    def _update(self) -> list[Item]:
        """A branch or a barrier of some lanes, and accesses of that warp close behind it."""
        rng = self._rng
        packet = self._packet(rng.getrandbits(self._params.word_bits))
        kind = rng.choice((PacketKind.IF, PacketKind.IF, PacketKind.ELSE, PacketKind.FI))
        row = self._rows[packet.warp]
        packet = packet._replace(clock=max(packet.clock, row.lanes_before))
        if self._params.independent_threads:
            kind = PacketKind.WARP_BARRIER
            row.warp_barrier(packet.lanes, packet.clock)
        change, (ahead, behind) = packet._replace(kind=kind), (self._access(), self._access())
        behind = behind._replace(block=packet.block, warp=packet.warp)
        return [change, *([ahead] * rng.getrandbits(1)), behind]

    def _row_write(self) -> list[Item]:
        """Accesses of other warps, and a row."""
        rng, encounters = self._rng, self._encounters
        warp = self._packet(0).warp
        between = (self._access() for _ in range(rng.randrange(6)))
        new, old = encounters.row(), self._rows[warp]
        begins, met = rng.choice(((0, 0), (0, 0), (0, 1), (1, 0)))
        if not begins:
            # What the collector knows of the order of lanes only grows.
            new.lanes_before = max(new.lanes_before, old.lanes_before)
        old.lanes_before = new.lanes_before
        if begins or met:
            old.records = []
        return [
            *(packet for packet in between if packet.warp != warp),
            RowWrite(warp, new, begins, met, self._has_fenced),
        ]

    def fence(self) -> Item:
        """A warp passes a ``fence.sc``; its row says so, and all behind it do."""
        self._has_fenced = 1
        return self._row_write()[-1]

    def new_epoch(self) -> NewEpoch:
        """A clock would wrap."""
        for row in self._rows:
            row.lanes_before, row.records = 0, []
        return NewEpoch()
