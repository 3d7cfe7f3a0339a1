"""Phases of the collector: what a record takes in at each notice and each marker, in order.

Ref: ScoRD (ISCA'20) Section VI; the order of fences as in the PTX memory model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data

from racetrap.golden_model.causality.packets import (
    Fenced,
    FenceOrder,
    PacketKind,
    TransactionKind,
)
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.knowledge_table import hash_of, known_block, latest
from racetrap.rtl.causality.learning import Learning, Phase
from racetrap.rtl.common.bits import lowest_one_hot
from racetrap.rtl.common.layout import struct_layout

#: What a warp takes over of another: whatever that knows and carries.
_ALL = ("know", "here", "far")


class Routine(IntEnum):
    """What the collector is at; each is a bit."""

    WRITER = 0
    READER = 1
    FENCE = 2
    BEGIN = 3
    END = 4
    ARRIVE = 5
    ADVANCE = 6
    START = 7
    END_READ = 8
    END_WRITTEN = 9
    GATHER = 10
    WHOLE = 11
    SOME = 12


@dataclass
class Meeting:
    """A packet and the side of its entry that is worked on, by ``RaceEncoder``'s facts."""

    packet: Any
    before: Any
    notice: Any
    side: Any
    block: Value
    exists: Value
    is_reader: Value
    is_own: Value
    same_block: Value


@dataclass
class Barrier:
    """Warps that meet at a barrier."""

    joins: Value
    is_waiting: Value
    clock: Value
    top: Signal
    bar: Signal
    own: Signal
    final: Signal
    other: Value
    other_waits: Value
    others_after: Value


