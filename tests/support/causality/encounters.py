"""Random encounters of an access with an entry, on rows of all kinds, and how rows are packed."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

from racetrap.golden_model.causality.entry import Entry, Side
from racetrap.golden_model.causality.knowledge import Known
from racetrap.golden_model.causality.packets import Packet, PacketKind
from racetrap.golden_model.causality.params import PLACE_BITS, CausalityParams
from racetrap.golden_model.causality.warp_row import Level, Record, WarpRow
from racetrap.golden_model.events import ALL_LANES, WARP_SIZE, lanes_of
from racetrap.golden_model.layout import Layout
from racetrap.rtl.causality.access import TILE_BITS
from tests.support.causality.records import table_values

#: Clocks of an encounter: few, so that all comparisons meet equal ones.
_CLOCKS = range(1, 7)


def pack_row(params: CausalityParams, row: WarpRow) -> int:
    """What the collector sends of a row."""
    clocks = {name: getattr(row, name) for name in ("start", "bar", "own", "lanes_before")}
    know = table_values(params, row.know, params.known)
    return params.row_layout.pack({**clocks, "know": know})


def pack_branch(params: CausalityParams, row: WarpRow) -> int:
    """What a bank keeps of a row's branches, as its ``branch_layout`` has it."""
    clock, places = params.clock_bits, params.records
    if params.independent_threads:
        record = Layout({"lanes": WARP_SIZE, "clock": clock, "tile": TILE_BITS})
        layout = Layout({"lanes_before": clock} | {f"{place}": record for place in range(places)})
        values: dict[str, Any] = {"lanes_before": row.lanes_before}
        for place in range(places):
            one = row.records[place] if place < len(row.records) else Record(0, 0, 0)
            values[f"{place}"] = one._asdict() | {"tile": one.tile.bit_length()}
        return layout.pack(values)
    level = Layout({"active": WARP_SIZE, "clock": clock})
    layout = Layout({"depth": 8} | {f"{place}": level for place in range(params.levels)})
    values = {"depth": row.depth}
    for place in range(params.levels):
        one = row.levels[place] if place < len(row.levels) else Level(0, 0, 0)
        values[f"{place}"] = {"active": one.active, "clock": one.clock}
    return layout.pack(values)


