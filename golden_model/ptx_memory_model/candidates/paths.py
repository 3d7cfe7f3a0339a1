"""Path of a thread: one way through its instructions.

Ref: PTX ISA 9.0, Section 8.9.1 (Program Order).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from racetrap.golden_model.ptx_memory_model.candidates.barriers import Arrival
from racetrap.golden_model.ptx_memory_model.candidates.values import Result, Value
from racetrap.golden_model.ptx_memory_model.events import Event


class Step(NamedTuple):
    """One operation of a path.

    Parameters
    ----------
    event : Event
        The operation.
    instruction : int
        Number of its instruction in the thread; the elements of a vector share it.
    value : Value, optional
        What it writes; of a barrier's reduction, the thread's predicate.
    depends_on : frozenset of Result
        Results on which its value, and its execution, depend.
    arrival : Arrival, optional
        Of a barrier: which, and how.
    """

    event: Event
    instruction: int
    value: Value | None = None
    depends_on: frozenset[Result] = frozenset()
    arrival: Arrival | None = None


@dataclass
class Path:
    """One way through a thread, as far as it has been explored.

    Parameters
    ----------
    steps : list of Step
        Its operations.
    requirements : list of (Value, bool)
        Predicates with the values required by this path.
    registers : dict of str to Value
        Registers at the end.
    controls : dict of str to frozenset of Result
        For each register, the results that decided whether and how it was written.
    completions : list of (int, int)
        Steps of asynchronous operations, each with a step that is ordered after it.
    copies : list of int
        Steps that store asynchronously copied data.
    groups : list of list of int
        Those of ``copies`` that are not known to be complete, by group; the last is still open.
    """

    steps: list[Step] = field(default_factory=list)
    requirements: list[tuple[Value, bool]] = field(default_factory=list)
    registers: dict[str, Value] = field(default_factory=dict)
    controls: dict[str, frozenset[Result]] = field(default_factory=dict)
    completions: list[tuple[int, int]] = field(default_factory=list)
    copies: list[int] = field(default_factory=list)
    groups: list[list[int]] = field(default_factory=lambda: [[]])

    def fork(self) -> Path:
        """An independent copy of the path so far."""
        return Path(
            self.steps.copy(), self.requirements.copy(), self.registers.copy(),
            self.controls.copy(), self.completions.copy(), self.copies.copy(),
            [group.copy() for group in self.groups],
        )  # fmt: skip