class Phases:
    """All phases.

    Parameters
    ----------
    params : CausalityParams
        Configuration.
    m : Module
        Module of the collector.
    learning : Learning
        Records.
    routine : Signal
        A bit of each ``Routine``.
    """

    def __init__(self, params: CausalityParams, m: Module, learning: Learning, routine: Value):
        self._params, self._m, self._routine = params, m, routine
        self._taker, self._giver = learning.taker, learning.giver

    def _during(self, *routines: Routine) -> Value:
        return Cat(self._routine[each] for each in routines).any()

    def _known(self, warp: Value, block: Value, clock: Value, direct: Any = 0) -> data.View:
        known = Signal(struct_layout(self._params.known_layout))
        self._m.d.comb += [
            known.warp.eq(warp), known.slot.eq(block), known.clock.eq(clock),
            known.direct.eq(direct),
        ]  # fmt: skip
        return known

    def _least(self, one: Value, other: Value) -> Value:
        return Mux(one < other, one, other)[: self._params.clock_bits]

    # Meetings ---------------------------------------------------------------------------

    def _learns(self, wanted: Value, target: str, known: Any, far: Any, actions: Sequence = ()):
        """Another warp up to a clock, and all that it knows or carries."""
        return Phase(wanted, actions, target, known, self._giver.ever, far, _ALL, far, passes=True)

    def meeting(self, meeting: Meeting, latest_clock: Value, has_fenced: Value) -> list[Phase]:
        """What the packet's warp learns from itself, from whom its entry names, and by messages."""
        notice, packet = meeting.notice, meeting.packet
        during, taker = self._during(Routine.WRITER), self._taker
        own = packet.warp, packet.block
        multi = (packet.lanes & (packet.lanes - 1)).any() & packet.writes
        messages = during & notice.unknown & packet.strong & (packet.kind != PacketKind.STORE)
        every: Any = Const(-1, self._params.hash_bits)

        def know_all(names: Sequence[str], blocks: Value) -> list:
            return [blocks.eq(every), *(
                assign for name in names for assign in (
                    taker[name].bits.eq(every),
                    taker[name].fenced.eq(taker[name].fenced | has_fenced.replicate(3)),
                    taker[name].lossy.eq(latest(self._m, [taker[name].lossy, latest_clock + 1])),
                )
            )]  # fmt: skip

        return [
            Phase(messages, know_all(("here", "far", "through"), taker.through_blocks)),
            Phase(
                during & notice.unknown & has_fenced,
                know_all(("seen_here", "seen", "seen_device"), taker.seen_blocks),
            ),
            Phase(
                during & multi & (packet.kind == PacketKind.ATOMIC) & packet.released,
                target="here", known=self._known(*own, packet.clock - ~packet.release),
            ),
            Phase(
                during & multi & packet.sc.any(), target="seen_here",
                known=self._known(*own, self._least(packet.clock - 1, taker.fence)),
            ),
            *self._message(meeting),
        ]  # fmt: skip

    def _stamp(self, meeting: Meeting, same_block: Any) -> Value:
        last = Mux(same_block, self._giver.release, self._giver.release_device)
        return self._least(meeting.side.clock - ~meeting.side.operation, last)

    def _message(self, meeting: Meeting) -> list[Phase]:
        packet, side, notice = meeting.packet, meeting.side, meeting.notice
        finds = self._during(Routine.WRITER) & meeting.exists & meeting.before.message.any()
        finds = finds & packet.strong & (packet.kind != PacketKind.STORE)
        meets, is_other, near = finds & notice.met, ~meeting.is_own, meeting.same_block
        known = self._known(
            side.warp, meeting.block, self._stamp(meeting, near),
            int(not self._params.independent_threads),
        )  # fmt: skip
        mine = self._known(packet.warp, packet.block, side.clock - ~side.operation)
        return [
            Phase(finds & is_other, passes=True),
            self._learns(meets & is_other & near, "here", known, 0),
            self._learns(meets & is_other & ~near, "far", known, 1),
            Phase(meets & meeting.is_own, target="here", known=mine),
        ]

    def seeing(self, meeting: Meeting) -> list[Phase]:
        """Which fences come before what it meets, and what whoever it meets has seen."""
        packet, side, giver, taker = meeting.packet, meeting.side, self._giver, self._taker
        is_lane = (packet.lanes == (1 << side.lane)) & ~side.several
        sees = self._during(Routine.WRITER, Routine.READER) & meeting.exists
        sees = sees & ~(meeting.is_own & is_lane)
        is_other, near, sc = ~meeting.is_own, meeting.same_block, side.sc
        stamp = self._least(side.clock - 1, giver.fence)
        known = self._known(side.warp, meeting.block, stamp)
        device = self._known(
            side.warp, meeting.block, self._least(side.clock - 1, giver.fence_device)
        )
        in_block, of_others, in_device = (
            sees & (sc & each).any() for each in (Fenced.BLOCK, Fenced.OTHERS, Fenced.DEVICE)
        )
        blocks = taker.seen_blocks
        every = Const(-1, self._params.hash_bits)
        joins = blocks.eq(blocks | hash_of(self._params, meeting.block))
        return [
            Phase(
                in_block & meeting.is_own, target="seen_here",
                known=self._known(packet.warp, packet.block, stamp),
            ),
            self._learns(in_block & is_other & near, "seen_here", known, 0),
            self._learns(in_block & is_other & ~near, "seen", known, 1, [joins]),
            self._learns(of_others & ~near, "seen_here", known, 1),
            self._learns(of_others & ~near, "seen", known, 1, [blocks.eq(every)]),
            self._learns(in_device & is_other, "seen_device", device, ~near),
            *self._pass_seen(sees & is_other, near, ~near),
        ]  # fmt: skip

    def _pass_seen(self, passes: Value, near: Any, far: Value) -> list[Phase]:
        """What a warp has seen, whoever meets it sees as well; the same at a barrier."""
        giver, taker = self._giver, self._taker
        blocks, met = taker.seen_blocks, self._gathers()
        passes = passes | met
        near, far = near | met, far & ~met
        has_seen, has_device, has_near = (
            Value.cast(giver[name]).any() for name in ("seen", "seen_device", "seen_here")
        )
        is_true = has_exact(giver.seen_here, self._params.seen) | giver.seen_here.bits.any()
        is_mine = (giver.seen_blocks & hash_of(self._params, taker.block)).any()
        return [
            Phase(
                passes & (has_seen | giver.seen_blocks.any()),
                [blocks.eq(blocks | giver.seen_blocks)],
                "seen", sources=("seen",), is_far=far,
            ),
            Phase(passes & has_device, target="seen_device", sources=("seen_device",), is_far=far),
            Phase(passes & near & has_near, target="seen_here", sources=("seen_here",)),
            Phase(
                passes & ~near & is_true,
                [blocks.eq(blocks | hash_of(self._params, giver.block))],
                "seen", sources=("seen_here",), is_far=1,
            ),
            Phase(
                passes & is_mine & has_seen, target="seen_here", sources=("seen",), is_far=far
            ),
        ]  # fmt: skip

    def taking_on(self, meeting: Meeting) -> list[Phase]:
        """The message that was there goes on in the packet's."""
        side, through = meeting.side, self._taker.through_blocks
        takes = self._during(Routine.WRITER) & meeting.exists & meeting.notice.took_on
        takes, near = takes & ~meeting.is_own, meeting.same_block
        here, far = (
            self._known(side.warp, meeting.block, self._stamp(meeting, same)) for same in (1, 0)
        )
        passes = takes & ~near & side.released
        return [
            self._learns(takes & near & side.released, "here", here, 0),
            self._learns(takes & ~near & side.released_device, "far", far, 1),
            self._learns(passes, "through", here, 1),
            Phase(passes, [through.eq(through | hash_of(self._params, meeting.block))]),
        ]

    # Markers ----------------------------------------------------------------------------

    def _settled(self, warp: Value) -> list:
        """Draw what a row's knowledge says of its own slot, and advance the warp's clock."""
        params, row, m = self._params, self._taker, self._m
        count = params.known
        places = [row.know[f"known_{place}"] for place in range(count)]
        mine = lowest_one_hot(
            Cat(
                (place.clock >= row.start) & ~place.is_block & (place.warp == warp)
                for place in places
            )
        )
        own, beyond = Signal(params.clock_bits), Signal(params.clock_bits)
        assigns = [row.sc.eq(row.sc | row.know.fenced),
                   row.ever.eq(row.ever | row.sc | row.know.fenced)]  # fmt: skip
        clocks = [Const(0, params.clock_bits)]
        for number, place in enumerate(places):
            with m.If(mine[number]):
                m.d.comb += own.eq(place.clock)
            clocks.append(Mux(mine[number], 0, place.clock)[: params.clock_bits])
            behind: Any = places[number + 1] if number + 1 < count else 0
            with_gap = mine[: number + 1].any()
            assigns.append(
                Value.cast(place).eq(
                    Mux(with_gap, behind if isinstance(behind, int) else Value.cast(behind),
                        Value.cast(place))
                )
            )  # fmt: skip
        m.d.comb += beyond.eq(latest(m, clocks) + 1)
        has_own = mine.any()
        older = Mux(has_own, row.start - 1, 0)[: params.clock_bits]
        return [
            *assigns,
            row.lanes_before.eq(latest(m, [row.lanes_before, Mux(has_own, own + 1, 0)])),
            row.own.eq(latest(m, [row.own, older])),
            # What has come back to the warp goes on with its messages, whatever it released itself.
            *(row[name].eq(latest(m, [row[name], own])) for name in ("release", "release_device")),
            row.clock.eq(latest(m, [row.clock, beyond])),
        ]

    def operations(self, marker: Any) -> list[Phase]:
        """Fences, operations that release or acquire, and what advances the clock alone."""
        taker, giver, device = self._taker, self._giver, marker.device
        fence, end = self._during(Routine.FENCE), self._during(Routine.END)
        is_sc = fence & (marker.order == FenceOrder.SC)
        acquires = (fence | end) & (marker.order != FenceOrder.RELEASE)
        releases = marker.order != FenceOrder.ACQUIRE
        clock, settled = taker.clock, self._settled(marker.warp)
        begins, arrives = self._during(Routine.BEGIN), self._during(Routine.ARRIVE)
        at, behind = clock, clock + 1
        sc = Cat(is_sc, is_sc & device, Const(0, 1))
        # A row whose knowledge has not changed has been settled before.
        here, far, seen_here, seen_device = (
            Value.cast(giver[name]).any() for name in ("here", "far", "seen_here", "seen_device")
        )
        takes_in, takes_seen = here | (far & device), seen_here | (seen_device & device)

        def released(stamp: Value) -> list:
            return [
                taker.release.eq(stamp),
                taker.release_device.eq(Mux(device, stamp, taker.release_device)),
            ]

        def taken(name: str) -> list:
            return [Value.cast(taker[name]).eq(0)]

        return [
            Phase(begins, [clock.eq(behind), *released(behind)]),
            Phase(end & releases, [clock.eq(behind)]),
            Phase(
                arrives,
                [clock.eq(behind), taker.arrived_clock.eq(at),
                 taker.arrived.eq(taker.arrived | (1 << marker.number))],
            ),
            Phase(self._during(Routine.ADVANCE), [clock.eq(behind)]),
            Phase(
                acquires & here, taken("here"), "know", sources=("here",),
                keeps_direct=1,
            ),
            Phase(
                acquires & device & far, taken("far"), "know",
                sources=("far",), keeps_direct=1,
            ),
            Phase(acquires & takes_in, settled),
            Phase(is_sc & device & seen_device, target="know",
                  sources=("seen_device",)),
            Phase(is_sc & seen_here, target="know",
                  sources=("seen_here",)),
            Phase(is_sc & takes_seen, settled),
            Phase(
                fence & releases,
                [clock.eq(behind), *released(at), taker.sc.eq(taker.sc | sc),
                 taker.fence.eq(Mux(is_sc, at, taker.fence)),
                 taker.fence_device.eq(Mux(is_sc & device, at, taker.fence_device)),
                 taker.ever.eq(taker.ever | taker.sc | sc)],
            ),
        ]  # fmt: skip

    def block_starts(self, marker: Any) -> list[Phase]:
        """What a slot's warp knew goes on in what its messages lead to."""
        start, taker, params = self._during(Routine.START), self._taker, self._params
        is_true = has_exact(taker.seen_here, params.seen) | taker.seen_here.bits.any()
        blocks = taker.seen_blocks
        return [
            Phase(start, target="far", sources=("know",), is_far=1),
            Phase(start, target="far", sources=("here",), is_far=1),
            Phase(start, [Value.cast(taker[name]).eq(0) for name in ("know", "here")]),
            Phase(
                start, target="far",
                known=known_block(self._params, self._m, taker.block, taker.bar),
            ),
            Phase(
                start & is_true, [blocks.eq(blocks | hash_of(params, taker.block))], "seen",
                sources=("seen_here",),
            ),
            Phase(start, [Value.cast(taker.seen_here).eq(0)]),
            Phase(
                start & (blocks & hash_of(params, marker.block)).any(), target="seen_here",
                sources=("seen",),
            ),
            Phase(
                start,
                [taker.block.eq(marker.block),
                 *(taker[name].eq(0) for name in ("retired", "sc", "bar", "own", "arrived")),
                 *(taker[name].eq(marker.clock) for name in ("start", "lanes_before", "clock"))],
            ),
        ]  # fmt: skip

    # Barriers ---------------------------------------------------------------------------

    def _gathers(self) -> Value:
        return self._during(Routine.GATHER, Routine.WHOLE, Routine.SOME) & self._barrier_takes

    def barriers(self, marker: Any, barrier: Barrier, warp: Value) -> list[Phase]:
        """All that any of some warps knows and carries, first for one, then for each of them."""
        giver, taker = self._giver, self._taker
        gather, whole, some = (
            self._during(each) for each in (Routine.GATHER, Routine.WHOLE, Routine.SOME)
        )
        self._barrier_takes = Mux(gather, barrier.joins, barrier.is_waiting)
        gather, goes_on = gather & barrier.joins, barrier.is_waiting
        whole, some = whole & goes_on, some & goes_on
        meets, through = gather | whole | some, taker.through_blocks
        other = self._known(barrier.other, taker.block, barrier.clock, barrier.other_waits)
        fenced = giver.sc & gather.replicate(3)
        nothing = self._known(Const(0, 1), Const(0, 1), Const(0, 1))
        leaves = self._during(Routine.WHOLE, Routine.SOME)
        leaves = leaves & (marker.kind == TransactionKind.PARTIAL_BARRIER)
        bar = Mux(whole, barrier.top, latest(self._m, [taker.bar, barrier.bar]))
        return [
            Phase(
                gather,
                [barrier.top.eq(latest(self._m, [barrier.top, barrier.clock])),
                 barrier.bar.eq(latest(self._m, [barrier.bar, giver.bar])),
                 barrier.own.eq(latest(self._m, [barrier.own, giver.own]))],
                "know", nothing, fenced,
            ),
            Phase(leaves, [taker.arrived.eq(taker.arrived & ~(1 << marker.number))]),
            Phase(whole, [Value.cast(taker[name]).eq(0) for name in _ALL]),
            *(Phase(meets & Value.cast(giver[name]).any(), target=name, sources=(name,))
              for name in _ALL),
            Phase(
                (gather | whole) & (Value.cast(giver.through).any() | giver.through_blocks.any()),
                [through.eq(through | giver.through_blocks)], "through", sources=("through",),
            ),
            Phase(some, passes=True),
            Phase(
                some & barrier.others_after.any(), target="know", known=other,
                repeats=(barrier.others_after & (barrier.others_after - 1)).any(),
            ),
            Phase(whole | some, [taker.bar.eq(bar)]),
            Phase(whole, [taker.own.eq(barrier.own)]),
            Phase(whole | some, self._settled(warp)),
            Phase(whole, [taker[name].eq(barrier.final) for name in ("clock", "lanes_before")]),
            Phase(some, self._behind(barrier)),
        ]  # fmt: skip

    def _behind(self, barrier: Barrier) -> list:
        clock = latest(self._m, [self._taker.clock, barrier.top + 1])
        return [self._taker.clock.eq(clock), self._taker.lanes_before.eq(clock)]


def has_exact(table: data.View, places: int) -> Value:
    """Whether a table has an exact entry."""
    return Cat(table[f"known_{place}"].clock != 0 for place in range(places)).any()
