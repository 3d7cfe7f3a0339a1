"""Runs a collector beside the golden one, on what banks and trackers of a random trace say."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Value

from racetrap.golden_model.causality.causality import Causality
from racetrap.golden_model.causality.collector import Collector as GoldenCollector
from racetrap.golden_model.causality.detector_bank import Step, concerns_collector
from racetrap.golden_model.causality.packets import (
    HELD,
    CollectorEvent,
    FenceOrder,
    Marker,
    PacketKind,
    ResumeKind,
    TransactionKind,
)
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.causality.report import RaceReport
from racetrap.golden_model.events import lanes_of
from racetrap.golden_model.gpu.region import bank_of
from racetrap.golden_model.trace import Trace
from racetrap.rtl.causality.collector import Collector
from racetrap.verdict.gpu.fit import region_with_window
from tests.support.causality.records import table_values
from tests.support.rtl.streams import get, never_idle, pulse, put, random_idle, shared, simulate

_KIND = TransactionKind
_WITHOUT_ANSWER = (_KIND.IF, _KIND.WARP_BARRIER)
_OF_BLOCK = (_KIND.BLOCK_START, _KIND.BLOCK_END, _KIND.BARRIER, _KIND.PARTIAL_BARRIER)


@dataclass
class Item:
    """What a bank or an SM tells the collector; a wrap of clocks if it is neither, or only time
    until all before it is taken.

    ``warps`` are warp slots of the GPU that a marker concerns.
    """

    step: Step | None = None
    marker: Marker | None = None
    bank: int = 0
    warps: tuple[int, ...] = ()
    rests: bool = False


class _Recorded(Causality):
    """The golden model, with what its collector is told."""

    def parts(self, region: Any) -> Any:
        self.items: list[Item] = []
        return super().parts(region)

    def transact(self, sm: int, transaction: Any) -> list[Step]:
        steps = super().transact(sm, transaction)
        for step in steps:
            row = self.collector.rows[step.packet.warp]
            if concerns_collector(step, row):
                bank = bank_of(self._params, step.packet.word)
                self.items.append(Item(step=step, bank=bank))
        return steps

    def _wrap_clocks(self) -> None:
        wraps = self.counters.get("clock_wraps", 0)
        super()._wrap_clocks()
        if self.counters.get("clock_wraps", 0) > wraps:
            self.items.append(Item())

    def settle(self, sm: int, marker: Marker, transaction: Any) -> Any:
        warps = tuple(self.collector.warps_of(marker.block)) if self._is_of(marker) else ()
        races = super().settle(sm, marker, transaction)
        if marker.kind in (_KIND.ELSE, _KIND.FI):
            return races
        if marker.kind == _KIND.BLOCK_START:
            sm = self._params.sm_of_block(marker.block)
            warps = tuple(self._params.warp_id(sm, warp) for warp in lanes_of(marker.warps))
            marker = marker._replace(clock=self.collector.carried[warps[0]].clock)
        self.items.append(Item(marker=marker, warps=warps or (marker.warp,)))
        return races

    def _is_of(self, marker: Marker) -> bool:
        return marker.kind in _OF_BLOCK and marker.kind != _KIND.BLOCK_START


def items_of(trace: Trace, params: CausalityParams) -> list[Item]:
    """All that the collector is told, in the golden model's order."""
    model = _Recorded(params, region_with_window(trace, params))
    for event in trace:
        model.run(event)
    return model.items


