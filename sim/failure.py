"""Errors of several packages: those that end a command with exit status 3, and a misfit."""

from __future__ import annotations


class Failure(RuntimeError):
    """A run cannot continue: a tool is missing or fails, a simulation stops, or hardware differs.

    The text is one sentence, possibly followed by a tool's output.
    """


class DoesNotFit(RuntimeError):
    """A design or a workload needs more resources than its device or configuration has."""
