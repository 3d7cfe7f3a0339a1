"""Values that depend on themselves, which the No-Thin-Air axiom forbids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from racetrap.golden_model.ptx_memory_model.candidates.evaluation import (
    CyclicValueError,
    Evaluation,
)
from racetrap.golden_model.ptx_memory_model.candidates.runs import Run
from racetrap.golden_model.ptx_memory_model.candidates.sources import Piece
from racetrap.golden_model.ptx_memory_model.litmus.condition import (
    Condition,
    Conjunction,
    Disjunction,
    Equality,
    Negation,
)


def numbers_in(condition: Condition) -> list[int]:
    """Numbers in a condition's comparisons."""
    if isinstance(condition, Equality):
        return [condition.value]
    if isinstance(condition, Negation):
        return numbers_in(condition.part)
    if isinstance(condition, Conjunction | Disjunction):
        return sorted({number for part in condition.parts for number in numbers_in(part)})
    return []


def unfounded_evaluations(
    run: Run, pieces: Sequence[Piece], numbers: Sequence[int]
) -> Iterator[Evaluation]:
    """All choices of sources with all values that agree with them.

    Parameters
    ----------
    run : Run
        The run.
    pieces : sequence of Piece
        Pieces of its reads.
    numbers : sequence of int
        Numbers to try for values that depend on themselves.
    """
    for choice in product(*(piece.choices for piece in pieces)):
        sources: dict[int, tuple[int, ...]] = {}
        for piece, write in zip(pieces, choice, strict=True):
            sources[piece.read] = sources.get(piece.read, ()) + (write,) * piece.size
        yield from _evaluations(run, sources, {}, numbers)


def _evaluations(
    run: Run,
    sources: Mapping[int, tuple[int, ...]],
    assumed: dict[int, int],
    numbers: Sequence[int],
) -> Iterator[Evaluation]:
    """Values that agree with each other and with the paths of the run."""
    evaluation = Evaluation(run, sources, assumed)
    try:
        for value in (*run.values.values(), *run.registers.values()):
            evaluation.value(value)
        fits = evaluation.meets_requirements()
    except CyclicValueError as error:
        for number in numbers:
            yield from _evaluations(run, sources, {**assumed, error.read: number}, numbers)
        return
    if fits and all(evaluation.read(read) == number for read, number in assumed.items()):
        yield evaluation
