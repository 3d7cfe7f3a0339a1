"""Report filter: passes only the first report of each (PC, kind of race).

Ref: ScoRD (ISCA'20) Section IV-A (a race is identified by its PC and kind).
"""

from __future__ import annotations

from racetrap.golden_model.gpu.params import GpuParams

#: Bits of a race kind.
RACE_BITS = 3


def filter_index(params: GpuParams, pc: int, race: int) -> int:
    """Entry of the direct-mapped table: the PC folded to its width by XOR, XOR the race kind."""
    bits = params.report_filter_entries.bit_length() - 1
    index = race
    while pc:
        index ^= pc
        pc >>= bits
    return index & (params.report_filter_entries - 1)


class ReportFilter:
    """Direct-mapped table of the latest (PC, kind) pairs.

    An evicted pair is reported again, so no pair is ever lost.

    Parameters
    ----------
    params : GpuParams
        Configuration.
    """

    def __init__(self, params: GpuParams) -> None:
        self._params = params
        self._table: dict[int, tuple[int, int]] = {}

    def clear(self) -> None:
        """Forget every pair, as at a kernel launch."""
        self._table.clear()

    def admit(self, pc: int, race: int) -> bool:
        """Whether a report passes; stores its pair."""
        index = filter_index(self._params, pc, race)
        if self._table.get(index) == (pc, race):
            return False
        self._table[index] = pc, race
        return True
