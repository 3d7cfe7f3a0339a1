"""Random blocks of a SigRace core unit, and configurations at the edges of the parameters."""

from __future__ import annotations

import random

from racetrap.golden_model.sigrace.address_set import AddressSet
from racetrap.golden_model.sigrace.block import FinishedBlock
from racetrap.golden_model.sigrace.packets import Cause
from racetrap.golden_model.sigrace.params import Form, SigraceParams
from racetrap.golden_model.sigrace.signature import signature_hash
from racetrap.rtl.sigrace.layouts import block_layout, index_layout, set_layout

#: Settings of parameters at the edges of their ranges, each a change of ``SMALL``.
EDGES = [
    {},
    {"threads": 1, "usb_limit": 1},
    {"threads": 128, "timestamp_bits": 2},
    {"timestamp_bits": 32, "pc_bits": 8, "trap_depth": 1},
    {"lsb_bits": 4, "filters": 2, "filter_bits": 16},
    {"lsb_bits": 12, "filters": 32, "usb_limit": 63},
    {"one_hot_lsb": True},
    {"form": "hashed"},
    {"form": "hashed", "one_hot_lsb": True, "lsb_bits": 4},
    {"form": "hashed", "filters": 2, "filter_bits": 1024, "lsb_bits": 16},
    {"form": "hashed", "one_hot_lsb": True, "lsb_bits": 12, "filter_bits": 16},
    {"block_instructions": 1, "sequence_bits": 2},
]


def _random_size(rng: random.Random, most: int) -> int:
    """A size that is often 0, 1 or the most possible."""
    return rng.choice([0, 1, most, rng.randint(0, most)])


def _random_bitmap(rng: random.Random, bits: int) -> int:
    """A bitmap with at least one bit: single bits, long runs, or noise."""
    low, high = sorted(rng.randrange(bits + 1) for _ in range(2))
    noise = rng.getrandbits(bits)
    choices = [1 << rng.randrange(bits), (1 << high) - (1 << low), noise, (1 << bits) - 1]
    return rng.choice(choices) or 1


def _random_set(params: SigraceParams, rng: random.Random) -> AddressSet:
    values: dict[int, None] = {}  # keeps the order
    for _ in range(_random_size(rng, params.usb_limit)):
        values[rng.getrandbits(params.usb_bits)] = None
    return AddressSet(_random_bitmap(rng, params.lsb_values) if values else 0, values)


def _random_signature(params: SigraceParams, rng: random.Random) -> int:
    if not (count := _random_size(rng, 60)):
        return 0
    lsb_values = [rng.randrange(params.lsb_values) for _ in range(count)]
    usb_values = [rng.getrandbits(params.usb_bits) for _ in range(rng.randint(1, 60))]
    return AddressSet(sum(1 << value for value in {*lsb_values}), usb_values).signature(params)


def random_block(params: SigraceParams, rng: random.Random) -> FinishedBlock:
    """A block that is not empty, with header fields of all values."""
    make = _random_signature if params.form is Form.HASHED else _random_set
    sets = (make(params, rng), make(params, rng))
    if sets in ((0, 0), (AddressSet(), AddressSet())):
        return random_block(params, rng)
    return FinishedBlock(
        rng.randrange(params.cores),
        rng.randrange(params.contexts),
        rng.randrange(params.threads),
        rng.randrange(1 << params.sequence_bits),
        rng.randrange(1, len(Cause)),
        tuple(
            rng.choice([0, params.max_counter, rng.randint(0, params.max_counter)])
            for _ in range(params.threads)
        ),
        *sets,
    )


def pack_set(params: SigraceParams, addresses: AddressSet | int, rng: random.Random) -> int:
    """Bits of ``set_layout``; places of the USB list that are not used hold junk."""
    if isinstance(addresses, int):
        return _constant(
            set_layout(params), {"signature": addresses, "is_empty": int(not addresses)}
        )
    unused = params.usb_limit - len(addresses.usb)
    junk = [rng.getrandbits(params.usb_bits) for _ in range(unused)]
    return _constant(
        set_layout(params),
        {
            "bitmap": addresses.bitmap,
            "usb": addresses.usb + junk,
            "count": len(addresses.usb),
            "is_empty": int(not addresses.usb),
        },
    )


def pack_block(params: SigraceParams, block: FinishedBlock, rng: random.Random) -> int:
    """Bits of ``block_layout``."""
    header = {name: getattr(block, name) for name in ("core", "context", "thread", "sequence")}
    header |= {"cause": block.cause, "is_hashed": int(params.form is Form.HASHED)}
    timestamp = sum(
        counter << number * params.timestamp_bits for number, counter in enumerate(block.timestamp)
    )
    layout = block_layout(params)
    word = 0
    for name, value in (
        ("header", params.header_layout.pack(header)),
        ("timestamp", timestamp),
        ("read", pack_set(params, block.read, rng)),
        ("write", pack_set(params, block.write, rng)),
    ):
        word |= value << layout[name].offset
    return word


def indices_of(params: SigraceParams, granule: int):
    """Position of the granule's bit in each filter (``index_layout``), by the golden signature."""
    bits = signature_hash(params).granule(granule)
    return index_layout(params).const({
        str(number): (bits >> each.offset & (1 << each.bits) - 1).bit_length() - 1
        for number, each in enumerate(params.sub_filters)
    })  # fmt: skip


def _constant(layout, values) -> int:
    """Bits of a structure with these values."""
    return layout.const(values).as_bits()
