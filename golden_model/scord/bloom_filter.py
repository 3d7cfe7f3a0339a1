"""Lock Bloom filter: 16 bits in two bins of 8; a six-bit key sets one bit in each bin.

Ref: ScoRD (ISCA'20) Section IV-A "Detecting races due to lock/unlock".
"""

from __future__ import annotations

from typing import Final

from racetrap.golden_model.scord.params import FILTER_BIN_BITS

_LOW_BIN: Final = (1 << FILTER_BIN_BITS) - 1
_INDEX: Final = FILTER_BIN_BITS - 1


def filter_of_key(key: int) -> int:
    """Filter that holds ``key`` alone: its low three bits choose in bin 0, the high in bin 1."""
    return 1 << (key & _INDEX) | 1 << (FILTER_BIN_BITS + (key >> 3))


def is_empty(filter_bits: int) -> bool:
    """Whether the filter holds no key: one of its bins is zero."""
    return not (filter_bits & _LOW_BIN and filter_bits >> FILTER_BIN_BITS)


def share_a_lock(one: int, other: int) -> bool:
    """Whether two filters have a key in common: their AND is non-zero in both bins."""
    return not is_empty(one & other)
