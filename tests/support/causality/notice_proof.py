"""Harnesses for proofs on notices: their places behind a bank's pipeline, and their order."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Array, Assume, Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.gpu.metadata_accessor import packet_with_entry
from tests.support.causality.settling_proof import keeps
from tests.support.formal.internals import OpenComponent
from tests.support.formal.proof import Case, Harness
from tests.support.planted_bugs import modules_with

PIPELINE, LANE = "causality/check_pipeline.py", "causality/check_lane.py"
ORDER = "causality/notice_order.py"


class LaneHarness(Harness):
    """A check lane with free packets, rows and epochs, whose notices are taken at any time.

    As the accessor has it, no packet comes in the cycle after the lane has held it.

    Parameters
    ----------
    params : CausalityParams
        Configuration.
    case : Case
        What is asked.
    """

    def __init__(self, params: CausalityParams, case: Case):
        self._params = params
        modules = modules_with([PIPELINE, LANE], case.bug)
        self._lane, self._latency = modules[LANE].CheckLane(params), modules[PIPELINE].LATENCY
        super().__init__(case, {
            "i_valid": In(1), "i_packet": In(packet_with_entry(params)), "i_ready": In(1),
            "i_fenced": In(1), "i_has_row": In(1),
            "i_row": In(struct_layout(params.row_write_layout)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        lane = self._lane
        inner = OpenComponent(lane)
        m.submodules.lane = inner.fragment
        was_held = Signal()
        m.d.sync += was_held.eq(lane.o_hold)
        m.d.comb += [
            lane.i.valid.eq(self.i_valid), lane.i.p.eq(self.i_packet),
            lane.i_row.valid.eq(self.i_has_row), lane.i_row.payload.eq(self.i_row),
            lane.i_fenced.eq(self.i_fenced), lane.o_report.ready.eq(self.i_ready),
            Assume(~self.i_valid | ~was_held),
        ]  # fmt: skip
        stages = [Signal(name=f"stage_{number}") for number in range(self._latency)]
        for stage, before in zip(stages, [self.i_valid, *stages], strict=False):
            m.d.sync += stage.eq(before)
        fifo = inner["notices.queue.level"]
        places = max(self._params.report_fifo_depth, self._latency + 3)
        put, got = Signal(), lane.o_report.valid & lane.o_report.ready
        m.d.comb += put.eq(lane.o_noticed)
        held = Signal(range(places + 2))
        m.d.sync += held.eq(held + put - got)
        rules = [
            lane.o_leaves == stages[-1],
            ~put | lane.o_leaves,
            # A notice finds a place, so that none is lost, and it comes out once.
            ~put | inner["notices.queue.w_rdy"],
            ~put | inner["notices.w_en"],
            held <= places,
            ~lane.o_report.valid | (held != 0),
            lane.o_idle == ((held == 0) & ~Cat(stages).any()),
        ]
        free = inner["free"]
        helps = [
            held == fifo,
            free + sum(stages) + held == places,
            *self._places(inner, held, places - 1),
        ]
        events = {
            "all-places-taken": held == places,
            "holds": lane.o_hold & Cat(stages).all(),
            "no-notice": lane.o_leaves & ~put & (held == 0),
            "goes-on-after-a-hold": self.i_valid & (held == places - 2),
        }
        self.state(m, rules, events, helps)
        return m

    def _places(self, inner: Any, held: Value, words: int) -> list[Value]:
        """Where the notices are, as in the proof of FIFOs."""
        level, produce, consume = (
            inner[f"notices.queue.{name}"] for name in ("inner_level", "produce", "consume")
        )
        end = consume + level
        return [
            held == level + self._lane.o_report.valid, level <= words, produce < words,
            consume < words, produce == Mux(end >= words, end - words, end),
            (level < words) | self._lane.o_report.valid,
        ]  # fmt: skip


class AgedFifo(wiring.Component):
    """What the proof of FIFOs leaves of one: payloads in order, the first offered when it likes.

    Beside each payload stands its age, counted since it was put in elsewhere.

    Parameters
    ----------
    shape : ShapeLike
        Shape of the payload.
    depth : int
        Payloads held.
    """

    def __init__(self, shape: Any, depth: int):
        self._depth = depth
        self.payloads = [Signal(shape, name=f"payload_{place}") for place in range(depth)]
        self.ages = [
            Signal(len(self.payloads[0]) + 1, name=f"age_{place}") for place in range(depth)
        ]
        self.level, self.shown = Signal(range(depth + 1), name="level"), Signal(name="shown")
        super().__init__({
            "i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape)), "o_empty": Out(1),
            "i_shows": In(1), "i_is_full": In(1), "i_ticks": In(1), "i_age": In(len(self.ages[0])),
        })  # fmt: skip

    def has(self, place: int) -> Value:
        """Whether there is a payload in a place."""
        return self.level > place

    def elaborate(self, platform):
        m = Module()
        shown = self.shown
        put, got = self.i.valid & self.i.ready, self.o.valid & self.o.ready
        m.d.comb += [
            self.i.ready.eq((self.level < self._depth - 1)
                            | ((self.level < self._depth) & ~self.i_is_full)),
            self.o.valid.eq((self.level != 0) & (shown | self.i_shows)),
            self.o.payload.eq(self.payloads[0]),
            self.o_empty.eq(self.level == 0),
        ]  # fmt: skip
        m.d.sync += [shown.eq(self.o.valid & ~self.o.ready), self.level.eq(self.level + put - got)]
        aged = [age + self.i_ticks for age in self.ages]
        new = self.i_age + self.i_ticks
        for place in range(self._depth):
            is_last = place == self._depth - 1
            payload, age = (
                (self.payloads[place], aged[place]) if is_last
                else (Mux(got, self.payloads[place + 1], self.payloads[place]),
                      Mux(got, aged[place + 1], aged[place]))
            )  # fmt: skip
            is_here = put & (self.level - got == place)
            m.d.sync += [
                self.payloads[place].eq(Mux(is_here, self.i.payload, payload)),
                self.ages[place].eq(Mux(is_here, new, age)),
            ]
        return m


class OrderHarness(Harness):
    """Order of notices between an interleaver and banks that check at any speed.

    No packet leaves a bank before its number is offered; a notice may come before it is told that
    its packet has left.

    Parameters
    ----------
    params : CausalityParams
        Configuration; more than one bank.
    stages, patience : int
        Packets beside those in FIFO and accessor, and times that others may overtake one, instead
        of what the hardware has.
    case : Case
        What is asked.
    """

    def __init__(self, params: CausalityParams, stages: int, patience: int, case: Case):
        self._params = params
        module = modules_with([ORDER], case.bug)[ORDER]
        module._STAGES, module._PATIENCE = stages, patience
        self._fifos = fifos = []

        def make(shape: Any, depth: int) -> AgedFifo:
            fifos.append(AgedFifo(shape, depth))
            return fifos[-1]

        module.StreamFifo = make
        self._order, self._bits = module.NoticeOrder(params), module.number_bits(params)
        banks, notice = params.banks, struct_layout(params.notice_layout)
        super().__init__(case, {
            **{f"i_{name}": In(banks)
               for name in ("taken", "leaves", "noticed", "offers", "ready")},
            "i_shows": In(2 * banks), "i_is_full": In(2 * banks),
            "i_notice": In(notice).array(banks),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        order, params = self._order, self._params
        self._inner = inner = OpenComponent(order)
        m.submodules.order = inner.fragment
        checked, noticed = self._fifos[0::2], self._fifos[1::2]
        ticks = self.i_taken.any()
        m.d.comb += [
            order.i_taken.eq(self.i_taken), order.i_leaves.eq(self.i_leaves),
            order.i_noticed.eq(self.i_noticed), Assume(~(order.o_hold & ticks)),
        ]  # fmt: skip
        for number, fifo in enumerate(self._fifos):
            age = 0 if fifo in checked else checked[number // 2].ages[0]
            m.d.comb += [
                fifo.i_shows.eq(self.i_shows[number]), fifo.i_is_full.eq(self.i_is_full[number]),
                fifo.i_ticks.eq(ticks), fifo.i_age.eq(age),
            ]  # fmt: skip
        rules, helps, overtakes = [], [], []
        now = inner["now"]
        for bank in range(params.banks):
            source, sink = order.i_notice[bank], order.o_notice[bank]
            first, oldest = noticed[bank], inner[f"numbers_{bank}.o_oldest"]
            m.d.comb += [
                source.valid.eq(self.i_offers[bank]), source.payload.eq(self.i_notice[bank]),
                sink.ready.eq(self.i_ready[bank]), keeps(m, source, f"notice_{bank}"),
                Assume(~self.i_leaves[bank] | checked[bank].o.valid),
                Assume(~(self.i_leaves[bank] & self.i_noticed[bank]) | first.i.ready),
            ]  # fmt: skip
            passes = Signal(name=f"passes_{bank}")
            m.d.comb += passes.eq(sink.valid & sink.ready)
            older = [
                fifo.has(place) & (fifo.ages[place] > first.ages[0])
                for fifo in self._fifos for place in range(len(fifo.ages))
            ]  # fmt: skip
            rules += [
                # A notice passes when nothing older is in flight, once and unchanged.
                ~sink.valid | ~Cat(older).any(),
                ~sink.valid | (source.valid & (first.level != 0)),
                Value.cast(sink.payload) == Value.cast(source.payload),
                passes == (source.valid & source.ready),
                passes == (first.o.valid & first.o.ready),
                # An interleaver that is not held finds a place for the packet's number.
                order.o_hold | checked[bank].i.ready,
            ]
            overtakes.append(first.has(0) & ~sink.valid & source.valid & first.o.valid)
            helps += self._ages(bank, now, oldest, checked[bank], noticed[bank])
        rules.append(order.o_idle == ~Cat(fifo.level != 0 for fifo in self._fifos).any())
        held = Signal()
        m.d.sync += held.eq(order.o_hold)
        events = {
            "waits-for-another-bank": overtakes[0] & order.o_notice[1].valid,
            "same-number": Cat(order.o_notice[bank].valid for bank in range(2)).all(),
            "oldest-too-old": order.o_hold & Cat(each.i.ready for each in checked).all(),
            "goes-on": held & ~order.o_hold & ticks,
        }
        self.state(m, rules, events, helps)
        return m

    def _ages(self, bank: int, now: Value, oldest: Value, checked, noticed) -> list[Value]:
        """Numbers are ages, and the oldest one that is told is not above any of the bank."""
        half = 1 << self._bits - 1
        age = (now - oldest)[: self._bits]
        places = [*((noticed, place) for place in range(len(noticed.ages))),
                  *((checked, place) for place in range(len(checked.ages)))]  # fmt: skip
        helps = [age < half]
        for fifo, place in places:
            has, mine = fifo.has(place), fifo.ages[place]
            helps += [
                ~has | (fifo.payloads[place] == (now - mine)[: self._bits]),
                ~has | (mine <= age),
                ~has | (mine != 0),
            ]
        for fifo in (noticed, checked):
            helps += [
                fifo.level <= len(fifo.ages),
                ~fifo.shown | (fifo.level != 0),
                *(
                    ~fifo.has(place + 1) | (fifo.ages[place] > fifo.ages[place + 1])
                    for place in range(len(fifo.ages) - 1)
                ),
            ]
        newest = Array(noticed.ages)[(noticed.level - 1)[: len(noticed.level)]]
        helps.append((noticed.level == 0) | (checked.level == 0) | (newest > checked.ages[0]))
        return helps
