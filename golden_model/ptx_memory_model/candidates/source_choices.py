"""Choices of a source for every read that the values of a run do not exclude.

Ref: PTX ISA 9.0, Section 8.10.4 (No Thin Air).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from racetrap.golden_model.ptx_memory_model.candidates.evaluation import (
    CyclicValueError,
    Evaluation,
    UnknownSourceError,
)
from racetrap.golden_model.ptx_memory_model.candidates.runs import Run
from racetrap.golden_model.ptx_memory_model.candidates.sources import Piece

_Sources = Mapping[int, tuple[int, ...]]


class SourceChoices:
    """All choices of sources with which no value depends on itself and the run takes its paths.

    Parameters
    ----------
    run : Run
        The run.
    pieces : sequence of Piece
        Pieces of its reads, with their possible sources.
    is_possible : callable
        Whether a read may take a write, given the choices before it.
    count : callable
        Called for every complete choice, before its values are computed.
    """

    def __init__(
        self, run: Run, pieces: Sequence[Piece],
        is_possible: Callable[[int, int, _Sources], bool], count: Callable[[], None],
    ) -> None:  # fmt: skip
        self._run, self._pieces = run, pieces
        self._is_possible, self._count = is_possible, count
        self._sizes = {
            read: event.location.size
            for read, event in enumerate(run.structure.events)
            if event.reads and event.location is not None
        }

    def __iter__(self) -> Iterator[dict[int, tuple[int, ...]]]:
        # For each piece so far, the remaining choices.
        left = [iter([dict[int, tuple[int, ...]]()])]
        while left:
            sources = next(left[-1], None)
            if sources is None:
                left.pop()
            elif len(left) <= len(self._pieces):
                left.append(self._choices(self._pieces[len(left) - 1], sources))
            else:
                self._count()
                if self._has_values(sources):
                    yield sources

    def _choices(
        self, piece: Piece, sources: dict[int, tuple[int, ...]]
    ) -> Iterator[dict[int, tuple[int, ...]]]:
        """All choices for a piece after those made before."""
        for write in piece.choices:
            chosen = {**sources, piece.read: sources.get(piece.read, ()) + (write,) * piece.size}
            if self._is_possible(piece.read, write, sources) and self._may_fit(chosen):
                yield chosen

    def _may_fit(self, sources: _Sources) -> bool:
        """Whether all requirements that can already be evaluated are met."""
        known = {
            read: writes for read, writes in sources.items() if len(writes) == self._sizes[read]
        }
        evaluation = Evaluation(self._run, known, {})
        for value, wanted in self._run.requirements:
            try:
                if bool(evaluation.value(value)) != wanted:
                    return False
            except UnknownSourceError:
                continue
            except CyclicValueError:
                return False
        return True

    def _has_values(self, sources: _Sources) -> bool:
        """Whether no value depends on itself, and the values lead to the paths chosen."""
        evaluation = Evaluation(self._run, sources, {})
        try:
            for write in self._run.values:
                evaluation.written(write)
            return evaluation.meets_requirements()
        except CyclicValueError:
            return False
