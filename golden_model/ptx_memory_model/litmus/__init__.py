"""Litmus tests of PTX: small programs with a condition on their outcome, as text and as objects."""

from racetrap.golden_model.ptx_memory_model.litmus.errors import LitmusError
from racetrap.golden_model.ptx_memory_model.litmus.litmus_test import (
    LitmusTest,
    RaceExpectation,
    Thread,
    Variable,
)
from racetrap.golden_model.ptx_memory_model.litmus.parser import parse_litmus, read_litmus

__all__ = [
    "LitmusError",
    "LitmusTest",
    "RaceExpectation",
    "Thread",
    "Variable",
    "parse_litmus",
    "read_litmus",
]
