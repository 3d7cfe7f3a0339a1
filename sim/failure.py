"""Errors of several packages: those that end a command with exit status 3, and a misfit."""

from __future__ import annotations


class Failure(RuntimeError):
    """A run cannot go on: a tool is missing or fails, a simulation stops, or hardware differs.

    The text is one sentence, maybe with what a tool said behind it.
    """


class DoesNotFit(RuntimeError):
    """A design, or a workload, needs more of something than its device or configuration has."""
