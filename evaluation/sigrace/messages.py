"""Message sizes of the NumPy engine: bytes of all Summary messages, without making them.

Ref: SigRace (ISCA'09) Sections 4.1 and 5.5, Fig. 10(b).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from racetrap.evaluation.sigrace.blocks import Blocks
from racetrap.evaluation.sigrace.signatures import Signatures
from racetrap.golden_model.sigrace.params import FLIT_BITS, Form, SigraceParams
from racetrap.golden_model.trace.threads.events import GRANULE_LOG2

__all__ = ["MessageSizes", "message_bytes", "message_sizes"]

#: Sets whose bitmaps are in memory at a time.
_CHUNK_SETS = 1 << 14


@dataclass(frozen=True)
class MessageSizes:
    """Bytes of messages.

    Parameters
    ----------
    messages, total : int
        Messages, and their bytes.
    mean, percentile_99 : float
        Bytes of a message: mean, and what 99 of 100 messages do not exceed.
    instructions : int
        Instructions that the program has committed.
    """

    messages: int
    total: int
    mean: float
    percentile_99: float
    instructions: int

    @property
    def per_1000_instructions(self) -> float:
        """Bytes for each 1,000 committed instructions."""
        return 1000 * self.total / self.instructions if self.instructions else 0.0


def message_sizes(params: SigraceParams, blocks: Blocks, instructions: int) -> MessageSizes:
    """Sizes of the messages of some blocks, which were made with the same parameters."""
    sizes = message_bytes(params, blocks)
    return MessageSizes(
        messages=len(sizes),
        total=int(sizes.sum()),
        mean=float(sizes.mean()) if len(sizes) else 0.0,
        percentile_99=float(np.percentile(sizes, 99, method="higher")) if len(sizes) else 0.0,
        instructions=instructions,
    )


def message_bytes(params: SigraceParams, blocks: Blocks) -> np.ndarray:
    """Bytes of the message of each block, in the form of ``params``."""
    used = np.diff(blocks.first) > 0
    bits = np.where(used, _set_bits(params, blocks), 0) + 1  # and one that says "empty"
    whole = bits[0::2] + bits[1::2] + params.header_layout.width + params.timestamp_width
    return -(-whole // FLIT_BITS) * (FLIT_BITS // 8)


def _set_bits(params: SigraceParams, blocks: Blocks) -> np.ndarray:
    """Bits of each set that is not empty."""
    signatures = Signatures(params, blocks)
    if params.form is Form.SETS:
        values = params.usb_count_bits + signatures.usb_counts * params.usb_bits
        return 1 + _run_bits(params, blocks) + values
    bits = np.zeros(len(blocks.first) - 1, np.int64)
    for each, count in zip(params.sub_filters, signatures.bit_counts.T, strict=True):
        index_bits = each.bits.bit_length() - 1
        as_list = index_bits * (1 + count)
        bits += 1 + np.where((as_list < each.bits) & (count < each.bits), as_list, each.bits)
    return bits


def _run_bits(params: SigraceParams, blocks: Blocks) -> np.ndarray:
    """Bits of the Elias gamma codes of the runs of each set's bitmap."""
    values, count = params.lsb_values, len(blocks.first) - 1
    lsb = blocks.granule & (1 << params.lsb_bits - GRANULE_LOG2) - 1
    result = np.zeros(count, np.int64)
    for start in range(0, count, _CHUNK_SETS):
        stop = min(start + _CHUNK_SETS, count)
        low, high = blocks.first[start], blocks.first[stop]
        sets = np.repeat(np.arange(stop - start), np.diff(blocks.first[start : stop + 1]))
        bitmap = np.zeros((stop - start, values), bool)
        bitmap[sets, lsb[low:high]] = True
        changes = np.ones((stop - start, values), bool)
        changes[:, 1:] = bitmap[:, 1:] != bitmap[:, :-1]
        places = np.flatnonzero(changes)
        # Every bitmap begins with a run, so the next one's first run ends the last.
        lengths = np.diff(np.append(places, changes.size))
        logs = np.frexp(lengths)[1] - 1  # floor of the logarithm
        np.add.at(result[start:stop], places // values, 2 * logs + 1)
    return result
