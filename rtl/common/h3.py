"""H3 hashing in gates: one XOR tree for each bit of the hash.

Ref: SigRace (ISCA'09) Section 5.2 ("the H3 hash function as in [23]").
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import xor

from amaranth.hdl import Cat, Const, Value


def h3_hash_of(rows: Sequence[int], bits: int, value: Value) -> Value:
    """Hash of ``value``, combinational.

    Parameters
    ----------
    rows : sequence of int
        Constant matrix: a row for each bit of ``value``, least significant first.
    bits : int
        Bits of a row, and of the hash.
    value : Value
        What is hashed.

    Returns
    -------
    Value
        XOR of the rows that the set bits of ``value`` select.
    """
    return Cat(
        reduce(
            xor,
            (value[i] for i, row in enumerate(rows) if row >> bit & 1),
            Const(0, 1),
        )
        for bit in range(bits)
    )
