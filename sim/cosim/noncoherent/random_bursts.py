"""Random bursts on an AXI4 bus that a monitor listens to."""

from __future__ import annotations

from random import Random

from racetrap.golden_model.axi import PAGE_BYTES, AxiBurst
from racetrap.golden_model.noncoherent.axi_monitor import Burst
from racetrap.golden_model.noncoherent.params import NoncoherentParams

#: The largest size that AXI has: log2 of 128 bytes.
LARGEST_SIZE = 7
_WRAP_LENGTHS = (2, 4, 8, 16)
_MOST_BEATS = {AxiBurst.FIXED: 16, AxiBurst.INCR: 256}


def random_bursts(
    random: Random, params: NoncoherentParams, count: int, size: int,
    largest_size: int = LARGEST_SIZE,
) -> list[tuple[bool, Burst]]:  # fmt: skip
    """Bursts, each a write or a read, of all kinds; none crosses a page.

    They are in the first bytes of memory, or at the beginning or the end of a page.

    Parameters
    ----------
    random : Random
        Source of all choices.
    params : NoncoherentParams
        Configuration of the monitor.
    count : int
        Number of bursts.
    size : int
        Bytes of memory that the CPU is busy with.
    largest_size : int
        Log2 of the most bytes of a beat.
    """
    return [
        (random.random() < 0.5, _burst(random, params, size, largest_size)) for _ in range(count)
    ]


def _burst(random: Random, params: NoncoherentParams, size: int, largest_size: int) -> Burst:
    kind, unit_log2 = random.choice(list(AxiBurst)), random.randint(0, largest_size)
    unit = 1 << unit_log2
    beats = random.choice((1, 2, random.randint(1, 16), _MOST_BEATS.get(kind, 1)))
    if kind is AxiBurst.WRAP:
        beats = random.choice(_WRAP_LENGTHS)
    beats = min(beats, PAGE_BYTES // unit)
    last = PAGE_BYTES - unit * beats
    place = min(random.choice((random.randrange(size), 0, last)), last)
    if kind is AxiBurst.WRAP:
        place &= -unit
    last_page = (1 << params.address_bits) - PAGE_BYTES
    page = random.choice((0, 0, 0, PAGE_BYTES, last_page))
    number = random.randrange(1 << params.engine_bits)
    return Burst(number, page + place, beats - 1, unit_log2, kind)
