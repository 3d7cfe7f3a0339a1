"""Check pipeline: five stages from a packet with its entry to a step, with forwarding.

Ref: ScoRD (ISCA'20) Section IV-A, Section VI.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.causality.packets import PacketKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.access import access_layout, describe, is_same_lane, reads
from racetrap.rtl.causality.detection_logic import DetectionLogic
from racetrap.rtl.causality.entry import EntryUpdate, entry_match
from racetrap.rtl.causality.warp_order import RELATION, WarpOrder
from racetrap.rtl.causality.warp_row import WarpRows, branch_layout
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.gpu.check_lane import trace_signature
from racetrap.rtl.gpu.hazard_window import slot_bits
from racetrap.rtl.gpu.metadata_accessor import checked_packet, packet_with_entry
from racetrap.rtl.gpu.region import index_bits

#: Cycles from a packet to its step.
LATENCY = 5


def _lookup(params: CausalityParams) -> data.StructLayout:
    """A packet with its entry, unless that is the result of a packet close ahead.

    If the result ``is_late``, it left stage 3 too late to be read from the memory of results.
    """
    return data.StructLayout({
        "packet": struct_layout(params.packet_layout),
        "tag": params.tag_bits,
        "monitored": 1,
        "index": index_bits(params),
        "slot": slot_bits(params),
        "entry": struct_layout(params.entry_layout),
        "read_error": 1,
        "late": struct_layout(params.entry_layout),
        "is_late": 1,
        "is_forwarded": 1,
        "source": slot_bits(params),
    })  # fmt: skip


def _request(params: CausalityParams) -> data.StructLayout:
    """An access with its entry, unless that is the result of the packet ahead."""
    return data.StructLayout({
        "access": access_layout(params),
        "monitored": 1,
        "index": index_bits(params),
        "slot": slot_bits(params),
        "entry": struct_layout(params.entry_layout),
        "read_error": 1,
    })  # fmt: skip


def _checked(params: CausalityParams) -> data.StructLayout:
    """An access with its word's entry before it, and what became of it."""
    return data.StructLayout({
        "access": access_layout(params),
        "monitored": 1,
        "before": struct_layout(params.entry_layout),
        "after": struct_layout(params.entry_layout),
        "read_error": 1,
        "took_on": 1,
        "displaced": 1,
        "dropped": 1,
        "fenced": 1,
    })  # fmt: skip


