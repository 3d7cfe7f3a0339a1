"""Errors of a run on the executor."""

from __future__ import annotations

from enum import Enum


class ExecutionError(RuntimeError):
    """A launch that cannot be run, or that does what no kernel may."""


class Fault(Enum):
    """What ends a kernel before its time."""

    ILLEGAL_ADDRESS = "illegal address"
    MISALIGNED_ADDRESS = "misaligned address"
    ASSERTION = "failed assertion"
    TRAP = "trap"
    NO_END = "no end"


class KernelFault(ExecutionError):
    """A kernel that was ended by what a thread did, or since it would not end.

    Parameters
    ----------
    fault : Fault
        Why.
    sentence : str
        What happened, and where.
    """

    def __init__(self, fault: Fault, sentence: str):
        super().__init__(sentence)
        self.fault = fault

    def __reduce__(self) -> tuple[type, tuple[Fault, str]]:
        return type(self), (self.fault, str(self))
