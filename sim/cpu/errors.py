"""The error of everything that takes part in recording."""

from __future__ import annotations

from racetrap.sim.failure import Failure

__all__ = ["RecordError"]


class RecordError(Failure):
    """A program cannot be recorded; the text is one sentence, then what a tool said."""