class CollectorBench:
    """A collector, banks and SMs that are told their items with random waiting.

    Parameters
    ----------
    params : CausalityParams
        Configuration.
    launches : list of list of Item
        Items of each launch.
    seed : int or str or None
        Of the waiting; without one there is none.
    in_order : bool
        Whether an item comes only when the one before it has been taken.
    """

    def __init__(self, params, launches, seed=None, in_order=False, component=Collector):
        self.params, self.launches, self.in_order = params, launches, in_order
        self.dut = shared(component, params)
        self._seed = seed
        self.golden = GoldenCollector(params)
        self.sent = defaultdict(deque)  # by (is_marker, source): items that are under way
        self.rows, self.resumes = [], defaultdict(list)  # what is due
        self.reports: list[int] = []
        self.cycles: dict[str, list[int]] = defaultdict(list)
        self.taken = self._handed = 0
        self._queues = defaultdict(deque)  # by (is_marker, source): what it is to send
        self._blocked = dict.fromkeys(range(params.sm_count), False)
        self.counts: Counter[str] = Counter()

    def idle(self, name, longest=4):
        """Idle cycles of a stream."""
        if self._seed is None:
            return never_idle
        return random_idle(f"{self._seed} {name}", longest=longest)

    # What comes in ----------------------------------------------------------------------

    def _word(self, item):
        params = self.params
        if item.marker:
            values = item.marker._asdict()
            mask = (1 << params.warps_per_sm) - 1
            return params.marker_layout.pack({**values, "warps": values["warps"] & mask})
        step = item.step
        values = {name: getattr(step, name) for name in params.notice_layout.fields}
        before = params.entry_layout.unpack(step.before.pack(params))
        return params.notice_layout.pack(
            {**values, "packet": step.packet._asdict(), "before": before}
        )

    def _mark(self, block):
        fields = self.params.packet_layout.fields
        packet = dict.fromkeys(fields, 0) | {"kind": PacketKind.MARK, "block": block}
        empty = self.params.entry_layout.unpack(0)
        values = dict.fromkeys(self.params.notice_layout.fields, 0)
        return self.params.notice_layout.pack({**values, "packet": packet, "before": empty})

    async def _drive(self, ctx):
        """Hand out items in order; an SM goes on when its marker is settled."""
        dut = self.dut
        ctx.set(dut.i_arrives, -(self._seed is None))
        await self._rest(ctx)
        for launch in self.launches:
            await pulse(ctx, dut.i_clear)
            self.golden.clear()
            for item in launch:
                if item.step or item.marker:
                    await self._hand(ctx, item)
                    continue
                await self._rest(ctx)
                if not item.rests:
                    await self._wrap(ctx)
            await self._rest(ctx)

    async def _wrap(self, ctx):
        """All SMs hold; then an epoch begins."""
        params, wraps = self.params, self.counts["clock_wraps"]
        self._tell(ResumeKind.HOLD)
        held = dict.fromkeys(params.marker_layout.fields, 0) | {"kind": HELD}
        for sm in range(params.sm_count):
            for bank in range(params.banks):
                mark = self._mark(params.block_id(sm, 0))
                self._queues[False, bank].append((None, mark))
            self._queues[True, sm].append((None, params.marker_layout.pack(held)))
        while self.counts["clock_wraps"] == wraps:
            await ctx.tick()
        await self._rest(ctx)

    def _tell(self, kind):
        """All SMs are told something."""
        for sm in range(self.params.sm_count):
            values = {"kind": kind, "warp": 0, "clock": 0, "sc": 0, "is_last": 0}
            self.resumes[sm].append(self.params.resume_layout.pack(values))

    async def _hand(self, ctx, item):
        sm = self.params.sm_of_block((item.marker or item.step.packet).block)
        while self._blocked[sm]:
            await ctx.tick()
        if item.marker and item.marker.kind not in _WITHOUT_ANSWER:
            self._blocked[sm] = True
            for bank in range(self.params.banks):
                self._queues[False, bank].append((None, self._mark(item.marker.block)))
        source = (True, sm) if item.marker else (False, item.bank)
        self._queues[source].append((item, self._word(item)))
        self._handed += 1
        while self.in_order and self._handed > self.taken:
            await ctx.tick()

    async def _rest(self, ctx):
        """Wait until all is taken, and nothing is held."""
        await ctx.tick()
        while self.taken < self._handed or not ctx.get(self.dut.o_idle):
            await ctx.tick()

    def _feed(self, source, stream):
        async def testbench(ctx):
            idle, queue = self.idle(f"source {source}"), self._queues[source]
            while True:
                for _ in range(idle()):
                    await ctx.tick()
                if not queue:
                    await ctx.tick()
                    continue
                item, word = queue.popleft()
                if item:
                    self.sent[source].append(item)
                await put(ctx, stream, word)

        return testbench

    # What goes out ----------------------------------------------------------------------

    def _settle(self, item):
        """Let the golden collector take an item; its races."""
        golden, marker = self.golden, item.marker
        if item.step:
            return golden.meet(item.step)
        carried = golden.carried[marker.warp]
        kind, races = marker.kind, []
        if kind != _KIND.BLOCK_START:
            marker = marker._replace(clock=carried.clock)
        waiting = item.warps
        if kind == _KIND.BLOCK_START:
            golden.start_block(marker.block, item.warps, marker.clock)
        elif kind == _KIND.BLOCK_END:
            races = golden.end_block(marker.block)
        elif kind == _KIND.BARRIER:
            golden.barrier(marker.block)
        elif kind == _KIND.PARTIAL_BARRIER:
            golden.partial_barrier(marker)
            waiting = [each for n, each in enumerate(item.warps) if marker.warps >> n & 1]
            if not waiting:
                self._answer(marker, item.warps[-1], is_last=True)
        elif kind == _KIND.FENCE:
            races = golden.fence(marker)
        elif kind == _KIND.BEGIN:
            golden.begin_release(marker)
        elif kind == _KIND.END:
            golden.end_operation(marker)
        elif kind == _KIND.ARRIVE:
            golden.arrive(marker)
        else:
            golden.advance(marker)
        self._expect(marker, waiting)
        return races

    def _expect(self, marker, waiting):
        params, kind = self.params, marker.kind
        if kind in _WITHOUT_ANSWER:
            return
        met = kind in (_KIND.BARRIER, _KIND.PARTIAL_BARRIER)
        acquires = kind in (_KIND.FENCE, _KIND.END) and FenceOrder(marker.order).acquires
        for warp in waiting:
            row = self.golden.rows[warp]
            if met or acquires or kind == _KIND.BLOCK_START:
                values = {name: getattr(row, name) for name in params.row_layout.fields}
                values["know"] = table_values(params, row.know, params.known)
                self.rows.append(params.row_write_layout.pack({
                    "warp": warp, "begins": kind == _KIND.BLOCK_START, "met": met, "epoch": 0,
                    "fenced": self.golden.has_fenced(), "row": values,
                }))  # fmt: skip
            self._answer(marker, warp, warp == waiting[-1])

    def _answer(self, marker, warp, is_last):
        """A warp goes on; if none has waited, the last one of the block."""
        params, carried = self.params, self.golden.carried[warp]
        self.resumes[params.sm_of_block(marker.block)].append(params.resume_layout.pack({
            "kind": ResumeKind.WARP, "warp": warp & (1 << params.warp_bits) - 1,
            "clock": carried.clock, "sc": carried.sc, "is_last": is_last,
        }))  # fmt: skip

    async def _watch(self, ctx):
        """Let the golden collector follow what is taken, and count pulses."""
        dut, params = self.dut, self.params
        begun, cycle = None, 0
        while True:
            _, _, trace, counts = await ctx.tick().sample(
                Value.cast(dut.o_trace), Value.cast(dut.o_counts)
            )
            self._count(counts)
            cycle += 1
            kind, source = trace >> 1 & 3, trace >> 3
            if not trace & 1:
                continue
            if kind == CollectorEvent.EPOCH:
                self._begin_epoch()
                continue
            if begun is not None:
                self.cycles[begun[0]].append((cycle - begun[1], begun[2]))
            is_marker = kind == CollectorEvent.MARKER
            item = self.sent[is_marker, source].popleft()
            self.taken += 1
            begun = (_KIND(item.marker.kind).name if is_marker else "notice", cycle, self.taken)
            was_full = self.golden.latest >= params.last_clock
            races = self._settle(item)
            if self.golden.latest >= params.last_clock and not was_full:
                self._tell(ResumeKind.FULL)
            for race in races:
                report = RaceReport.from_race(params, race, bank_of(params, race.step.packet.word))
                values = {name: getattr(report, name) for name in RaceReport.__slots__}
                self.reports.append(
                    params.report_layout.pack({**values, "reserved": 0, "reserved_end": 0})
                )

    def _begin_epoch(self):
        params = self.params
        assert self.golden.latest >= params.last_clock
        self.golden.begin_epoch()
        values = dict.fromkeys(params.row_write_layout.fields, 0)
        row = params.row_layout.unpack(0)
        self.rows.append(params.row_write_layout.pack({**values, "epoch": 1, "row": row}))
        self._tell(ResumeKind.EPOCH)

    def _count(self, counts):
        for place, name in enumerate(self.dut.o_counts.shape().members):
            self.counts[name] += counts >> place & 1

    def _take(self, name, number, stream, due, then=None):
        """Take words, and compare each with what is due."""
        layout = getattr(self.params, f"{name}_layout")

        async def testbench(ctx):
            # Rows and reports are rare: a short pause would be over before the next one.
            idle, count = self.idle(f"{name} {number}", 4 if name == "resume" else 40), 0
            while True:
                for _ in range(idle()):
                    await ctx.tick()
                got = _meant(layout.unpack(await get(ctx, stream)))
                assert count < len(due), f"{name} {count} is one too many: {got}"
                expected = _meant(layout.unpack(due[count]))
                assert got == expected, f"{name} {count}: {got}, not {expected}"
                count += 1
                self.left[name, number] = due, count
                if then:
                    await then(ctx, got)

        return testbench

    def _go_on(self, sm):
        async def then(ctx, resume):
            self._blocked[sm] &= not resume.get("is_last", False)

        return then

    def _arrive(self, bank):
        """The row is in force there, some time later; at once without waiting."""
        idle = self.idle(f"arrives {bank}")
        if self._seed is None:
            return None

        async def then(ctx, row):
            for _ in range(idle()):
                await ctx.tick()
            ctx.set(self.dut.i_arrives[bank], 1)
            await ctx.tick()
            ctx.set(self.dut.i_arrives[bank], 0)

        return then

    def run(self, cycles=100_000):
        """Run it, and compare all that comes out with what is due."""
        dut = self.dut
        self.left = {}
        simulate(
            dut, self._drive,
            background=[
                self._watch,
                *(self._feed((False, n), port) for n, port in enumerate(dut.i_notice)),
                *(self._feed((True, n), port) for n, port in enumerate(dut.i_marker)),
                *(self._take("resume", n, port, self.resumes[n], self._go_on(n))
                  for n, port in enumerate(dut.o_resume)),
                *(self._take("row_write", n, port, self.rows, self._arrive(n))
                  for n, port in enumerate(dut.o_row)),
                self._take("report", 0, dut.o_report, self.reports),
            ],
            cycles=cycles,
        )  # fmt: skip
        for name, (due, count) in self.left.items():
            assert count == len(due), f"{len(due) - count} of {name} are missing"
        due = {name: self.golden.counters.get(name, 0) for name in self.counts}
        assert dict(self.counts) == due


def _meant(values):
    """What has a meaning of a row or a resume."""
    if values.get("epoch") or values.get("kind"):
        return {name: values[name] for name in ("epoch", "kind") if name in values}
    return values
