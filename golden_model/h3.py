"""H3 hashing: the XOR of the rows of a constant matrix that the set bits of a value select.

Hardware needs one XOR tree for each bit of the hash; model and hardware take the same rows from
here.

Ref: SigRace (ISCA'09) Section 5.2 ("the H3 hash function as in [23]").
"""

from __future__ import annotations

from functools import cache
from random import Random


@cache
def h3_rows(input_bits: int, output_bits: int, seed: str) -> tuple[int, ...]:
    """Random matrix of the highest rank that its size allows.

    With full rank every hash value is taken equally often, and inputs of no more bits than the
    hash has never collide.

    Parameters
    ----------
    input_bits, output_bits : int
        Bits of the value and of its hash.
    seed : str
        Name of the matrix: another seed gives an independent one.

    Returns
    -------
    tuple of int
        One row of ``output_bits`` bits for each bit of the value, least significant first.
    """
    random = Random(f"h3 {seed}")
    full = min(input_bits, output_bits)
    while True:
        rows = tuple(random.getrandbits(output_bits) for _ in range(input_bits))
        if _rank(rows) == full:
            return rows


def _rank(rows: tuple[int, ...]) -> int:
    """Rank over GF(2)."""
    basis: dict[int, int] = {}  # by highest bit
    for row in rows:
        while row and (top := row.bit_length()) in basis:
            row ^= basis[top]
        if row:
            basis[top] = row
    return len(basis)


def h3_hash(rows: tuple[int, ...], value: int) -> int:
    """Hash of ``value``, which has at most as many bits as there are rows."""
    result = 0
    for row in rows:
        if value & 1:
            result ^= row
        value >>= 1
    return result
