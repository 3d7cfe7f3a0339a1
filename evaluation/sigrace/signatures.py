"""Signatures of the NumPy engine: those of all blocks, and null tests of all intersections.

Ref: SigRace (ISCA'09) Sections 4.1 and 5.2, Fig. 6.
"""

from __future__ import annotations

import numpy as np

from racetrap.evaluation.sigrace.blocks import Blocks
from racetrap.evaluation.sigrace.windows import Pairs
from racetrap.golden_model.sigrace.packets import Conflict
from racetrap.golden_model.sigrace.params import SigraceParams, SubFilter
from racetrap.golden_model.trace.threads.events import GRANULE_LOG2

__all__ = ["Signatures"]

#: Bits of a word of a filter; smaller filters are filled up.
_WORD_BITS = 64


class Signatures:
    """Filters of the signatures of all sets of some blocks.

    Parameters
    ----------
    params : SigraceParams
        Configuration.
    blocks : Blocks
        The blocks.
    """

    def __init__(self, params: SigraceParams, blocks: Blocks) -> None:
        sets = np.repeat(np.arange(len(blocks.first) - 1), np.diff(blocks.first))
        count = len(blocks.first) - 1
        lsb_bits = params.lsb_bits - GRANULE_LOG2
        lsb = _distinct(sets, blocks.granule & (1 << lsb_bits) - 1, lsb_bits)
        usb = _distinct(sets, blocks.granule >> lsb_bits, params.usb_bits)
        #: Distinct values of the upper portion in each set.
        self.usb_counts = np.bincount(usb[0], minlength=count)
        #: Bits set in each filter (columns) of each set (rows).
        self.bit_counts = np.zeros((count, len(params.sub_filters)), np.int64)
        filters = []
        for number, each in enumerate(params.sub_filters):
            bits = _filter(each, count, *(lsb if each.is_lsb else usb))
            self.bit_counts[:, number] = bits.sum(axis=1)
            filters.append(np.packbits(bits, axis=1, bitorder="little").view(np.uint64))
        # Filters of the upper portion come first: most intersections are null there already.
        self._filters = filters[::-1]

    def not_null(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Whether each intersection of a set with another keeps a bit in every filter."""
        left = np.arange(len(one))
        for words in self._filters:
            common = words[one[left]] & words[other[left]]
            left = left[common.any(axis=1)]
        result = np.zeros(len(one), bool)
        result[left] = True
        return result

    def conflicts(self, pairs: Pairs) -> np.ndarray:
        """``Conflict`` bits of each pair."""
        found = np.zeros(len(pairs.message), np.uint8)
        for kind, (one, other) in _intersected_sets(pairs).items():
            found[self.not_null(one, other)] |= int(kind)
        return found


def _intersected_sets(pairs: Pairs) -> dict[Conflict, tuple[np.ndarray, np.ndarray]]:
    """The three intersections of each pair, as set of the message and set of the entry."""
    message, entry = pairs.message * 2, pairs.entry * 2
    return {
        Conflict.READ_WRITE: (message, entry + 1),
        Conflict.WRITE_READ: (message + 1, entry),
        Conflict.WRITE_WRITE: (message + 1, entry + 1),
    }


def _distinct(sets: np.ndarray, values: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Set and value of each different value of each set."""
    keys = np.sort(sets << bits | values)  # np.unique would hash, which is slower here
    unique = keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]]
    return unique >> bits, unique & (1 << bits) - 1


def _filter(each: SubFilter, count: int, sets: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Bits of one filter of all sets."""
    bits = np.zeros((count, max(each.bits, _WORD_BITS)), bool)
    bits[sets, _positions(each, values)] = True
    return bits


def _positions(each: SubFilter, values: np.ndarray) -> np.ndarray:
    """Bits that values of the filter's portion set; LSB values are without their zero bits."""
    if each.rows is None:
        return values
    different, inverse = np.unique(values, return_inverse=True)
    hashed = np.zeros(len(different), np.int64)
    for bit, row in enumerate(each.rows[GRANULE_LOG2:] if each.is_lsb else each.rows):
        hashed ^= (different >> bit & 1) * row
    return hashed[inverse]
