"""Check pipeline: two stages from a packet with its entry to a step, with forwarding.

Ref: HiRace (SC'24).
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.hirace.packets import AFTER_ATOMICS, RaceKind
from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.golden_model.hirace.states import Access, Relation, State, Sync
from racetrap.golden_model.hirace.transitions import FIRST
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.gpu.check_lane import trace_signature
from racetrap.rtl.gpu.hazard_window import slot_bits
from racetrap.rtl.gpu.metadata_accessor import checked_packet, located_packet, packet_with_entry
from racetrap.rtl.hirace.transitions import Transitions


def _request(params: HiraceParams) -> data.StructLayout:
    """A packet with its entry, unless the entry is the result of the packet just ahead."""
    return data.StructLayout({
        "located": located_packet(params),
        "slot": slot_bits(params),
        "entry": struct_layout(params.entry_layout),
        "read_error": 1,
        "is_forwarded": 1,
        "source": slot_bits(params),
    })  # fmt: skip


class CheckPipeline(wiring.Component):
    """Checks one packet a cycle, also back to back on one entry; it never stalls.

    Stage 1 selects the entry: the one read, or an earlier packet's result.  Stage 2 decides; there
    a packet takes the registered result of the one just ahead.  Latency is two cycles.

    Parameters
    ----------
    params : HiraceParams
        Configuration.

    Members
    -------
    i : ``In(stream.Signature(packet_with_entry(params), always_ready=True))``
        Packets, in order.
    o_step : ``Out(trace_signature(params))``
        Steps, as on the trace port.
    o_checked : ``Out(stream.Signature(checked_packet(params), always_ready=True))``
        For each packet, the entry after it, for the accessor.
    """

    def __init__(self, params: HiraceParams):
        self._params = params
        super().__init__({
            "i": In(stream.Signature(packet_with_entry(params), always_ready=True)),
            "o_step": Out(trace_signature(params)),
            "o_checked": Out(stream.Signature(checked_packet(params), always_ready=True)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        request = Signal(_request(self._params), reset_less=True)
        request_valid = Signal()
        self._elaborate_entry(m, request, request_valid)
        self._elaborate_decision(m, request, request_valid)
        return m

    def _elaborate_entry(self, m: Module, request, request_valid: Signal) -> None:
        """Stage 1: the entry is the one read, or the result of a packet that has been checked."""
        given, last = self.i.p, self.o_checked.p
        # The result memory does not forward a write at the clock edge of the read.
        older = Signal(checked_packet(self._params), name="older", reset_less=True)
        older_valid = Signal(name="older_valid")
        entry = Signal.like(given.entry, name="entry")
        m.d.comb += entry.eq(given.result)
        with m.If(~given.is_forwarded):
            m.d.comb += entry.eq(given.entry)
        with m.Elif(self.o_checked.valid & (last.slot == given.source)):
            m.d.comb += entry.eq(last.entry)
        with m.Elif(older_valid & (older.slot == given.source)):
            m.d.comb += entry.eq(older.entry)
        m.d.sync += [
            older.eq(last),
            older_valid.eq(self.o_checked.valid),
            request_valid.eq(self.i.valid),
            request.located.eq(given.located),
            request.slot.eq(given.slot),
            request.entry.eq(entry),
            request.read_error.eq(given.read_error & ~given.is_forwarded),
            request.is_forwarded.eq(given.is_forwarded),
            request.source.eq(given.source),
        ]

    def _elaborate_decision(self, m: Module, request, request_valid: Signal) -> None:
        """Stage 2: compare with the entry, and decide."""
        last, packet = self.o_checked.p, request.located.packet
        before, after = (Signal.like(request.entry, name=name) for name in ("before", "after"))
        follows, sync, relation = Signal(), Signal(2), Signal(2)
        m.d.comb += [
            follows.eq(request.is_forwarded & self.o_checked.valid & (last.slot == request.source)),
            before.eq(Mux(follows, last.entry, request.entry)),
            sync.eq(_sync(packet, before)),
            relation.eq(_relation(packet, before)),
        ]
        m.submodules.transitions = transitions = Transitions()
        access, state = Signal(2), Signal.like(before.state, name="state")
        m.d.comb += [
            access.eq(packet.kind + packet.scope),
            transitions.i_state.eq(before.state),
            transitions.i_access.eq(access),
            transitions.i_sync.eq(sync),
            transitions.i_relation.eq(relation),
            state.eq(transitions.o_state),
        ]
        if self._params.begin_anew:
            with m.If(transitions.o_race), m.Switch(access):
                for kind in Access:
                    with m.Case(kind):
                        m.d.comb += state.eq(FIRST[kind])
        # In one assignment: constant bits alone would become an always block that never runs.
        names = ("lane", "warp", "block", "generation", "barriers", "warp_barriers")
        m.d.comb += after.eq(Cat(state, *(packet[name] for name in names)))
        race = Mux(transitions.o_race, _race_kind(m, before.state, access), RaceKind.NONE)
        self._elaborate_results(m, request, request_valid, before, after, sync, relation, race)

    def _elaborate_results(
        self, m: Module, request, request_valid, before, after, sync, relation, race
    ) -> None:
        step, checked, monitored = self.o_step.p, self.o_checked.p, request.located.monitored
        m.d.sync += [
            self.o_step.valid.eq(request_valid),
            step.eq(0),
            step.packet.eq(request.located.packet),
            self.o_checked.valid.eq(request_valid),
            checked.slot.eq(request.slot),
            checked.index.eq(request.located.index),
            checked.entry.eq(after),
            checked.changed.eq(monitored & (before != after)),
        ]
        with m.If(monitored):
            m.d.sync += [
                step.monitored.eq(1),
                step.sync.eq(sync),
                step.relation.eq(relation),
                step.race.eq(race),
                step.read_error.eq(request.read_error),
                step.before.eq(before),
                step.after.eq(after),
            ]


def _sync(packet, entry) -> Value:
    is_block, is_warp = (packet[name] != entry[name] for name in ("barriers", "warp_barriers"))
    return Mux(is_block, Sync.BLOCK, Mux(is_warp, Sync.WARP, Sync.NONE))


def _relation(packet, entry) -> Value:
    in_block = (packet.block == entry.block) & (packet.generation == entry.generation)
    in_warp, is_thread = packet.warp == entry.warp, packet.lane == entry.lane
    inside = Mux(
        in_warp,
        Mux(is_thread, Relation.SAME_THREAD, Relation.SAME_WARP),
        Relation.SAME_BLOCK,
    )
    return Mux(in_block, inside, Relation.SAME_GRID)


def _race_kind(m: Module, state, access) -> Value:
    is_atomic, after_atomic, kind = Signal(), Signal(), Signal(RaceKind)
    atomics = [each for each in State if each.form.family in AFTER_ATOMICS]
    m.d.comb += [
        is_atomic.eq(access >= Access.BLOCK_ATOMIC),
        after_atomic.eq(state.matches(*atomics)),
    ]
    with m.If(after_atomic):
        m.d.comb += kind.eq(Mux(is_atomic, RaceKind.SCOPED_ATOMIC, RaceKind.PLAIN_AFTER_ATOMIC))
    with m.Elif(is_atomic):
        m.d.comb += kind.eq(RaceKind.ATOMIC_AFTER_PLAIN)
    with m.Elif(access == Access.READ):
        m.d.comb += kind.eq(RaceKind.READ_AFTER_WRITE)
    with m.Elif(state == State.WRITE):
        m.d.comb += kind.eq(RaceKind.WRITE_AFTER_WRITE)
    with m.Else():
        m.d.comb += kind.eq(RaceKind.WRITE_AFTER_READ)
    return kind