def some_lanes(rng: Random) -> int:
    """Lanes of a warp: one, a tile, a few, or all."""
    size = 1 << rng.randrange(5)
    tile = (1 << size) - 1 << rng.randrange(32 // size) * size
    few = sum(1 << lane for lane in rng.sample(range(32), rng.randint(2, 6)))
    return rng.choice((1 << rng.randrange(32), tile, few, ALL_LANES))


class Encounters:
    """Rows, packets and entries that often have to do with each other.

    Parameters
    ----------
    params : CausalityParams
        Configuration.
    rng : Random
        Source of all choices.
    """

    def __init__(self, params: CausalityParams, rng: Random) -> None:
        self._params, self._rng = params, rng
        lanes = [rng.randrange(32) for _ in range(2)]
        self._lanes = [1 << lanes[0], 1 << lanes[1], 1 << lanes[0] | 1 << lanes[1]]

    def block_and_warp(self) -> tuple[int, int]:
        """A block slot and a warp slot of the GPU, of two SMs, few of each."""
        params, rng = self._params, self._rng
        sm = rng.choice((0, params.sm_count - 1))
        slot, warp = (
            rng.randrange(min(count, 2)) for count in (params.blocks_per_sm, params.warps_per_sm)
        )
        return params.block_id(sm, slot), params.warp_id(sm, warp)

    def clock(self) -> int:
        """A clock of an access."""
        return self._rng.choice(_CLOCKS)

    def row(self) -> WarpRow:
        """A row in any state."""
        rng, row = self._rng, WarpRow(self._params, Counter())
        for name in ("bar", "own", "lanes_before"):
            setattr(row, name, rng.choice((0, 0, self.clock())))
        row.start = self.clock()
        for _ in range(rng.randrange(self._params.known + 1)):
            block, warp = self.block_and_warp()
            key = rng.choice((warp, ~block))
            row.know.exact.append(Known(key, block, self.clock(), rng.random() < 0.5))
        if rng.random() < 0.4:
            row.know.bits = rng.getrandbits(self._params.hash_bits)
            row.know.lossy = self.clock()
        self._diverge(row)
        return row

    def _diverge(self, row: WarpRow) -> None:
        rng = self._rng
        for _ in range(rng.randrange(4)):
            if self._params.independent_threads:
                row.warp_barrier(self.lanes(), self.clock())
            else:
                choice = rng.random()
                if choice < 0.6:
                    row.begin_branch(self.lanes(), self.clock())
                elif choice < 0.8:
                    row.swap_branch()
                else:
                    row.end_branch()

    def lanes(self) -> int:
        """Lanes of an access."""
        return self._rng.choice(self._lanes) if self._rng.random() < 0.7 else some_lanes(self._rng)

    def packet(self, word: int) -> Packet:
        """An access to a word."""
        rng = self._rng
        kind = rng.choice((PacketKind.LOAD, PacketKind.STORE, PacketKind.ATOMIC))
        is_atomic = kind == PacketKind.ATOMIC
        strong = int(is_atomic or rng.random() < 0.75)
        block, warp = self.block_and_warp()
        writes = int(rng.random() < 0.8) if is_atomic else int(kind == PacketKind.STORE)
        return Packet(
            kind, block, warp, rng.getrandbits(self._params.pc_bits), 0, writes, strong,
            int(is_atomic or (strong and rng.random() < 0.4)), rng.getrandbits(1),
            int(rng.random() < 0.3), int(rng.random() < 0.3),
            int(kind == PacketKind.STORE and rng.random() < 0.1), rng.choice((2, 2, 0, 3, 4)),
            rng.choice((15, 15, rng.randrange(1, 16))), word, self.lanes(), self.clock(),
            rng.getrandbits(1), rng.getrandbits(1), rng.choice((0, 0, rng.randrange(8))),
        )  # fmt: skip

    def side(self, packet: Packet, row: WarpRow, is_writer: bool) -> Side:
        """A writer or reader, often much like the packet."""
        rng = self._rng
        block, warp = self.block_and_warp()
        if rng.random() < 0.5:
            block, warp = packet.block, packet.warp
        clock = packet.clock if rng.random() < 0.4 else self.clock()
        if warp == packet.warp and clock >= row.start:
            block = packet.block  # the block has its warp slots for itself
        is_alike = rng.random() < 0.6
        atomic = int(packet.is_atomic) if is_alike else rng.getrandbits(1)
        strong = packet.strong if is_alike else int(atomic or rng.random() < 0.6)
        side = Side(
            warp, block, clock, rng.choice((*lanes_of(packet.lanes), packet.lane, 0)),
            int(rng.random() < 0.2), rng.choice((15, 15, packet.bytes, rng.randrange(1, 16))),
            strong, packet.named if is_alike else int(atomic or (strong and rng.random() < 0.5)),
            atomic, packet.device if is_alike else rng.getrandbits(1),
            packet.sc if is_alike else rng.choice((0, rng.randrange(8))),
            packet.size if rng.random() < 0.8 else rng.choice((0, 2, 3, 4)),
        )  # fmt: skip
        if not is_writer:
            return side
        return side._replace(
            released=packet.released if is_alike else rng.getrandbits(1),
            released_device=packet.released_device if is_alike else rng.getrandbits(1),
            operation=packet.release if is_alike else rng.getrandbits(1),
            handed=int(rng.random() < 0.2),
            place=packet.place if is_alike else rng.getrandbits(PLACE_BITS),
        )

    def entry(self, packet: Packet, row: WarpRow, epoch: int, tag: int) -> Entry:
        """What the place of a packet's word holds."""
        rng, params = self._rng, self._params
        if rng.random() < 0.05:
            return Entry(lost=rng.getrandbits(1))
        writer = self.side(packet, row, True) if rng.random() < 0.8 else None
        reader = self.side(packet, row, False) if rng.random() < 0.7 else None
        has_message = writer is not None and rng.random() < 0.5
        return Entry(
            epoch if rng.random() < 0.95 else rng.getrandbits(params.epoch_bits),
            tag if rng.random() < 0.95 or not tag else tag ^ 1,
            int(rng.random() < 0.1), int(rng.random() < 0.1),
            rng.randrange(3) if writer else 0,
            rng.randrange(1, 16) if has_message else 0,
            int(has_message and rng.random() < 0.2), writer, reader,
        )  # fmt: skip
