"""Base of the errors that end a command with exit status 3."""

from __future__ import annotations


class Failure(RuntimeError):
    """A run cannot go on: a tool is missing or fails, a simulation stops, or hardware differs.

    The text is one sentence, maybe with what a tool said behind it.
    """
