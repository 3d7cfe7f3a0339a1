"""Search for runs that refute changes: what it runs, what it keeps."""

import pytest

from racetrap.golden_model.ptx_memory_model import Order, Scope
from racetrap.golden_model.ptx_memory_model.operational import ReplayedChoices
from racetrap.sim.gpu.stress.refutation import RefutingSearch
from racetrap.sim.gpu.stress.subject import Failure, Run, Subject
from racetrap.sim.gpu.stress.synchronisation import Action, Synchronisation

FENCE = Order.ACQ_REL, Scope.GPU


class Counted(Subject):
    """Counts the runs of a kernel; those fail that ``fails`` says."""

    def __init__(self, subject, fails):
        self._subject, self._fails, self.runs = subject, fails, 0

    @property
    def functions(self):
        return self._subject.functions

    @property
    def traces(self):
        return self._subject.traces

    def run(self, memory, choices, changes=None):
        self.runs += 1
        run = self._subject.run(memory, choices, changes)
        failure = Failure.RESULT if self._fails(self.runs, choices) else None
        return Run(failure, "", run.deviations)


@pytest.fixture
def search_of(handover):
    def make(fails):
        subject = Counted(handover, fails)
        program = Synchronisation(subject.functions)
        changes = [{Action("fence", place): FENCE} for place in program.fences]
        return subject, RefutingSearch(subject, program, "views", 24, 12, 1), changes[0]

    return make


def test_a_whole_search_is_made_once(search_of):
    subject, search, change = search_of(lambda number, choices: False)
    assert not search.refutes(change, 4)
    assert subject.runs == 6 + 3
    assert not search.refutes(change, 8)
    assert subject.runs == 6 + 3
    assert not search.refutes(change)
    assert subject.runs == 6 + 3 + search.total
    assert not search.refutes(change)
    assert subject.runs == 6 + 3 + search.total


def test_what_is_refuted_stays_so(search_of):
    subject, search, change = search_of(lambda number, choices: number == 5)
    assert search.refutes(change)
    assert search.refutes(change)
    assert search.refutes(change, 8)
    assert subject.runs == 5


@pytest.mark.parametrize("systematic", [False, True])
def test_a_refuter_is_tried_first_on_what_comes_next(search_of, systematic):
    def fails(number, choices):
        deviates = isinstance(choices, ReplayedChoices) and choices.deviations
        return bool(deviates) if systematic else number in (5, 6)

    subject, search, change = search_of(fails)
    assert search.refutes({})
    runs = subject.runs
    assert runs == (26 if systematic else 5)
    assert search.refutes(change)
    assert subject.runs == runs + 1
