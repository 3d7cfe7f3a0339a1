"""Trials of edited sources: a copy of them is compiled and run."""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.editing.edits import (
    Edit,
    diff,
    edited,
    edits_of,
    replacements,
)
from racetrap.sim.gpu.stress.subject import Subject, instruction_limit
from racetrap.verdict.cause import Cure
from racetrap.verdict.gpu.cure.outcomes import EditedPlaces, Outcome
from racetrap.verdict.source_text import relative_place

#: What is wrong with a run that loads from outside all memory, and goes on.
OUTSIDE = "a load from outside memory"


class Ran(NamedTuple):
    """A run of a program.

    Parameters
    ----------
    trace : Trace or None
        Its trace; none if it cannot be run.
    wrong : set of str
        What is wrong with it.
    instructions : int or None
        Warp instructions of it, or of its longest kernel; none if one did not end.
    """

    trace: Trace | None
    wrong: set[str]
    instructions: int | None = None


class Program(ABC):
    """What has been compiled from sources, and runs.

    Every run differs by its number; the first takes warps in turn.
    """

    @abstractmethod
    def run(self, number: int, limit: int | None = None) -> Ran:
        """A run, in which a kernel hangs after a number of warp instructions."""

    @abstractmethod
    def subject(self) -> Subject:
        """It as a subject of stress.

        Raises
        ------
        ValueError
            If it is wrong already in sequentially consistent memory.
        """


#: Makes the program of the sources in a folder; ``None`` if they do not compile.
Compiler = Callable[[Path], Program | None]


class OutOfTime(Exception):
    """The time for trials is up."""


class Sources:
    """Sources that may be edited, and trials of them.

    Parameters
    ----------
    folder : Path
        Where they are.
    texts : mapping of str to bytes
        Those that are compiled or included, by name below the folder, as places in traces have it.
    compiler : Compiler
        Compiles a copy of them, in another folder.

    Attributes
    ----------
    trials : int
        Edited versions that were compiled so far.
    end : float
        When no run may begin any more, by the monotonic clock.
    """

    def __init__(self, folder: Path, texts: Mapping[str, bytes], compiler: Compiler) -> None:
        self.folder, self.texts = folder, texts
        self._compiler, self.trials, self.end = compiler, 0, float("inf")
        #: Warp instructions of the longest run without edits; none if one did not end.
        self._longest: int | None = 0

    @contextmanager
    def compiled(self, edits: Sequence[Edit]) -> Iterator[Program | None]:
        """The program with edits, as long as the context lasts; ``None`` if it does not compile."""
        self.trials += bool(edits)
        with tempfile.TemporaryDirectory(prefix="racetrap-") as name:
            folder = Path(name).resolve()
            for file, text in self.texts.items():
                target = folder / file
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(edited(text, edits_of(edits, file)))
            yield self._compiler(folder)

    def _note(self, instructions: int | None) -> None:
        """Take a run without edits as the measure of those with edits: these must end, too."""
        if instructions is None:
            self._longest = None
        elif self._longest is not None:
            self._longest = max(self._longest, instructions)

    @property
    def _limit(self) -> int | None:
        return None if self._longest is None else instruction_limit(self._longest)

    def require_time(self) -> None:
        """Raise ``OutOfTime`` if no run may begin any more."""
        if monotonic() > self.end:
            raise OutOfTime

    def cure(self, edits: tuple[Edit, ...]) -> Cure:
        """A cure by edits, with all that reports show of it."""
        names = {name: name for name in self.texts}
        edits = tuple(map(self._named, edits))
        return Cure(
            edits, replacements=replacements(self.texts, edits, self.folder),
            diff=diff(self.texts, edits, names),
        )  # fmt: skip

    def _named(self, edit: Edit) -> Edit:
        """An edit that names its source as reports do."""
        name = relative_place(f"{(self.folder / edit.file).resolve()}:")
        return replace(edit, words=edit.words.replace(f" {edit.file}:", f" {name}"))

    def compiles(self, edits: Sequence[Edit]) -> bool:
        """Whether the program with edits compiles."""
        with self.compiled(edits) as program:
            return program is not None

    def outcome(
        self, edits: Sequence[Edit], runs: range,
        is_enough: Callable[[Outcome], bool] = lambda outcome: False,
    ) -> Outcome | None:  # fmt: skip
        """What runs of the program with edits show, up to where that is enough; ``None`` if it does
        not compile.

        Raises
        ------
        OutOfTime
            If time is up before.
        """
        self.require_time()
        with self.compiled(edits) as program:
            if program is None:
                return None
            found, edited_places = Outcome(), EditedPlaces(self.texts, edits)
            for number in runs:
                self.require_time()
                ran = program.run(number, self._limit if edits else None)
                found |= Outcome(wrong=frozenset(ran.wrong))
                if ran.trace is not None:
                    found |= edited_places.outcome(ran.trace)
                if not edits:
                    self._note(ran.instructions)
                if is_enough(found):
                    break
            return found
