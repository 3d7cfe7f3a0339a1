"""Runs without the cache operations and waits of a place in the program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from racetrap.golden_model.trace import NoncoherentTrace


@dataclass(frozen=True)
class Without:
    """A run without the cache operations and waits of a place.

    Parameters
    ----------
    pc : int
        The place.
    kinds : tuple of int
        What they are, as ``OperationKind``.
    operations : int
        How many the whole run has.
    harm : str
        What shows that the place is needed, in a few words, or why it cannot be left out; empty:
        nothing.
    is_racy : bool or None
        Whether more bytes race on the exhaustive machine than in the whole run; None: not asked, or
        the run is too long for it.
    """

    pc: int
    kinds: tuple[int, ...]
    operations: int
    harm: str = ""
    is_racy: bool | None = None

    @property
    def is_needless(self) -> bool:
        """Whether nothing shows that the place is needed."""
        return not self.harm and not self.is_racy


def places_of(trace: NoncoherentTrace) -> Iterator[tuple[Without, np.ndarray]]:
    """Each place of a whole run, before anything is tried, and the numbers of its operations."""
    for pc, numbers in trace.maintenance_places.items():
        kinds = np.unique(trace.events["kind"][numbers])
        yield Without(pc, tuple(kinds.tolist()), len(numbers)), numbers


def rules_text(rules: Iterable[str]) -> str:
    """The rules that a run breaks, as harm; empty without any."""
    names = sorted(set(rules))
    return f"races of rule {', '.join(names)}" if names else ""
