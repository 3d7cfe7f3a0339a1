"""Request senders and receivers, joined by a network that takes any time, and their rules checked.

In every cycle all streams are sampled at once; the network is a queue for each pair of SM and slice
and for each pair back.
"""

from __future__ import annotations

import random
from collections import defaultdict, deque
from collections.abc import Iterator
from typing import Any

from amaranth.hdl import Module, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.events import Scope
from racetrap.golden_model.scord.packets import Packet, PacketKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.scord.request_receiver import RequestReceiver
from racetrap.rtl.scord.request_sender import RequestSender
from tests.support.rtl.streams import simulate

#: Cycles in which something must move, and marks be answered at the end: longer than any delay.
_PATIENCE = 1_200


def _fence(scope: int, block: int, warp: int) -> Packet:
    return Packet(PacketKind.FENCE, scope, 0, block, warp, 0, 0, 0, 0)


class SendersAndReceivers(wiring.Component):
    """A sender for each SM and a receiver for each slice, with all their ports.

    Parameters
    ----------
    params : ScordParams
        Configuration.
    sender, receiver : type
        The components.
    """

    def __init__(self, params: ScordParams, sender: Any, receiver: Any):
        self._params, self._made = params, (sender, receiver)
        sms, slices = params.sm_count, params.metadata_ports
        packet, request, response = (
            stream.Signature(struct_layout(layout))
            for layout in (params.segment_layout, params.request_layout, params.response_layout)
        )
        super().__init__({
            "i_packet": In(packet).array(sms), "o_request": Out(request).array(sms),
            "i_response": In(response).array(sms), "o_fenced": Out(params.warps_per_sm).array(sms),
            "i_quiet": In(1).array(sms), "i_ask": In(1), "o_idle": Out(1).array(sms),
            "i_request": In(request).array(slices), "o_packet": Out(packet).array(slices),
            "o_response": Out(response).array(slices), "i_idle": In(1).array(slices),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        sender, receiver = self._made
        for sm in range(self._params.sm_count):
            m.submodules[f"sender_{sm}"] = part = sender(self._params)
            for name in ("i_packet", "i_response"):
                wiring.connect(m, wiring.flipped(getattr(self, name)[sm]), getattr(part, name))
            wiring.connect(m, part.o_request, wiring.flipped(self.o_request[sm]))
            m.d.comb += [
                part.i_sm.eq(sm), part.i_quiet.eq(self.i_quiet[sm]), part.i_ask.eq(self.i_ask),
                self.o_fenced[sm].eq(part.o_fenced), self.o_idle[sm].eq(part.o_idle),
            ]  # fmt: skip
        for number in range(self._params.metadata_ports):
            m.submodules[f"receiver_{number}"] = part = receiver(self._params)
            wiring.connect(m, wiring.flipped(self.i_request[number]), part.i_request)
            for name in ("o_packet", "o_response"):
                wiring.connect(m, getattr(part, name), wiring.flipped(getattr(self, name)[number]))
            m.d.comb += part.i_idle.eq(self.i_idle[number])
        return m


class Network:
    """A queue for each pair, in order; each packet waits at its head for a random time.

    Parameters
    ----------
    rng : Random
        Source of the times.
    longest : int
        Longest time, in cycles.
    swaps : bool
        Break the rule: now and then a packet overtakes the one before it.
    """

    def __init__(self, rng: random.Random, longest: int, swaps: bool = False):
        self._rng, self._longest, self._swaps = rng, longest, swaps
        self._ways: dict[tuple[int, int], deque[int]] = defaultdict(deque)
        self._due: dict[tuple[int, int], int] = defaultdict(int)

    def __len__(self) -> int:
        return sum(map(len, self._ways.values()))

    def put(self, source: int, destination: int, word: int) -> None:
        """Accept a packet."""
        way = self._ways[source, destination]
        way.append(word)
        if self._swaps and len(way) > 1 and self._rng.random() < 0.2:
            way[-1], way[-2] = way[-2], way[-1]

    def offer(self, destination: int, cycle: int) -> int | None:
        """A packet that may arrive; it is out of the network."""
        ways = [pair for pair, way in self._ways.items() if way and pair[1] == destination]
        self._rng.shuffle(ways)
        for pair in ways:
            if self._due[pair] <= cycle:
                late = self._rng.random() < 0.2
                self._due[pair] = cycle + (self._rng.randrange(self._longest + 1) if late else 0)
                return self._ways[pair].popleft()
        return None


class RequestBench:
    """Plays random accesses and fences, and checks what every slice and every warp sees.

    Parameters
    ----------
    params : ScordParams
        Configuration.
    seed : int
        Seed of everything.
    longest : int
        Longest delay in the network, in cycles.
    count : int
        Packets of each SM.
    sender, receiver : type
        The components.
    swaps : bool
        Let the network break its rule.
    """

    def __init__(
        self, params: ScordParams, seed: int, *, longest: int = 200, count: int = 60,
        sender: Any = RequestSender, receiver: Any = RequestReceiver, swaps: bool = False,
    ) -> None:  # fmt: skip
        self.params = params
        self._rng = rng = random.Random(seed)
        self._dut = SendersAndReceivers(params, sender, receiver)
        self._requests = Network(rng, longest, swaps)
        self._responses = Network(rng, longest)
        self._left = [list(self._program(sm, count)) for sm in range(params.sm_count)]
        self._sent: list[list[Packet]] = [[] for _ in range(params.sm_count)]
        #: For each slice and SM, packets due there, and what has been taken; cycles of completion.
        self._due: dict[tuple[int, int], deque[Packet]] = defaultdict(deque)
        self._complete: dict[tuple[int, int], int] = defaultdict(int)
        #: Slices that still lack the fence of a warp.
        self._lacking: dict[tuple[int, int], set[int]] = {}
        self._pause, self._longest = [0] * params.sm_count, longest
        self._answered: list[bool] = []
        self._held: list[int | None] = [None] * params.metadata_ports
        self.fences = self.accesses = 0

    def _program(self, sm: int, count: int) -> Iterator[Packet]:
        for number in range(count):
            warp = self._rng.randrange(self.params.warps_per_sm)
            block = self.params.block_id(sm, warp % self.params.blocks_per_sm)
            if self._rng.random() < 0.3:
                yield _fence(self._rng.choice([*Scope]), block, warp)
            else:
                kind = self._rng.choice([PacketKind.LOAD, PacketKind.STORE, PacketKind.ATOMIC])
                word = self._rng.randrange(1 << 12)
                yield Packet(kind, 0, 1, block, warp, 3, 5, number, word)

    def _next(self, sm: int) -> Packet | None:
        """The first packet whose warp has no fence in flight."""
        for place, packet in enumerate(self._left[sm][:4]):
            if (sm, packet.warp) not in self._lacking:
                return self._left[sm].pop(place)
            if packet.kind == PacketKind.FENCE:
                return None
        return None

    def _slice_of(self, packet: Packet) -> int:
        return packet.word >> self.params.lane_bits & self.params.metadata_ports - 1

    def _leave(self, sm: int, packet: Packet) -> None:
        """The sender has taken a packet."""
        slices = range(self.params.metadata_ports)
        if packet.kind == PacketKind.FENCE:
            self._lacking[sm, packet.warp] = {*slices}
            self.fences += 1
        else:
            slices = [self._slice_of(packet)]
            self.accesses += 1
        for each in slices:
            self._due[each, sm].append(packet)

    def _arrive(self, number: int, word: int, cycle: int) -> None:
        """The banks of a slice have taken a packet: it is the next access of its SM, or a fence
        behind all accesses that its SM sent before."""
        packet = self._packet(word)
        sm = self.params.sm_of_block(packet.block)
        due = self._due[number, sm]
        assert packet in due, f"slice {number} takes {packet}, which is not due"
        before = list(due)[: due.index(packet)]
        passed = [each for each in before if each.kind != PacketKind.FENCE]
        assert not passed, f"slice {number} takes {packet} ahead of {passed}"
        due.remove(packet)
        self._complete[number, sm] = max(
            self._complete[number, sm], cycle + self._rng.randrange(100)
        )
        if packet.kind == PacketKind.FENCE:
            self._lacking[sm, packet.warp].discard(number)

    def _packet(self, word: int) -> Packet:
        fields = self.params.segment_layout.unpack(word)
        if self.params.fence_lanes > 1 and fields["kind"] == PacketKind.FENCE:
            return self._fence_of_lane(word)
        del fields["lanes"]
        return Packet(**fields)

    def _fence_of_lane(self, word: int) -> Packet:
        one, lanes = self.params.fence_layout, self.params.fence_lanes
        rest = word >> 3 + one.width
        present = rest & (1 << lanes) - 1
        assert present.bit_count() == 1
        lane = present.bit_length() - 1
        bits = rest >> lanes + (lane - 1) * one.width if lane else word >> 2 & 1 | word >> 4 << 1
        fence = one.unpack(bits & (1 << one.width) - 1)
        assert self.params.sm_of_block(fence["block"]) % lanes == lane
        return _fence(fence["scope"], fence["block"], fence["warp"])

    def run(self) -> None:
        """Play until all packets have arrived, all fences are complete, and all SMs are idle."""
        simulate(self._dut, self._play, cycles=20_000)

    async def _play(self, ctx: Any) -> None:
        dut, sms, slices = self._dut, self.params.sm_count, self.params.metadata_ports
        offered: list[Packet | None] = [None] * sms
        streams = [*dut.i_packet, *dut.o_request, *dut.i_response, *dut.i_request, *dut.o_packet,
                   *dut.o_response]  # fmt: skip
        signals = [
            each for port in streams for each in (port.valid, port.ready, Value.cast(port.payload))
        ]
        cycle = since = moving = 0
        while True:
            ctx.set(dut.i_ask, int(since > 0 or self._rng.random() < 0.5))
            self._offer(ctx, offered, cycle)
            _, _, *seen = await ctx.tick().sample(*dut.o_fenced, *dut.o_idle, *signals)
            self._check(seen[:sms], seen[sms : 2 * sms], cycle)
            cycle += 1
            values = iter(seen[2 * sms :])
            transfers = [
                word if valid and ready else None
                for valid, ready, word in zip(values, values, values, strict=True)
            ]
            moving = cycle if transfers.count(None) < len(transfers) else moving
            assert cycle - moving < _PATIENCE, f"nothing moves, and {self._lacking} lack fences"
            moved = iter(transfers)
            for sm in range(sms):
                if next(moved) is not None:
                    self._leave(sm, offered[sm])
                    offered[sm] = None
            for sm in range(sms):
                if (word := next(moved)) is not None:
                    to = self.params.request_layout.unpack(word)["destination"]
                    self._requests.put(sm, to, word)
            for sm in range(sms):
                assert (next(moved) is not None) == self._answered[sm], "responses must be taken"
            for number in range(slices):
                if next(moved) is not None:
                    self._held[number] = None
            for number in range(slices):
                if (word := next(moved)) is not None:
                    self._arrive(number, word, cycle)
            for number in range(slices):
                if (word := next(moved)) is not None:
                    to = self.params.response_layout.unpack(word)["destination"]
                    self._responses.put(number, to, word)
            if not any(self._left) and not any(offered) and not self._lacking:
                since += 1
                if all(seen[sms : 2 * sms]) and since > 1:
                    break
                assert since < _PATIENCE, "every SM must find that all it has sent is complete"
        assert not len(self._requests)
        assert not len(self._responses)
        assert self.fences
        assert self.accesses

    def _offer(self, ctx: Any, offered: list[Packet | None], cycle: int) -> None:
        """Drive all inputs for a cycle."""
        dut, params = self._dut, self.params
        self._answered = []
        for sm in range(params.sm_count):
            if offered[sm] is None and cycle >= self._pause[sm]:
                offered[sm] = self._next(sm)
                # Now and then long enough for marks.
                self._pause[sm] = cycle + self._rng.choice((0, 1, 2, 3, 2 * self._longest))
            packet = offered[sm]
            if packet is not None:
                lanes = {"lanes": 1 << (packet.word & params.words_per_cycle - 1)}
                if packet.kind == PacketKind.FENCE or params.words_per_cycle == 1:
                    lanes = {"lanes": 0}
                word = params.segment_layout.pack(packet._asdict() | lanes)
                ctx.set(Value.cast(dut.i_packet[sm].payload), word)
            ctx.set(dut.i_packet[sm].valid, int(packet is not None))
            waits = [warp for of, warp in self._lacking if of == sm]
            ctx.set(dut.i_quiet[sm], int(packet is None and not waits))
            ctx.set(dut.o_request[sm].ready, int(self._rng.random() < 0.7))
            answer = self._responses.offer(sm, cycle)
            self._answered.append(answer is not None)
            ctx.set(dut.i_response[sm].valid, int(answer is not None))
            if answer is not None:
                ctx.set(Value.cast(dut.i_response[sm].payload), answer)
        for number in range(params.metadata_ports):
            if self._held[number] is None:
                self._held[number] = self._requests.offer(number, cycle)
            held = self._held[number]
            ctx.set(dut.i_request[number].valid, int(held is not None))
            if held is not None:
                ctx.set(Value.cast(dut.i_request[number].payload), held)
            ctx.set(dut.o_packet[number].ready, int(self._rng.random() < 0.8))
            ctx.set(dut.o_response[number].ready, int(self._rng.random() < 0.7))
            busy = [at for (of, _), at in self._complete.items() if of == number and at > cycle]
            ctx.set(dut.i_idle[number], int(not busy))

    def _check(self, fenced: list[int], idle: list[int], cycle: int) -> None:
        """Fences end when every slice has them, once; an SM is idle when all is complete."""
        for sm, mask in enumerate(fenced):
            for warp in range(self.params.warps_per_sm):
                if mask >> warp & 1:
                    lacking = self._lacking.pop((sm, warp), None)
                    assert lacking == set(), f"SM {sm} warp {warp} continues, {lacking} lack it"
        for sm, is_idle in enumerate(idle):
            if is_idle:
                due = [key for key, packets in self._due.items() if packets and key[1] == sm]
                late = [key for key, at in self._complete.items() if key[1] == sm and at > cycle]
                assert not [*due, *late], f"SM {sm} is idle, but {due} and {late} are not"