class CheckPipeline(wiring.Component):
    """Checks one packet a cycle, also back to back on one entry; it never stalls.

    Stage 1 selects the entry and addresses the rows, stage 2 waits for them, stage 3 updates the
    entry, stage 4 compares writer and reader with the warp's row, stage 5 decides.  What an entry
    becomes does not depend on the decision: a packet takes the registered entry of the packet
    before it in stage 3, of the one before that in stage 2.

    Parameters
    ----------
    params : CausalityParams
        Configuration.

    Members
    -------
    i : ``In(stream.Signature(packet_with_entry(params), always_ready=True))``
        Packets, in order.
    i_row : ``In(stream.Signature(row_write_layout))``
        Rows of warps without a packet in the pipeline.
    i_fenced : ``In(1)``
        A warp has passed a ``fence.sc`` in this launch.
    o_step : ``Out(trace_signature(params))``
        Steps of accesses, as on the trace port.
    o_dropped : ``Out(1)``
        The step's entry displaced one that leads on.
    o_leaves : ``Out(1)``
        A packet of any kind leaves the pipeline; what the step's fields say of it is at ``o_step``.
    o_notice : ``Out(stream.Signature(notice_layout, always_ready=True))``
        What the collector must know, in order.
    o_checked : ``Out(stream.Signature(checked_packet(params), always_ready=True))``
        For each packet, the entry after it, for the accessor.
    i_clear, i_epoch : ``In(1)``
        Pulse, while nothing is in the pipeline: forget what a launch clears, or begin an epoch.
    o_busy : ``Out(1)``
        High while that lasts.
    """

    def __init__(self, params: CausalityParams):
        self._params = params
        notice = struct_layout(params.notice_layout)
        super().__init__({
            "i": In(stream.Signature(packet_with_entry(params), always_ready=True)),
            "i_row": In(stream.Signature(struct_layout(params.row_write_layout))),
            "i_fenced": In(1),
            "o_step": Out(trace_signature(params)),
            "o_dropped": Out(1),
            "o_leaves": Out(1),
            "o_notice": Out(stream.Signature(notice, always_ready=True)),
            "o_checked": Out(stream.Signature(checked_packet(params), always_ready=True)),
            "i_clear": In(1),
            "i_epoch": In(1),
            "o_busy": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.rows = rows = WarpRows(self._params)
        wiring.connect(m, wiring.flipped(self.i_row), rows.i_row)
        m.d.comb += [
            rows.i_valid.eq(self.i.valid),
            rows.i_packet.eq(self.i.p.located.packet),
            rows.i_clear.eq(self.i_clear),
            rows.i_epoch.eq(self.i_epoch),
            self.o_busy.eq(rows.o_busy),
        ]
        lookup = self._elaborate_entry(m)
        request, follows = self._elaborate_wait(m, *lookup)
        checked = self._elaborate_update(m, *request, follows, rows)
        decided = self._elaborate_order(m, *checked, rows)
        self._elaborate_decision(m, *decided)
        return m

    def _stage(self, shape: data.StructLayout, name: str) -> tuple[Signal, Signal]:
        """Register of a stage, and whether there is a packet in it."""
        return Signal(shape, name=name, reset_less=True), Signal(name=f"{name}_valid")

    def _elaborate_entry(self, m: Module) -> tuple[Signal, Signal]:
        """Stage 1: the entry is the one read, or the result of a packet that has left stage 3.

        What is read comes late from block RAM: what is not read is chosen beside it.
        """
        given, last = self.i.p, self.o_checked.p
        lookup, valid = self._stage(_lookup(self._params), "lookup")
        # The result memory does not forward a write at the clock edge of the read.
        older, older_valid = self._stage(checked_packet(self._params), "older")
        leaves, has_left = Signal(name="leaves"), Signal(name="has_left")
        m.d.comb += [
            leaves.eq(self.o_checked.valid & (last.slot == given.source)),
            has_left.eq(older_valid & (older.slot == given.source)),
        ]
        m.d.sync += [
            older.eq(last),
            older_valid.eq(self.o_checked.valid),
            valid.eq(self.i.valid),
            lookup.packet.eq(given.located.packet),
            lookup.tag.eq(given.located.tag),
            lookup.monitored.eq(given.located.monitored),
            lookup.index.eq(given.located.index),
            lookup.slot.eq(given.slot),
            lookup.entry.eq(Mux(given.is_forwarded, given.result, given.entry)),
            lookup.read_error.eq(given.read_error & ~given.is_forwarded),
            lookup.late.eq(Mux(leaves, last.entry, older.entry)),
            lookup.is_late.eq(given.is_forwarded & (leaves | has_left)),
            lookup.is_forwarded.eq(given.is_forwarded),
            lookup.source.eq(given.source),
        ]
        return lookup, valid

    def _elaborate_wait(self, m: Module, lookup, valid) -> tuple[tuple[Signal, Signal], Signal]:
        """Stage 2: the packet two ahead has its result; the one ahead will have it in stage 3."""
        request, request_valid = self._stage(_request(self._params), "request")
        last, follows = self.o_checked.p, Signal()
        carried = ("monitored", "index", "slot", "read_error")
        m.d.sync += [
            *(request[name].eq(lookup[name]) for name in carried),
            request.entry.eq(Mux(lookup.is_late, lookup.late, lookup.entry)),
            *describe(request.access, lookup.packet, lookup.tag),
            request_valid.eq(valid),
            follows.eq(lookup.is_forwarded & request_valid & (request.slot == lookup.source)),
        ]
        with m.If(lookup.is_forwarded & self.o_checked.valid & (last.slot == lookup.source)):
            m.d.sync += request.entry.eq(last.entry)
        return (request, request_valid), follows

    def _elaborate_update(
        self, m: Module, request, valid, follows, rows: WarpRows
    ) -> tuple[Signal, Signal]:
        """Stage 3: the entry before and after."""
        m.submodules.update = update = EntryUpdate(self._params)
        checked, checked_valid = self._stage(_checked(self._params), "checked")
        result, has_wrapped, epoch = self.o_checked.p, Signal(), Signal(self._params.epoch_bits)
        slot, index, is_new = (
            Signal.like(value, reset_less=True, name=name)
            for name, value in (
                ("slot", request.slot), ("index", request.index), ("is_new", Signal()),
            )
        )  # fmt: skip
        m.d.comb += [
            update.i_access.eq(request.access),
            update.i_found.eq(Mux(follows, result.entry, request.entry)),
            # Compared before one is chosen, since the choice goes to many places.
            update.i_match.eq(
                Mux(
                    follows,
                    *(
                        entry_match(request.access, entry, rows.o_start, epoch)
                        for entry in (result.entry, request.entry)
                    ),
                )
            ),
            update.i_epoch.eq(epoch),
            update.i_has_wrapped.eq(has_wrapped),
            update.i_fenced.eq(self.i_fenced),
            self.o_checked.valid.eq(checked_valid),
            result.slot.eq(slot),
            result.index.eq(index),
            result.entry.eq(checked.after),
            result.changed.eq(checked.monitored & (is_new | (checked.before != checked.after))),
        ]
        m.d.sync += [
            checked_valid.eq(valid),
            slot.eq(request.slot),
            index.eq(request.index),
            is_new.eq(update.o_is_new),
            checked.access.eq(request.access),
            checked.monitored.eq(request.monitored),
            checked.before.eq(update.o_before),
            checked.after.eq(update.o_after),
            checked.read_error.eq(request.read_error),
            checked.took_on.eq(update.o_took_on),
            checked.displaced.eq(update.o_displaced),
            checked.dropped.eq(update.o_dropped),
            checked.fenced.eq(self.i_fenced),
        ]
        with m.If(self.i_clear):
            m.d.sync += [epoch.eq(0), has_wrapped.eq(0)]
        with m.Elif(self.i_epoch):
            m.d.sync += [epoch.eq(epoch + 1), has_wrapped.eq(1)]
        return checked, checked_valid

    def _elaborate_order(self, m: Module, checked, valid, rows: WarpRows) -> tuple:
        """Stage 4: compare writer and reader with the warp's row."""
        branch = Signal(branch_layout(self._params), name="branch", reset_less=True)
        decided, decided_valid = self._stage(checked.shape(), "decided")
        m.d.sync += [branch.eq(rows.o_branch), decided.eq(checked), decided_valid.eq(valid)]
        relations = {}
        for name in ("writer", "reader"):
            m.submodules[f"{name}_order"] = order = WarpOrder(self._params)
            relations[name] = Signal(RELATION, name=f"{name}_relation", reset_less=True)
            side = Value.cast(checked.before[name])
            m.d.comb += [
                Value.cast(order.i_side).eq(side[: self._params.side_layout.width]),
                order.i_access.eq(checked.access),
                order.i_row.eq(rows.o_row),
                order.i_branch.eq(branch),
            ]
            m.d.sync += relations[name].eq(order.o)
        return decided, decided_valid, relations

    def _elaborate_decision(self, m: Module, decided, valid, relations) -> None:
        """Stage 5: decide, and say what the collector must know."""
        m.submodules.logic = logic = DetectionLogic(self._params)
        step, notice = self.o_step.p, self.o_notice.p
        packet, before = decided.access.packet, decided.before
        teaches = Signal()
        m.d.comb += [
            logic.i_access.eq(decided.access),
            logic.i_before.eq(before),
            logic.i_writer.eq(relations["writer"]),
            logic.i_reader.eq(relations["reader"]),
            *(notice[name].eq(step[name]) for name in self._params.notice_layout.fields),
            # The decision is known last: it is looked at a cycle later.
            self.o_notice.valid.eq(
                self.o_leaves & (teaches | step.against.any() | step.undecided.any())
            ),
        ]
        m.d.sync += [
            self.o_leaves.eq(valid),
            self.o_step.valid.eq(valid & (packet.kind <= PacketKind.ATOMIC)),
            teaches.eq(decided.monitored & self._teaches_collector(decided, relations)),
            self.o_dropped.eq(decided.monitored & decided.dropped),
            Value.cast(step).eq(0),
            step.packet.eq(packet),
        ]
        with m.If(decided.monitored):
            m.d.sync += [
                step.monitored.eq(1),
                step.against.eq(logic.o_against),
                step.undecided.eq(logic.o_undecided),
                step.met.eq(logic.o_met),
                step.took_on.eq(decided.took_on),
                step.unknown.eq(before.unknown),
                step.displaced.eq(decided.displaced),
                step.read_error.eq(decided.read_error),
                step.fenced.eq(decided.fenced),
                step.before.eq(before),
                step.after.eq(decided.after),
            ]

    def _teaches_collector(self, decided, relations) -> Value:
        """Whether the collector learns from an access; with the races as ``concerns_collector``."""
        access, before = decided.access, decided.before
        packet = access.packet
        others = [
            before[name].bytes.any()
            & ~(relations[name].is_own & is_same_lane(access, before[name]))
            for name in ("writer", "reader")
        ]
        return Cat(
            decided.took_on,
            before.unknown,
            packet.unequal,
            before.message.any() & packet.strong & reads(packet),
            packet.writes
            & ~access.is_single
            & (packet.sc.any() | ((packet.kind == PacketKind.ATOMIC) & packet.released)),
            decided.fenced & Cat(others).any(),
        ).any()
