"""Errors of a run on the executor."""

from __future__ import annotations

__all__ = ["ExecutionError", "UnknownInstruction"]


class ExecutionError(RuntimeError):
    """A launch that cannot be run, or that does what no kernel may."""


class UnknownInstruction(ValueError):
    """An instruction, or a form of one, that the executor does not know."""
