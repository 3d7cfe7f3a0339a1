"""Error of recording a program."""

from __future__ import annotations

from racetrap.sim.failure import Failure


class RecordError(Failure):
    """A program cannot be recorded; the text is one sentence, then the output of a tool."""
