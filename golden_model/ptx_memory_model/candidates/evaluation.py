"""Values of a run, given the source write of each read.

Ref: PTX ISA 9.0, Section 8.10.4 (No Thin Air).
"""

from __future__ import annotations

from collections.abc import Mapping

from racetrap.golden_model.ptx_memory_model.candidates.runs import Run
from racetrap.golden_model.ptx_memory_model.candidates.values import Result, Value, evaluate


class UnknownSourceError(Exception):
    """A value depends on a read without a source yet."""


class CyclicValueError(Exception):
    """A value depends on itself.

    Parameters
    ----------
    read : int
        A read on the cycle.
    """

    def __init__(self, read: int) -> None:
        super().__init__(read)
        self.read = read


class Evaluation:
    """Values that follow from the sources of reads.

    Parameters
    ----------
    run : Run
        The run.
    sources : mapping of int to tuple of int
        For each read with a source, the write of every byte.
    assumed : mapping of int to int
        Values of reads that are assumed.
    """

    def __init__(
        self, run: Run, sources: Mapping[int, tuple[int, ...]], assumed: Mapping[int, int]
    ) -> None:
        self._run, self.sources = run, sources
        self._results: dict[int, int] = dict(assumed)
        self._written: dict[int, int] = {}
        self._open: set[int] = set()

    def value(self, value: Value) -> int:
        """The number of a value."""
        return evaluate(value, self._result)

    def written(self, write: int) -> int:
        """Value that a write writes."""
        if write not in self._written:
            self._written[write] = self.value(self._run.values[write])
        return self._written[write]

    def read(self, read: int) -> int:
        """Value that a read returns, from its sources."""
        if read not in self.sources:
            raise UnknownSourceError
        location = self._run.structure.events[read].location
        assert location is not None
        number = 0
        for offset, source in enumerate(self.sources[read]):
            number |= self.byte(source, location.address + offset) << 8 * offset
        return number

    def byte(self, write: int, address: int) -> int:
        """The byte that a write writes to an address."""
        location = self._run.structure.events[write].location
        assert location is not None
        return self.written(write) >> 8 * (address - location.address) & 0xFF

    def _result(self, result: Result) -> int:
        number = self._run.numbers[result]
        if number not in self._results:
            if number in self._open:
                raise CyclicValueError(number)
            self._open.add(number)
            try:
                self._results[number] = self._returned(number)
            finally:
                self._open.discard(number)
        return self._results[number]

    def _returned(self, number: int) -> int:
        if number not in self._run.reductions:
            return self.read(number)
        operation, members = self._run.reductions[number]
        count = sum(self.written(member) for member in members)
        return {"popc": count, "and": int(count == len(members)), "or": int(count > 0)}[operation]

    def meets_requirements(self) -> bool:
        """Whether the values lead to the paths taken."""
        return all(bool(self.value(value)) == wanted for value, wanted in self._run.requirements)
