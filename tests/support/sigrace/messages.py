"""Random Summary messages, good and broken, and their way in and out of a simulated design."""

from __future__ import annotations

from random import Random

from racetrap.golden_model.sigrace.address_set import AddressSet
from racetrap.golden_model.sigrace.block import FinishedBlock
from racetrap.golden_model.sigrace.compressor import encode
from racetrap.golden_model.sigrace.packets import Cause, Summary
from racetrap.golden_model.sigrace.params import Form, SigraceParams


def random_set(params: SigraceParams, rng: Random, addresses: int | None = None):
    """A read or write set of a few addresses, in the form of ``params``; sometimes empty."""
    count = rng.choice([0, 1, 2, 5, 20, 100]) if addresses is None else addresses
    # Often so few different values that sets have some in common.
    bits = rng.choice([2, params.usb_bits])
    usb = [rng.getrandbits(bits) for _ in range(rng.randint(1, params.usb_limit))]
    chosen = AddressSet()
    start, dense = rng.randrange(params.lsb_values), rng.random() < 0.5
    for number in range(count):
        lsb = start + number if dense else rng.randrange(params.lsb_values)
        granule = rng.choice(usb) << params.lsb_bits | lsb % params.lsb_values << 2
        chosen.insert(params, granule)
    return chosen if params.form is Form.SETS else chosen.signature(params)


def random_block(params: SigraceParams, rng: Random, **fields) -> FinishedBlock:
    """A block of any thread, with the given fields."""
    values = {
        "core": rng.randrange(params.cores),
        "context": rng.randrange(params.contexts),
        "thread": rng.randrange(params.threads),
        "sequence": rng.randrange(1 << params.sequence_bits),
        "cause": int(rng.choice([Cause.LIMIT, Cause.SYNC, Cause.SWITCH, Cause.FULL])),
        "timestamp": tuple(rng.randint(0, params.max_counter) for _ in range(params.threads)),
    }
    sets = {name: random_set(params, rng) for name in ("read", "write") if name not in fields}
    return FinishedBlock(**values | sets | fields)


def broken_message(rng: Random, flits: tuple[int, ...]) -> tuple[int, ...]:
    """A message cut short, made longer, or with wrong bits behind the header."""
    kind = rng.randrange(4)
    if kind == 0:
        return flits[: rng.randint(1, max(1, len(flits) - 1))]
    if kind == 1:
        return (*flits, *(rng.getrandbits(32) for _ in range(rng.randint(1, 4))))
    broken = list(flits)
    if kind == 2:
        broken[rng.randrange(len(flits))] ^= 1 << rng.randrange(32)
    else:
        first = rng.randrange(1, len(flits)) if len(flits) > 1 else 0
        broken[first:] = [rng.getrandbits(32) for _ in broken[first:]]
    return tuple(broken)


def random_message(params: SigraceParams, rng: Random, broken: float = 0.0, **fields):
    """Flits of a random block; with probability ``broken`` they are damaged."""
    flits = encode(params, random_block(params, rng, **fields))
    return broken_message(rng, flits) if rng.random() < broken else flits


def flit_words(params: SigraceParams, flits: tuple[int, ...]) -> list[int]:
    """Payloads of a stream that carries the message."""
    layout = params.flit_layout
    return [
        layout.pack({"data": data, "last": int(number == len(flits) - 1)})
        for number, data in enumerate(flits)
    ]


def summary_fields(params: SigraceParams, summary: Summary) -> dict[str, int]:
    """Fields of a decompressed message as the hardware has them; sets count only if it is good."""
    fields = {
        name: getattr(summary, name) for name in ("core", "context", "thread", "sequence", "cause")
    }
    if summary.is_malformed:
        return fields | {"is_malformed": 1}
    timestamp = sum(
        counter << number * params.timestamp_bits
        for number, counter in enumerate(summary.timestamp)
    )
    return fields | {
        "is_malformed": 0, "timestamp": timestamp, "read": summary.read, "write": summary.write,
    }  # fmt: skip
