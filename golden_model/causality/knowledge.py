"""Knowledge: which accesses of other warps come before what follows.

A table has a few exact entries, and bits by hash for what they cannot hold.  It may claim more than
is true, never less, so that no report rests on what was left out.

Ref: ScoRD (ISCA'20) Section VI (lists of warps that have synchronised, without widths).
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from racetrap.golden_model.causality.packets import Fenced, from_other_block
from racetrap.golden_model.causality.params import CausalityParams


class Known(NamedTuple):
    """Exact entry: accesses of a warp slot, or of a block slot, up to a clock.

    ``key`` is the number of a warp slot of the GPU, or ``~block`` of a block slot; ``direct`` says
    that a message of that warp itself brought it.
    """

    key: int
    block: int
    clock: int
    direct: bool = False

    def values(self, params: CausalityParams) -> dict[str, int]:
        """Values of the fields of ``known_layout``."""
        sm, slot = divmod(self.block, 1 << params.slot_bits)
        is_block = self.key < 0
        return {
            "is_block": int(is_block),
            "warp": params.warp_id(sm, 0) if is_block else self.key,
            "slot": slot,
            "clock": self.clock,
            "direct": int(self.direct),
        }


class Knowledge:
    """Warps and blocks, each up to a clock.

    Parameters
    ----------
    params : CausalityParams
        Configuration.
    places : int
        How many entries are exact; what they cannot hold sets a bit.
    counts : Counter
        Counts ``knowledge_evictions``.

    Attributes
    ----------
    exact : list of Known
        Exact entries, by place.
    bits : int
        Bits of block slots by hash.
    lossy : int
        Accesses of a block slot whose bit is set are known below this clock.
    fenced : int
        Which ``fence.sc`` may be among what is known, by the bits of ``Fenced``.
    """

    __slots__ = ("_counts", "_params", "_places", "bits", "exact", "fenced", "lossy")

    def __init__(self, params: CausalityParams, places: int, counts: Counter[str]) -> None:
        self._params, self._places, self._counts = params, places, counts
        self.clear()

    def clear(self) -> None:
        """Know nothing."""
        self.exact: list[Known] = []
        self.bits = self.lossy = self.fenced = 0

    def copy(self) -> Knowledge:
        """A table that later changes of this one do not reach."""
        other = Knowledge(self._params, self._places, self._counts)
        other.exact, other.fenced = list(self.exact), self.fenced
        other.bits, other.lossy = self.bits, self.lossy
        return other

    def __bool__(self) -> bool:
        return bool(self.exact or self.bits)

    def has(self, warp: int, block: int, clock: int) -> bool:
        """Whether an access is in it: by a warp slot, in a block slot, at a clock."""
        return self.has_bit(block, clock) or any(
            known.clock >= clock and known.key in (warp, ~block) for known in self.exact
        )

    def direct(self, warp: int) -> int:
        """Clock up to which a message of that warp itself made it known; 0 if none did."""
        return max(
            (known.clock for known in self.exact if known.key == warp and known.direct), default=0
        )

    @property
    def latest(self) -> int:
        """Largest clock of an exact entry; 0 if there is none."""
        return max((known.clock for known in self.exact), default=0)

    def put(self, new: Known) -> None:
        """Add a warp or a block up to a clock; nothing if the clock is 0.

        It takes the place of its key and block, or a free one: what is known of an older block in a
        warp slot does not go with the slot.  If there is none, the entry with the smallest
        clock makes room, the first of several, or it goes to the bits itself.
        """
        if new.clock <= 0 or (not new.direct and self.has_bit(new.block, new.clock)):
            return
        for place, old in enumerate(self.exact):
            if (old.key, old.block) == (new.key, new.block):
                if (new.clock, new.direct) > (old.clock, old.direct):
                    self.exact[place] = new
                return
        if len(self.exact) < self._places:
            self.exact.append(new)
            return
        place = min(range(self._places), key=lambda i: self.exact[i].clock, default=-1)
        if place >= 0 and self.exact[place].clock < new.clock:
            new, self.exact[place] = self.exact[place], new
        self.bits |= self._params.hash_of(new.block)
        self.lossy = max(self.lossy, new.clock + 1)
        self._counts["knowledge_evictions"] += 1

    def pop(self, warp: int, start: int) -> int:
        """Remove the exact entry of a warp slot from a clock on; its clock, or 0."""
        for place, known in enumerate(self.exact):
            if known.key == warp and known.clock >= start:
                del self.exact[place]
                return known.clock
        return 0

    def join(
        self, other: Knowledge, keep_direct: bool = False, of_other_block: bool = False
    ) -> None:
        """Add all of another table, which may be one of a warp of another block: first its bits,
        then its exact entries by place."""
        # Most tables are empty, and most entries are not direct.
        if other.fenced:
            self.fenced |= from_other_block(other.fenced) if of_other_block else other.fenced
        if other.bits:
            self.bits |= other.bits
            self.lossy = max(self.lossy, other.lossy)
        for known in tuple(other.exact):
            is_kept = keep_direct or not known.direct
            self.put(known if is_kept else known._replace(direct=False))

    def know_all(self, latest: int, has_fenced: bool) -> None:
        """Claim every access up to a clock, and every ``fence.sc`` if there has been any."""
        self.bits = (1 << self._params.hash_bits) - 1
        self.lossy = max(self.lossy, latest + 1)
        if has_fenced:
            self.fenced = Fenced.BLOCK | Fenced.DEVICE | Fenced.OTHERS

    def has_bit(self, block: int, clock: int) -> bool:
        """Whether an access is in it by the bits alone: in a block slot, at a clock."""
        return clock < self.lossy and bool(self.bits & self._params.hash_of(block))
