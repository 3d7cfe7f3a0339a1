"""Hash of a lock's address, and the mask that turns it into a block's key.

Hash: the word address taken as a polynomial over GF(2), times a constant, modulo the primitive
polynomial x^6 + x + 1.  Address bit i contributes c x^i mod p, which repeats only every 63
bits, so two addresses that differ in one bit, or in any two bits of a 38-bit word address,
never collide; and hardware needs one XOR tree for each of the six bits.  The constant is the
one for which two locks at a small distance most often differ in both halves of the key, and so
in both bins of the filter.

Block mask: a lock used at block scope has the key hash XOR mask(block).  Each half of a mask
(the half that chooses in bin 0 and the half that chooses in bin 1) is from 1 to 7, never 0, so
there are 49 masks, and all are different within 49 consecutive BlockIDs.  With a zero half
there would be 63, but a filter that holds a lock's device key and one block's key would then
also match other blocks' keys crosswise, one bin from each key.

The measured quality of both is in ``docs/lock-hash.md``.

Ref: ScoRD (ISCA'20) Section IV-A "Detecting races due to lock/unlock".
"""

from __future__ import annotations

from functools import cache, lru_cache

from racetrap.golden_model.scord.params import FILTER_BIN_BITS, LOCK_HASH_BITS

#: x^6 + x + 1, primitive over GF(2).
_POLYNOMIAL = 0b1000011
#: Hash of address bit 0, chosen over all 63 by the table in ``docs/lock-hash.md``.
_FIRST_COLUMN = 0b110011
#: Non-zero values of one half of a mask.
_HALF_MASKS = FILTER_BIN_BITS - 1
_HALF_BITS = LOCK_HASH_BITS // 2


@cache
def lock_hash_columns(word_bits: int) -> tuple[int, ...]:
    """Hash of each single address bit; the hash of an address is the XOR of its bits'."""
    columns = []
    column = _FIRST_COLUMN
    for _ in range(word_bits):
        columns.append(column)
        column <<= 1
        if column >> LOCK_HASH_BITS:
            column ^= _POLYNOMIAL
    return tuple(columns)


@lru_cache(maxsize=1 << 12)
def lock_hash(word: int) -> int:
    """Six-bit hash of a word address (byte address divided by 4)."""
    result = 0
    for column in lock_hash_columns(word.bit_length()):
        if word & 1:
            result ^= column
        word >>= 1
    return result


def block_mask(block: int) -> int:
    """Six-bit mask, both halves non-zero, that distinguishes BlockID ``block``'s keys."""
    high, low = divmod(block, _HALF_MASKS)
    return 1 + high % _HALF_MASKS << _HALF_BITS | 1 + low
