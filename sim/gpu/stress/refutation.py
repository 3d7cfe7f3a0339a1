"""Search for runs that refute changes to how a program synchronises."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import islice

from racetrap.sim.gpu.stress.search import random_runs, replay
from racetrap.sim.gpu.stress.subject import Changes, Run, Subject
from racetrap.sim.gpu.stress.synchronisation import Chosen, Synchronisation
from racetrap.sim.gpu.stress.systematic import bounded_runs

#: PTX's memory model.
_JUDGE = "views"


class RefutingSearch:
    """Search for runs that refute changes: runs that fail in spite of them.

    Runs that have refuted changes are tried first on the next ones, and each answer is kept.
    Changes must also withstand PTX's memory model if another is selected: others have no scopes, or
    no stale loads.

    Parameters
    ----------
    subject : Subject
        The subject.
    program : Synchronisation
        Its fences and strong accesses.
    memory : str
        Memory model.
    runs : int
        Random runs that must not fail, by each model.
    bounded : int
        Systematic runs, of up to two deviations, that must not fail, by each model.
    seed : int
        First seed.

    Attributes
    ----------
    memories : tuple of str
        Memory models of the runs: the one selected, and PTX's.
    """

    def __init__(
        self, subject: Subject, program: Synchronisation, memory: str, runs: int, bounded: int,
        seed: int,
    ) -> None:  # fmt: skip
        self._subject, self._program = subject, program
        self.memories = tuple(dict.fromkeys((memory, _JUDGE)))
        self._runs, self._bounded, self._seed = runs, bounded, seed
        #: Functions that repeat runs which have refuted changes, the latest first.
        self._refuters: list[Callable[[Changes], Run]] = []
        #: Smallest divisor of searches that have not refuted changes; 0 of what is refuted.
        self._answers: dict[frozenset[object], int] = {}

    @property
    def total(self) -> int:
        """Runs of a whole search."""
        return len(self.memories) * (self._runs + self._bounded)

    def refutes(self, chosen: Chosen, divisor: int = 1) -> bool:
        """Whether a run refutes changes.

        Parameters
        ----------
        chosen : mapping of Action to Sync or None
            The changes.
        divisor : int
            Fraction of all runs that is made if none refutes them: one divided by this.
        """
        key = frozenset(chosen.items())
        if key not in self._answers or self._answers[key] > divisor:
            changes = self._program.changes(chosen)
            self._answers[key] = 0 if self._is_refuted(changes, divisor) else divisor
        return self._answers[key] == 0

    def _is_refuted(self, changes: Changes, divisor: int) -> bool:
        if any(refuter(changes).failure for refuter in self._refuters):
            return True
        return any(self._is_refuted_by(memory, changes, divisor) for memory in self.memories)

    def _is_refuted_by(self, memory: str, changes: Changes, divisor: int) -> bool:
        subject = self._subject
        runs = random_runs(subject, memory, self._seed, 1.0, changes)
        for number, run in enumerate(islice(runs, -(-self._runs // divisor))):
            if run.failure:
                self._refuters.insert(0, partial(self._again, memory, self._seed + number))
                return True
        bounded = bounded_runs(subject, memory, 2, changes)
        for run in islice(bounded, -(-self._bounded // divisor)):
            if run.failure:
                self._refuters.insert(0, partial(replay, subject, memory, run.deviations))
                return True
        return False

    def _again(self, memory: str, seed: int, changes: Changes) -> Run:
        return next(random_runs(self._subject, memory, seed, 1.0, changes))
