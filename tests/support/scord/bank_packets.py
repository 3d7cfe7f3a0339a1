"""Regions and packets for tests of a detector bank: short names, and random ones."""

from __future__ import annotations

from racetrap.golden_model.events import Scope
from racetrap.golden_model.gpu.params import LINE_BYTES
from racetrap.golden_model.gpu.region import Region, bank_of_entry
from racetrap.golden_model.gpu.region_table import LineRegion, MonitoredRegion, regions_of
from racetrap.golden_model.scord.bloom_filter import filter_of_key
from racetrap.golden_model.scord.packets import Packet, PacketKind
from racetrap.golden_model.scord.params import ScordParams


def a_region(params: ScordParams, extra_log2: int = 2, metadata_base: int = 0x1238) -> Region:
    """A region of ``2**extra_log2`` times the smallest size, not at address 0."""
    size_log2 = min(params.min_region_log2 + extra_log2, params.max_region_log2)
    return Region(1 << size_log2, size_log2, metadata_base)


def region_fields(params: ScordParams, region: MonitoredRegion) -> list[dict[str, int]]:
    """What a bank is told of each region of a table, by the fields of ``region_layout``."""
    unused = LineRegion()
    return [
        {
            "first": one.data_base // LINE_BYTES,
            "end": one.end // LINE_BYTES,
            "segment": one.metadata_base // params.segment_bytes,
            "turns": one.entries(params) >> params.bank_index_bits,
        }
        for one in (*regions_of(region), *[unused] * params.regions)[: params.regions]
    ]


def set_region(ctx, port, params: ScordParams, region: MonitoredRegion) -> None:
    """Tell a block of a region, or of a table, at its port."""
    if params.regions > 1:
        for number, fields in enumerate(region_fields(params, region)):
            for name, value in fields.items():
                ctx.set(port[number][name], value)
    else:
        ctx.set(port.data_base, region.data_base)
        ctx.set(port.size_log2, region.size_log2)
        ctx.set(port.metadata_base, region.metadata_base)


def word_of(params: ScordParams, region: Region, index: int, tag: int = 0, offset: int = 0) -> int:
    """Word address of the unit with this entry index and tag."""
    unit = tag * region.entries(params) + index
    return (region.data_base + unit * params.granularity) // 4 + offset


def access(kind: int, word: int, block: int = 0, warp: int = 0, **fields: int) -> Packet:
    """A strong device-scope atomic, or a strong load or store, without locks."""
    is_atomic = kind == PacketKind.ATOMIC
    packet = Packet(kind, int(is_atomic), 1, block, warp, 0, 0, 0x40, word)
    return packet._replace(**fields)


def fence(block: int = 0, warp: int = 0, scope: int = Scope.DEVICE) -> Packet:
    return Packet(PacketKind.FENCE, scope, 0, block, warp, 0, 0, 0x44, 0)


def random_packets(params, region, rng, count, *, bank=0, entries=3, fences=0.15, outside=0.05):
    """Packets of few warps on few entries, so that everything meets; any block of the GPU."""
    indices = rng.sample(
        [n for n in range(region.entries(params)) if bank_of_entry(params, n) == bank],
        min(entries, region.entries(params) // params.banks),
    )
    blocks = [
        params.block_id(sm, rng.randrange(params.blocks_per_sm))
        for sm in rng.choices(range(params.sm_count), k=2)
    ]
    warps = [rng.randrange(params.warps_per_sm) for _ in range(2)]
    locks = [0, 0, *(filter_of_key(rng.randrange(64)) for _ in range(2)), 0xFFFF, 0x00FF]
    packets = []
    for _ in range(count):
        block, warp, pc = rng.choice(blocks), rng.choice(warps), rng.getrandbits(params.pc_bits)
        if rng.random() < fences:
            packets.append(fence(block, warp, rng.getrandbits(1))._replace(pc=pc))
            continue
        kind = rng.choice([PacketKind.LOAD, PacketKind.LOAD, PacketKind.STORE, PacketKind.ATOMIC])
        tag = rng.randrange(params.ratio) if rng.random() < 0.1 else 0
        word = word_of(
            params, region, rng.choice(indices), tag, rng.randrange(params.granularity // 4)
        )
        if rng.random() < outside:
            word ^= 1 << rng.randrange(region.size_log2 - 2, params.word_bits)
        is_atomic = kind == PacketKind.ATOMIC
        packets.append(
            Packet(
                kind,
                rng.getrandbits(1) if is_atomic else 0,
                1 if is_atomic else int(rng.random() < 0.8),
                block,
                warp,
                int(rng.random() < 0.1),
                rng.choice(locks),
                pc,
                word,
                rng.getrandbits(params.slot_generation_bits),
            )
        )
    return packets
