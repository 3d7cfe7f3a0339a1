"""Styles of random runs for causality: what they are made of.

Ref: ScoRD (ISCA'20) Section VI.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from racetrap.golden_model.events import WARP_SIZE


@dataclass(frozen=True)
class Style:
    """Style of a random run.  Fractions and rates are from 0 to 1.

    Parameters
    ----------
    sms, blocks, warps : int
        SMs used, blocks on each, warps of each block; reduced to what a configuration has.
    words : int
        Contended words, in global memory and in each block's shared memory.
    locality : float
        Fraction of accesses of those words; the others are anywhere.
    own, stride : float, int
        Fraction of plain accesses by all running lanes to a line that only their warp uses, and
        bytes from one lane's word to the next one's.
    shared, outside : float
        Fraction of accesses to shared memory, and outside the region or the window.
    fences, barriers, partial, warp_barriers, branches, churn : float
        Rate of fences, of barriers of a block, of some warps and of a warp's lanes, of branches'
        parts, and of block replacements; the rest are accesses.
    sc : float
        Fraction of ``fence.sc`` among fences.
    device : float
        Fraction of device scope.
    atomics, stores : float
        Fraction of atomics among accesses, and of stores among the others.
    volatile, named, ordered : float
        Fraction of volatile accesses and of those that name an order among loads and stores, and
        of orders that are more than relaxed among those named and atomics.
    lanes : int
        Maximum active lanes of an instruction.
    wander : float
        Rate at which the lane that most of them have becomes another.
    sizes : tuple of int
        Bytes that a lane accesses.
    late : int
        Further cycles that reads at odd metadata ports take.
    """

    sms: int = 2
    blocks: int = 2
    warps: int = 2
    words: int = 6
    locality: float = 0.9
    own: float = 0.0
    stride: int = 4
    shared: float = 0.15
    outside: float = 0.01
    fences: float = 0.08
    barriers: float = 0.03
    partial: float = 0.03
    warp_barriers: float = 0.05
    branches: float = 0.05
    churn: float = 0.005
    sc: float = 0.3
    device: float = 0.6
    atomics: float = 0.3
    stores: float = 0.4
    volatile: float = 0.2
    named: float = 0.3
    ordered: float = 0.5
    lanes: int = 3
    wander: float = 0.05
    sizes: tuple[int, ...] = (4, 4, 4, 8, 1)
    late: int = 0


_DEFAULT = Style()

#: Styles by name, in the order in which cases have them.
STYLES: dict[str, Style] = {
    # A little of everything.
    "mixed": _DEFAULT,
    # Releases and acquires of all orders and scopes, by chains of atomics.
    "chains": replace(
        _DEFAULT, words=4, locality=1.0, shared=0.05, atomics=0.8, ordered=0.7, lanes=2,
        fences=0.04, sizes=(4,),
    ),
    # Messages by named orders, with and without fences.
    "messages": replace(
        _DEFAULT, words=3, locality=1.0, volatile=0.1, named=0.6, fences=0.15, sc=0.1, lanes=1,
    ),
    # The order of fences.
    "fence-order": replace(
        _DEFAULT, words=3, locality=1.0, fences=0.25, sc=0.9, named=0.6, lanes=1, sizes=(4,),
    ),
    # Volatile flags, and writes over them.
    "flags": replace(
        _DEFAULT, words=2, locality=1.0, volatile=0.9, named=0.02, atomics=0.25, fences=0.15,
        sc=0.1, lanes=1, sizes=(4,), churn=0.05, device=0.9, shared=0.05,
    ),
    # One lane after another of few warps, between barriers of any of their lanes.
    "wandering": replace(
        _DEFAULT, sms=1, blocks=1, words=2, locality=1.0, warp_barriers=0.4, branches=0.02,
        lanes=2, wander=0.2, partial=0.0, barriers=0.01, fences=0.01, atomics=0.1, volatile=0.0,
        named=0.05, shared=0.0, sizes=(4,),
    ),
    # Lanes of few warps: branches, tiles, unequal stores.
    "lanes": replace(
        _DEFAULT, sms=1, blocks=1, words=2, locality=1.0, warp_barriers=0.2, branches=0.2, lanes=4,
        partial=0.0, barriers=0.02,
    ),
    # Barriers of some warps, and arrivals.
    "partial": replace(_DEFAULT, warps=4, partial=0.2, barriers=0.05, words=4, lanes=1),
    # Shared memory whose slots are taken again.
    "slots": replace(_DEFAULT, shared=0.6, churn=0.05, barriers=0.08),
    # Full warps over the whole GPU: volume.
    "streaming": replace(
        _DEFAULT, sms=64, blocks=8, warps=4, locality=0.2, lanes=WARP_SIZE, fences=0.02,
    ),
    # Bytes and vectors.
    "sizes": replace(_DEFAULT, words=2, locality=1.0, sizes=(1, 1, 2, 4, 8, 16)),
    # Blocks that start while clocks restart.
    "restarts": replace(
        _DEFAULT, words=4, lanes=1, churn=0.2, fences=0.2, barriers=0.1, locality=1.0, sizes=(4,),
    ),
    # Even banks with all but a few accesses, while odd ones wait for memory.
    "uneven": replace(
        _DEFAULT, words=4, locality=0.5, own=0.9, stride=8, shared=0.0, outside=0.0, fences=0.0,
        barriers=0.0, partial=0.0, warp_barriers=0.0, branches=0.0, churn=0.0, atomics=0.0,
        volatile=0.0, named=0.0, lanes=7, sizes=(4,), late=4000,
    ),
}  # fmt: skip

#: The same between accesses of a warp's own words, as of programs: volume for the banks.
OWN_LINES = {f"{name}-own-lines": replace(style, own=0.8) for name, style in STYLES.items()}
