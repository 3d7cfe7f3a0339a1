"""A candidate execution of a litmus test, with its values."""

from __future__ import annotations

from dataclasses import dataclass

from racetrap.golden_model.ptx_memory_model.candidates.evaluation import Evaluation
from racetrap.golden_model.ptx_memory_model.candidates.runs import Run
from racetrap.golden_model.ptx_memory_model.execution import Execution


@dataclass(frozen=True, eq=False)
class Candidate:
    """A candidate execution, consistent or not.

    Parameters
    ----------
    run : Run
        What its threads do.
    execution : Execution
        The execution.
    evaluation : Evaluation
        Its values.
    """

    run: Run
    execution: Execution
    evaluation: Evaluation
