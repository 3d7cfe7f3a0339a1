"""Knobs of the constrained-random GPU runs, and presets that reach each corner.

Ref: ScoRD (ISCA'20) Section IV.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from racetrap.golden_model.events import WARP_SIZE


@dataclass(frozen=True)
class Knobs:
    """Style of a random run.  Fractions and rates are from 0 to 1.

    Parameters
    ----------
    sms, blocks, warps : int
        SMs used, blocks on each, warps of each block; reduced to what a configuration has.
    hot_words : int
        Words that warps contend for.
    locality : float
        Fraction of accesses that start at a hot word; the others start anywhere.
    tag_pressure : float
        Fraction of hot accesses that go to another word with the same metadata entry.
    outside : float
        Fraction of accesses outside the monitored region.
    fences, locks, atomics, barriers : float
        Rate of fences, of lock and unlock operations, of other atomics and of barriers among
        all instructions; the rest are loads and stores.
    device : float
        Fraction of device scope among fences and atomics.
    stores, weak : float
        Fraction of stores and of plain (weak) accesses among loads and stores.
    lock_words : int
        Locks in use.
    lanes : int
        Maximum active lanes of an instruction.
    wide, narrow : float
        Fraction of 8 and 16-byte, and of 1 and 2-byte accesses.
    churn : float
        Rate at which a block retires and another takes its slot.
    wrap : float
        Rate at which one warp's fences, one block's barriers or one slot's blocks wrap their
        counter exactly once.
    """

    sms: int = 2
    blocks: int = 2
    warps: int = 2
    hot_words: int = 16
    locality: float = 0.9
    tag_pressure: float = 0.02
    outside: float = 0.01
    fences: float = 0.15
    locks: float = 0.08
    atomics: float = 0.08
    barriers: float = 0.02
    device: float = 0.5
    stores: float = 0.4
    weak: float = 0.1
    lock_words: int = 6
    lanes: int = 4
    wide: float = 0.1
    narrow: float = 0.1
    churn: float = 0.002
    wrap: float = 0.0


_DEFAULT = Knobs()

#: Presets by name.
KNOBS: dict[str, Knobs] = {
    # A little of everything.
    "mixed": _DEFAULT,
    # Few words, one lane: rows of the decision tables.
    "contended": replace(_DEFAULT, hot_words=3, locality=1.0, lanes=1, weak=0.05, tag_pressure=0),
    # Accesses under locks, with many nested locks and full lock tables.
    "locks": replace(
        _DEFAULT, hot_words=4, locality=1.0, lanes=1, locks=0.3, fences=0.25, weak=0.02,
        tag_pressure=0,
    ),
    # Atomics on everything, of both scopes and sizes.
    "atomics": replace(_DEFAULT, hot_words=6, atomics=0.6, wide=0.3, lanes=8),
    # Every access may evict another word's metadata.
    "tags": replace(_DEFAULT, tag_pressure=0.5, hot_words=8),
    # Counters wrap between two accesses.
    "wraps": replace(_DEFAULT, hot_words=2, locality=1.0, lanes=1, wrap=0.03),
    # Full warps over the whole GPU: volume.
    "streaming": replace(
        _DEFAULT, sms=64, blocks=8, warps=4, locality=0.1, lanes=WARP_SIZE, fences=0.02,
        locks=0.02, atomics=0.04, wide=0.2,
    ),
}  # fmt: skip
