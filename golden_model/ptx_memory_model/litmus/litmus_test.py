"""A litmus test: variables, a column of instructions for each thread, and a condition.

Ref: PTX ISA 9.0, Section 8 (whose litmus tests have this form).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from racetrap.golden_model.ptx_memory_model.litmus.condition import Condition, Quantifier
from racetrap.golden_model.ptx_memory_model.litmus.instructions import DataType, Instruction
from racetrap.golden_model.ptx_memory_model.scopes import Place


class RaceExpectation(Enum):
    """Races that a test expects of its program."""

    NONE = "none"
    DATA = "data"
    MIXED_SIZE = "mixed-size"


class Variable(NamedTuple):
    """A variable, or an mbarrier object.

    Parameters
    ----------
    name : str
        Its name.
    type : DataType
        Type of its value.
    value : int
        Initial value; for an mbarrier object, the arrivals of a phase.
    owner : Place, optional
        CTA whose shared memory it lies in; without it, global memory.
    is_mbarrier : bool
        Whether it is an mbarrier object.
    """

    name: str
    type: DataType = DataType("u32")
    value: int = 0
    owner: Place | None = None
    is_mbarrier: bool = False


class Thread(NamedTuple):
    """A column.

    Parameters
    ----------
    place : Place
        Where it runs.
    instructions : tuple of Instruction
        What it does, in program order.
    """

    place: Place
    instructions: tuple[Instruction, ...]


@dataclass(frozen=True)
class LitmusTest:
    """A litmus test.

    Parameters
    ----------
    name : str
        Its name.
    reason : str
        Why its outcome is as expected, for people.
    variables : tuple of Variable
        All of memory.
    registers : mapping of (int, str) to int
        Initial values of registers.
    threads : tuple of Thread
        Its columns.
    quantifier, condition : Quantifier, Condition
        Expected quantifier, and the condition on the outcome.
    races : RaceExpectation, optional
        Expected races, if the test states them.
    ends : bool
        Whether it has executions that end; if not, every one is expected to wait at a barrier
        forever.
    file : str
        Where it was read from, for messages.
    """

    name: str
    variables: tuple[Variable, ...]
    threads: tuple[Thread, ...]
    quantifier: Quantifier
    condition: Condition
    registers: dict[tuple[int, str], int] = field(default_factory=dict)
    reason: str = ""
    races: RaceExpectation | None = None
    ends: bool = True
    file: str = ""
