"""Phases of meetings: what a warp learns when its access meets another one.

Ref: ScoRD (ISCA'20) Section VI; the order of fences as in the PTX memory model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Const, Mux, Value

from racetrap.golden_model.causality.packets import Fenced, PacketKind
from racetrap.rtl.causality.collector_phases import ALL, Phases, Routine, has_exact
from racetrap.rtl.causality.knowledge_table import hash_of, latest
from racetrap.rtl.causality.learning import Phase


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


class MeetingPhases(Phases):
    """Phases of a packet with the writer, then with the reader, of its word's entry."""

    def _learns(self, wanted: Value, target: str, known: Any, far: Any, actions: Sequence = ()):
        """Another warp up to a clock, and all that it knows or carries."""
        return Phase(wanted, actions, target, known, self.giver.ever, far, ALL, far, passes=True)

    def learning(self, meeting: Meeting, latest_clock: Value, has_fenced: Value) -> list[Phase]:
        """What the packet's warp learns from itself, from whom its entry names, and by messages."""
        notice, packet = meeting.notice, meeting.packet
        during, taker = self.during(Routine.WRITER), self.taker
        own = packet.warp, packet.block
        multi = (packet.lanes & (packet.lanes - 1)).any() & packet.writes
        messages = during & notice.unknown & packet.strong & (packet.kind != PacketKind.STORE)
        every: Any = Const(-1, self.params.hash_bits)

        def know_all(names: Sequence[str], blocks: Value) -> list:
            return [blocks.eq(every), *(
                assign for name in names for assign in (
                    taker[name].bits.eq(every),
                    taker[name].fenced.eq(taker[name].fenced | has_fenced.replicate(3)),
                    taker[name].lossy.eq(latest(self.m, [taker[name].lossy, latest_clock + 1])),
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
                target="here", known=self.known(*own, packet.clock - ~packet.release),
            ),
            Phase(
                during & multi & packet.sc.any(), target="seen_here",
                known=self.known(*own, self.least(packet.clock - 1, taker.fence)),
            ),
            *self._message(meeting),
        ]  # fmt: skip

    def _stamp(self, meeting: Meeting, same_block: Any) -> Value:
        last = Mux(same_block, self.giver.release, self.giver.release_device)
        return self.least(meeting.side.clock - ~meeting.side.operation, last)

    def _message(self, meeting: Meeting) -> list[Phase]:
        packet, side, notice = meeting.packet, meeting.side, meeting.notice
        finds = self.during(Routine.WRITER) & meeting.exists & meeting.before.message.any()
        finds = finds & packet.strong & (packet.kind != PacketKind.STORE)
        meets, is_other, near = finds & notice.met, ~meeting.is_own, meeting.same_block
        known = self.known(
            side.warp, meeting.block, self._stamp(meeting, near),
            int(not self.params.independent_threads),
        )  # fmt: skip
        mine = self.known(packet.warp, packet.block, side.clock - ~side.operation)
        return [
            Phase(finds & is_other, passes=True),
            self._learns(meets & is_other & near, "here", known, 0),
            self._learns(meets & is_other & ~near, "far", known, 1),
            Phase(meets & meeting.is_own, target="here", known=mine),
        ]

    def seeing(self, meeting: Meeting, met: Value) -> list[Phase]:
        """Which fences come before what it meets, and what whoever it meets has seen.

        Warps that have ``met`` at a barrier pass on what they have seen, too.
        """
        packet, side, giver, taker = meeting.packet, meeting.side, self.giver, self.taker
        is_lane = (packet.lanes == (1 << side.lane)) & ~side.several
        sees = self.during(Routine.WRITER, Routine.READER) & meeting.exists
        sees = sees & ~(meeting.is_own & is_lane)
        is_other, near, sc = ~meeting.is_own, meeting.same_block, side.sc
        stamp = self.least(side.clock - 1, giver.fence)
        known = self.known(side.warp, meeting.block, stamp)
        device = self.known(
            side.warp, meeting.block, self.least(side.clock - 1, giver.fence_device)
        )
        in_block, of_others, in_device = (
            sees & (sc & each).any() for each in (Fenced.BLOCK, Fenced.OTHERS, Fenced.DEVICE)
        )
        blocks = taker.seen_blocks
        every = Const(-1, self.params.hash_bits)
        joins = blocks.eq(blocks | hash_of(self.params, meeting.block))
        return [
            Phase(
                in_block & meeting.is_own, target="seen_here",
                known=self.known(packet.warp, packet.block, stamp),
            ),
            self._learns(in_block & is_other & near, "seen_here", known, 0),
            self._learns(in_block & is_other & ~near, "seen", known, 1, [joins]),
            self._learns(of_others & ~near, "seen_here", known, 1),
            self._learns(of_others & ~near, "seen", known, 1, [blocks.eq(every)]),
            self._learns(in_device & is_other, "seen_device", device, ~near),
            *self._pass_seen(sees & is_other, near, ~near, met),
        ]  # fmt: skip

    def _pass_seen(self, passes: Value, near: Any, far: Value, met: Value) -> list[Phase]:
        """What a warp has seen, whoever meets it sees as well; the same at a barrier."""
        giver, taker = self.giver, self.taker
        blocks = taker.seen_blocks
        passes = passes | met
        near, far = near | met, far & ~met
        has_seen, has_device, has_near = (
            Value.cast(giver[name]).any() for name in ("seen", "seen_device", "seen_here")
        )
        is_true = has_exact(giver.seen_here, self.params.seen) | giver.seen_here.bits.any()
        is_mine = (giver.seen_blocks & hash_of(self.params, taker.block)).any()
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
                [blocks.eq(blocks | hash_of(self.params, giver.block))],
                "seen", sources=("seen_here",), is_far=1,
            ),
            Phase(
                passes & is_mine & has_seen, target="seen_here", sources=("seen",), is_far=far
            ),
        ]  # fmt: skip

    def taking_on(self, meeting: Meeting) -> list[Phase]:
        """The message that was there goes on in the packet's."""
        side, through = meeting.side, self.taker.through_blocks
        takes = self.during(Routine.WRITER) & meeting.exists & meeting.notice.took_on
        takes, near = takes & ~meeting.is_own, meeting.same_block
        here, far = (
            self.known(side.warp, meeting.block, self._stamp(meeting, same)) for same in (1, 0)
        )
        passes = takes & ~near & side.released
        return [
            self._learns(takes & near & side.released, "here", here, 0),
            self._learns(takes & ~near & side.released_device, "far", far, 1),
            self._learns(passes, "through", here, 1),
            Phase(passes, [through.eq(through | hash_of(self.params, meeting.block))]),
        ]
