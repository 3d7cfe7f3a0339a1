"""Random items for a collector: any entries and decisions, even those that no bank makes."""

from __future__ import annotations

import random
from collections.abc import Iterator

from racetrap.golden_model.causality.detector_bank import Step
from racetrap.golden_model.causality.entry import Entry, Side
from racetrap.golden_model.causality.packets import (
    Against,
    Marker,
    Packet,
    PacketKind,
    TransactionKind,
    Undecided,
)
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.gpu.region import bank_of
from tests.support.causality.collector_bench import Item

_KIND = TransactionKind
#: What clocks grow by in one step, and how far ahead they may be.
_LARGEST = 4
_OF_A_WARP = (_KIND.FENCE, _KIND.FENCE, _KIND.BEGIN, _KIND.END, _KIND.ARRIVE, _KIND.IF)


class RandomItems:
    """Blocks that keep their warp slots, one after the other, and whatever their warps meet.

    Clocks are small, so that what is met is often new, often known and often of an older block.
    """

    def __init__(self, params: CausalityParams, seed: int | str) -> None:
        self._params, self._rng = params, random.Random(seed)
        share = params.warps_per_sm // params.blocks_per_sm
        self._warps = {
            params.block_id(sm, slot): tuple(
                params.warp_id(sm, slot * share + warp) for warp in range(share)
            )
            for sm in range(params.sm_count)
            for slot in range(params.blocks_per_sm)
        }
        self._clock = 0
        # By block and warp: memory and word of what was written over its access.
        self._flags: dict[tuple[int, int], tuple[int, int]] = {}

    def launch(self, count: int) -> list[Item]:
        """Items of one launch; clocks wrap once, and wherever they would be too large."""
        self._clock = 1
        items = [self._start(block) for block in self._warps]
        wrap = self._rng.randrange(2 * count) // 2
        for number in range(count):
            if number == wrap or self._clock > self._params.last_clock - _LARGEST:
                items += self._wrap()
            items += self._any()
        return items

    def _wrap(self) -> Iterator[Item]:
        """A block starts at the last clock; then all are 1."""
        yield Item(rests=True)
        self._clock = self._params.last_clock - 1
        block = next(iter(self._warps))
        yield self._marker(_KIND.BLOCK_END, block, self._warps[block][0], self._warps[block])
        yield self._start(block)
        yield Item()
        self._clock = 1

    def _any(self) -> Iterator[Item]:
        rng = self._rng
        self._clock += rng.random() < 0.2
        block = rng.choice(list(self._warps))
        warps, choice = self._warps[block], rng.random()
        warp = rng.choice(warps)
        if choice < 0.5:
            if self._flags and rng.random() < 0.2:
                block, warp = rng.choice(list(self._flags))
            step = self._step(block, warp)
            yield Item(step=step, bank=bank_of(self._params, step.packet.word))
        elif choice < 0.85:
            yield self._marker(rng.choice(_OF_A_WARP), block, warp)
        elif choice < 0.89:
            yield self._marker(_KIND.BARRIER, block, warps[0], warps)
        elif choice < 0.93:
            mask = rng.randrange(1, 1 << len(warps))
            yield self._marker(_KIND.PARTIAL_BARRIER, block, warps[0], warps, mask)
        else:
            yield self._marker(_KIND.BLOCK_END, block, warps[0], warps)
            yield self._start(block)

    def _marker(
        self, kind: int, block: int, warp: int, warps: tuple[int, ...] = (), mask: int = 0
    ) -> Item:
        rng = self._rng
        marker = Marker(
            kind, block, warp, rng.randrange(4), rng.randrange(2), self._clock, rng.randrange(2),
            mask,
        )  # fmt: skip
        return Item(marker=marker, warps=warps or (warp,))

    def _start(self, block: int) -> Item:
        warps = self._warps[block]
        self._flags = {place: flag for place, flag in self._flags.items() if place[0] != block}
        low = (1 << self._params.warp_bits) - 1
        mask = sum(1 << (warp & low) for warp in warps)
        self._clock += 1
        return self._marker(_KIND.BLOCK_START, block, warps[0], warps, mask)

    def _bits(self, count: int, chance: float = 0.5) -> list[int]:
        return [int(self._rng.random() < chance) for _ in range(count)]

    def _side(self, packet: Packet, is_writer: bool) -> Side | None:
        rng = self._rng
        if rng.random() < 0.25:
            return None
        block = packet.block if rng.random() < 0.4 else rng.choice(list(self._warps))
        warp = packet.warp if rng.random() < 0.2 else rng.choice(self._warps[block])
        block = packet.block if warp == packet.warp else block
        lane = packet.lane if rng.random() < 0.5 else rng.randrange(32)
        clock = rng.randint(1, self._clock + 2)
        side = Side(
            warp, block, clock, lane, *self._bits(1), rng.randrange(1, 16), *self._bits(4),
            rng.randrange(8), rng.randrange(5),
        )  # fmt: skip
        return Side(*side[:12], *self._bits(4), rng.randrange(16)) if is_writer else side

    def _step(self, block: int, warp: int) -> Step:
        rng, params = self._rng, self._params
        # A warp finds its flag again, or another word, most often by a message that may have been
        # displaced.
        flag = self._flags.get((block, warp))
        is_displaced = flag is not None and rng.random() < 0.7
        kind = rng.choice((PacketKind.LOAD, PacketKind.STORE, PacketKind.ATOMIC))
        word = rng.choice((0, 0, 0, 1, rng.getrandbits(params.word_bits)))
        lanes = 1 << rng.randrange(32) | (rng.getrandbits(32) if rng.random() < 0.4 else 0)
        shared, strong, named, device, acquire, release = int(rng.random() < 0.25), *self._bits(5)
        if flag:
            other = rng.choice(((0, 0), (1, 0), (0, 1)))
            shared, word = flag[0] ^ other[0], flag[1] ^ other[1]
            if other == (0, 0):
                del self._flags[block, warp]
        if is_displaced:
            kind, strong = rng.choice((PacketKind.LOAD, PacketKind.ATOMIC)), 1
        writes = 0 if kind == PacketKind.LOAD else 1
        packet = Packet(
            kind, block, warp, rng.getrandbits(params.pc_bits), shared, writes, strong, named,
            device, acquire, release, int(writes and rng.random() < 0.2), rng.randrange(5),
            rng.randrange(1, 16), word, lanes,
            rng.randint(1, self._clock + 2), *self._bits(2), rng.randrange(8),
        )  # fmt: skip
        writer, reader = self._side(packet, True), self._side(packet, False)
        message = rng.randrange(16) if writer and not is_displaced else 0
        sides = [Against.WRITER] * bool(writer) + [Against.READER] * bool(reader)
        against = rng.choice([Against.NONE, *sides, *[sum(sides)] * bool(sides)])
        undecided = self._undecided(packet, writer, reader)
        over = {
            Undecided.WRITE_AFTER_WRITER: [writer], Undecided.WRITE_AFTER_READER: [reader],
            Undecided.WRITE_AFTER_BOTH: [writer, reader],
        }  # fmt: skip
        self._flags |= {
            (side.block, side.warp): (shared, word) for side in over.get(undecided, ()) if side
        }
        met = int(bool(message and strong and packet.reads) and rng.random() < 0.6)
        before = Entry(message=message, mixed=rng.randrange(2), writer=writer, reader=reader)
        return Step(
            packet, 1, against, undecided, met, int(bool(message) and rng.random() < 0.4),
            int(is_displaced or rng.random() < 0.04), 0, 0, 0, before, before,
        )  # fmt: skip

    def _undecided(self, packet: Packet, writer: Side | None, reader: Side | None) -> int:
        """A flag that is read has a writer; one that is written had been read by another warp."""
        may = [Undecided.NONE] * 2
        ours = [side is not None and side.warp != packet.warp for side in (writer, reader)]
        if ours[0] and packet.reads:
            may.append(Undecided.READ)
        if packet.writes:
            may += [Undecided.WRITE_AFTER_WRITER] * ours[0]
            may += [Undecided.WRITE_AFTER_READER] * ours[1]
            may += [Undecided.WRITE_AFTER_BOTH] * all(ours)
        return self._rng.choice(may)
