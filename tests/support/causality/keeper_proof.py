"""Harness for a proof on the mark keeper: one mark, any mark, watched until it is a notice."""

from __future__ import annotations

from amaranth.hdl import Array, Assume, Cat, Module, Mux, Signal, Value
from amaranth.lib.wiring import In

from racetrap.golden_model.causality.packets import PacketKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.common.layout import struct_layout
from tests.support.causality.settling_proof import keeps
from tests.support.formal.internals import OpenComponent, OpenMemory
from tests.support.formal.proof import Case, Harness
from tests.support.planted_bugs import modules_with

KEEPER = "causality/mark_keeper.py"


class KeeperHarness(Harness):
    """A mark keeper before a bank that checks at any speed, with any notices.

    What the bank has done is told at any time, before or after a notice comes.  An SM sends no
    mark while it has one here.

    Parameters
    ----------
    params : CausalityParams
        Configuration: two SMs.
    packets : int
        Packets in flight, instead of what the hardware has.
    case : Case
        What is asked.
    """

    def __init__(self, params: CausalityParams, packets: int, case: Case):
        self._params, self._packets = params, packets
        module = modules_with([KEEPER], case.bug)[KEEPER]
        module.Memory, module.packets_in_flight = OpenMemory, lambda params: packets
        self._keeper = module.MarkKeeper(params)
        super().__init__(case, {
            **{f"i_{name}": In(1)
               for name in ("valid", "ready", "leaves", "noticed", "offers", "takes", "watch")},
            "i_packet": In(struct_layout(params.segment_layout)),
            "i_notice": In(struct_layout(params.notice_layout)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        dut, params, packets = self._keeper, self._params, self._packets
        inner = OpenComponent(dut)
        m.submodules.keeper = inner.fragment
        in_bank, pending = Signal(range(packets + 1)), Signal(range(packets + 1))
        held = Signal(params.sm_count)
        given, source, sink = dut.i_packet, dut.i_notice, dut.o_notice
        is_mark = given.payload.kind == PacketKind.MARK
        sm = given.payload.block >> params.slot_bits
        m.d.comb += [
            given.valid.eq(self.i_valid), given.payload.eq(self.i_packet),
            dut.o_packet.ready.eq(self.i_ready),
            dut.i_leaves.eq(self.i_leaves), dut.i_noticed.eq(self.i_noticed),
            source.valid.eq(self.i_offers), source.payload.eq(self.i_notice),
            sink.ready.eq(self.i_takes), keeps(m, given, "packet"), keeps(m, source, "notice"),
            Assume(~self.i_leaves | (in_bank != 0)),
            Assume(source.payload.packet.kind != PacketKind.MARK),
            Assume(~(given.valid & is_mark) | ~held.bit_select(sm[0], 1)),
        ]  # fmt: skip
        enters = dut.o_packet.valid & dut.o_packet.ready
        notes, taken = self.i_leaves & self.i_noticed, source.valid & source.ready
        put = given.valid & given.ready & is_mark
        passes = sink.valid & sink.ready
        got = passes & (sink.payload.packet.kind == PacketKind.MARK)
        marks = sum(held)
        m.d.sync += [
            in_bank.eq(in_bank + enters - self.i_leaves), pending.eq(pending + notes - taken),
            held.eq((held | Mux(put, 1 << sm[0], 0))
                    & ~Mux(got, 1 << (sink.payload.packet.block >> params.slot_bits)[0], 0)),
        ]  # fmt: skip
        # Of the mark that is watched: packets, notices and marks that come before it.
        watching, block = Signal(), Signal(params.block_bits)
        ahead, notices, marks_ahead = (
            Signal.like(in_bank, name="ahead"), Signal.like(pending, name="notices_ahead"),
            Signal(range(params.sm_count + 1), name="marks_ahead"),
        )  # fmt: skip
        is_next = watching & (marks_ahead == 0)
        with m.If(put & self.i_watch & ~watching):
            m.d.sync += [
                watching.eq(1), block.eq(given.payload.block), ahead.eq(in_bank - self.i_leaves),
                notices.eq(pending + notes - taken), marks_ahead.eq(marks - got),
            ]  # fmt: skip
        with m.Else():
            counts = self.i_leaves & (ahead != 0)
            m.d.sync += [
                watching.eq(watching & ~(got & is_next)),
                ahead.eq(ahead - counts),
                notices.eq(notices + (counts & notes) - (taken & (notices != 0))),
                marks_ahead.eq(marks_ahead - (got & (marks_ahead != 0))),
            ]
        # Of a mark's notice these fields alone have a meaning.
        meant = Cat(sink.payload.packet.kind, sink.payload.packet.block)
        waits, before = Signal(), Signal.like(meant)
        m.d.sync += [waits.eq(sink.valid & ~sink.ready), before.eq(meant)]
        rules = [
            ~(got & is_next)
            | ((ahead == 0) & (notices == 0) & (sink.payload.packet.block == block)),
            ~got | (marks != 0),
            dut.o_idle == ((marks == 0) & (in_bank == 0) & (pending == 0)),
            in_bank + pending <= packets,
            taken == (passes & ~got),
            # A notice that comes before its packet is known to be done waits.
            ~taken | (pending != 0),
            ~taken | (Value.cast(sink.payload) == Value.cast(source.payload)),
            ~waits | (sink.valid & (meant == before)),
            ~dut.o_packet.valid | (given.valid & ~is_mark),
            enters == (given.valid & given.ready & ~is_mark),
            Value.cast(dut.o_packet.payload) == Value.cast(given.payload),
            # A mark that nothing is before is offered.
            ~(is_next & (ahead == 0) & (pending == 0)) | sink.valid,
        ]
        helps = self._helps(inner, in_bank, pending, held, (watching, block, ahead, notices,
                                                            marks_ahead))  # fmt: skip
        overtaken = Signal(range(8))
        m.d.sync += overtaken.eq(Mux(is_next | (marks_ahead != 0), overtaken + enters, 0))
        events = {
            "behind-packets-and-notices": is_next & (ahead != 0) & (notices != 0),
            "in-an-empty-bank": got & is_next & (in_bank == 0),
            "behind-another-mark": watching & (marks_ahead != 0) & (ahead == 0),
            "later-packets-meanwhile": got & is_next & (overtaken > 2),
            "notice-known-late": source.valid & (pending == 0) & (in_bank != 0),
        }
        self.state(m, rules, events, helps)
        return m

    def _helps(self, inner, in_bank, pending, held, watched) -> list[Value]:
        """What the keeper's counters say of the bank, and its memory of the mark."""
        watching, block, ahead, notices, marks_ahead = watched
        entered, left, come, gone, counted, before = (
            inner[name] for name in ("entered", "left", "come", "gone", "is_counted", "before")
        )
        bits = len(left)
        layout = {"block": self._params.block_bits}
        rows = Array(inner[f"marks.row_{number}"] for number in range(2))
        marks = sum(held)

        def row(place: Value) -> tuple[Value, Value]:
            word = rows[(gone + place)[0]]
            return word[: layout["block"]], word[layout["block"] :]

        helps = [
            (entered - left)[:bits] == in_bank,
            (come - gone)[: len(come)] == marks,
            inner["in_flight"] == in_bank + pending,
            inner["noticed"] == pending, ~counted | (before <= pending),
            ~counted | (marks != 0),
            ~watching | (marks > marks_ahead),
            watching | ((ahead == 0) & (notices == 0) & (marks_ahead == 0)),
            notices <= pending, ahead <= in_bank,
        ]  # fmt: skip
        of_block, number = row(marks_ahead)
        behind = (left - number)[:bits]
        helps += [
            ~watching | (of_block == block),
            ~watching | Mux(ahead != 0, number == (left + ahead)[:bits], ~behind[-1]),
            ~(watching & counted & (marks_ahead == 0)) | ((ahead == 0) & (before >= notices)),
        ]
        # Marks come in order, each of another SM, and no number is too old.
        for place in range(2):
            of_block, number = row(Value.cast(place))
            is_there = marks > place
            since = (entered - number)[:bits]
            helps += [
                ~is_there | held.bit_select((of_block >> self._params.slot_bits)[0], 1),
                ~is_there | ~since[-1],
            ]
        (first_block, first), (second_block, second) = row(Value.cast(0)), row(Value.cast(1))
        helps += [
            (marks < 2) | (first_block[-1] != second_block[-1]),
            (marks < 2) | ((entered - first)[:bits] >= (entered - second)[:bits]),
        ]
        return helps
