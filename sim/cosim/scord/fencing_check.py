"""Check of what SMs are shown of their fences in flight, with what they and the banks took.

Ref: ScoRD (ISCA'20) Section IV-A (a fence is counted before what follows it in its warp).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from racetrap.golden_model.scord.packets import PacketKind, TransactionKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.packing import unpack_column
from racetrap.sim.cosim.scord.fast_simulation import FastSim

#: Cycles from the transaction of a fence to the first in which it may be in flight no longer.
LEAST_CYCLES = 7


class _Fences(NamedTuple):
    """Fences of an SM, those of each warp together and in order."""

    warps: NDArray[np.int64]
    cycles: NDArray[np.int64]


def check_fencing(
    sim: FastSim, params: ScordParams, queues: Sequence[NDArray[np.uint32]],
    banks: Collection[int], late_cycles: int = 0,
) -> None:  # fmt: skip
    """Compare what each SM was shown in the last run, whose steps agree, with the golden order.

    A warp is shown from the cycle after its fence was taken.  It is shown no longer at a time at
    which all banks can have the fence, and before all have counted it.  A warp that executes a
    fence while it is shown, which only an access buffer accepts, is not compared.

    Parameters
    ----------
    sim : FastSim
        The hardware.
    params : ScordParams
        Its parameters.
    queues : sequence of array of uint32
        Transactions of each SM, in its order.
    banks : collection of int
        Banks that are there.
    late_cycles : int
        Cycles by which an SM may learn later that all banks have a fence, as over a network.

    Raises
    ------
    Mismatch
        If an SM was shown something else.
    """
    counted = [_counted(sim, params, bank) for bank in banks]
    for sm, words in enumerate(queues):
        taken, (begins, ends) = _taken(sim, params, sm, words), _shown(sim, params, sm)
        last = np.max([_of_sm(each, params, sm) for each in counted], axis=0) + late_cycles
        if params.access_buffer_depth:
            hasty = (taken.cycles[1:] <= last[:-1]) & (taken.warps[1:] == taken.warps[:-1])
            left_out = np.unique(taken.warps[1:][hasty])
            last = last[~np.isin(taken.warps, left_out)]
            taken, begins, ends = (_without(each, left_out) for each in (taken, begins, ends))
        _compare(f"SM {sm}: warps that begin to be fencing", begins, taken, 1)
        if not np.array_equal(ends.warps, taken.warps):
            raise Mismatch(f"SM {sm}: {len(ends.warps)} of {len(taken.warps)} fences have ended")
        early, late = ends.cycles < taken.cycles + LEAST_CYCLES, ends.cycles > last
        for wrong, word in ((early, "before all banks can have it"), (late, "after all banks")):
            if wrong.any():
                n = int(wrong.argmax())
                raise Mismatch(
                    f"SM {sm}: fence of warp {taken.warps[n]}, taken in cycle {taken.cycles[n]}, "
                    f"must not end in cycle {ends.cycles[n]}, {word}"
                )


def _compare(what: str, seen: _Fences, golden: _Fences, later: int) -> None:
    due = golden.cycles + later
    if np.array_equal(seen.warps, golden.warps) and np.array_equal(seen.cycles, due):
        return
    pairs = [sorted(zip(*(column.tolist() for column in each), strict=True))
             for each in (seen, (golden.warps, due))]  # fmt: skip
    other = sorted(set(pairs[0]) ^ set(pairs[1]), key=lambda pair: pair[1])[0]
    raise Mismatch(
        f"{what} must be those of its fences, a cycle later; first difference: warp {other[0]}, "
        f"cycle {other[1]}"
    )


def _without(fences: _Fences, warps: NDArray[np.int64]) -> _Fences:
    kept = ~np.isin(fences.warps, warps)
    return _Fences(fences.warps[kept], fences.cycles[kept])


def _sorted(warps: NDArray, cycles: Sequence[int] | NDArray) -> _Fences:
    order = np.argsort(warps, kind="stable")
    return _Fences(warps[order].astype(np.int64), np.asarray(cycles, dtype=np.int64)[order])


def _taken(sim: FastSim, params: ScordParams, sm: int, words: NDArray[np.uint32]) -> _Fences:
    kinds, warps = (unpack_column(params.transaction_layout, words, name)
                    for name in ("kind", "warp"))  # fmt: skip
    is_fence = kinds == TransactionKind.FENCE
    cycles = np.array(sim.taken_cycles(sm), dtype=np.int64)
    return _sorted(warps[is_fence], cycles[is_fence])


def _shown(sim: FastSim, params: ScordParams, sm: int) -> tuple[_Fences, _Fences]:
    """Where warps begin, and where they end, to be shown."""
    masks, cycles = sim.fencing(sm)
    bits = masks[:, None] >> np.arange(params.warps_per_sm, dtype=np.uint64) & np.uint64(1)
    changes = np.diff(bits.astype(np.int8), axis=0, prepend=np.int8(0))
    at = np.array(cycles, dtype=np.int64)
    begins, ends = (np.argwhere(changes == change) for change in (1, -1))
    return _sorted(begins[:, 1], at[begins[:, 0]]), _sorted(ends[:, 1], at[ends[:, 0]])


def _counted(sim: FastSim, params: ScordParams, bank: int) -> _Fences:
    """Fences that a bank has counted, by warp slot of the GPU."""
    words = sim.step_words(bank)
    kind, block, warp = (unpack_column(params.step_layout, words, f"packet.{name}")
                         for name in ("kind", "block", "warp"))  # fmt: skip
    is_fence = kind == PacketKind.FENCE
    slots = (block >> np.uint64(params.slot_bits)) << np.uint64(params.warp_bits) | warp
    cycles = np.array(sim.step_cycles(bank), dtype=np.int64)
    return _sorted(slots[is_fence], cycles[is_fence])


def _of_sm(counted: _Fences, params: ScordParams, sm: int) -> NDArray[np.int64]:
    first, last = np.searchsorted(counted.warps, np.array([sm, sm + 1]) << params.warp_bits)
    return counted.cycles[first:last]
