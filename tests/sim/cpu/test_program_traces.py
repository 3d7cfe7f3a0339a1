"""Traces of the catalogue's programs: complete, in their size, and recorded only once."""

import numpy as np
import pytest

from racetrap.golden_model.trace.threads.events import SyncClass, ThreadEventKind
from racetrap.sim.cpu import program_traces
from racetrap.sim.cpu.program_traces import program_trace
from racetrap.sim.cpu.programs.catalogue import PROGRAMS

_KIND = ThreadEventKind


@pytest.mark.parametrize("name", PROGRAMS)
def test_trace_has_all_threads_and_its_size(name):
    trace = program_trace(name, "tiny", 4)
    kinds = trace.events["kind"]
    assert trace.header.threads == 4
    assert 20_000 <= len(trace.events) <= 100_000
    for kind, count in ((_KIND.CREATE, 3), (_KIND.BEGIN, 4), (_KIND.END, 4), (_KIND.JOIN, 3)):
        assert np.count_nonzero(kinds == kind) == count
    # How many depends on how the machine shared out tasks: on a busy one a thread finds none left.
    accesses = np.bincount(trace.events["thread"][kinds <= _KIND.ATOMIC_UPDATE], minlength=4)
    assert accesses.min() > 0, accesses
    assert trace.header.source.startswith(PROGRAMS[name].source.name)


@pytest.mark.campaign
@pytest.mark.parametrize("name", PROGRAMS)
def test_size_of_the_paper_has_ten_intervals(name):
    """As in the paper's experiment: a checkpoint is taken after a million of a thread."""
    events = program_trace(name, "paper").events
    assert np.bincount(events["thread"], events["instructions"]).max() > 10_000_000


def test_every_class_of_synchronisation_occurs():
    classes, kinds = set(), set()
    for name in PROGRAMS:
        events = program_trace(name, "tiny", 4).events
        kinds |= set(np.unique(events["kind"]).tolist())
        objects = events[np.isin(events["kind"], (_KIND.ACQUIRE, _KIND.RELEASE))]
        classes |= set(np.unique(objects["value"]).tolist())
    assert classes == set(SyncClass)
    assert kinds >= set(_KIND) - {_KIND.COLLECT_OFF, _KIND.COLLECT_ON}


def test_a_program_is_recorded_once(monkeypatch, tmp_path):
    monkeypatch.setenv("RACETRAP_CACHE", str(tmp_path))
    first = program_trace("kvstore", "tiny", 2)
    monkeypatch.setattr(program_traces, "record", None)
    again = program_trace("kvstore", "tiny", 2)
    assert np.array_equal(first.events, again.events)
    assert first.header == again.header
    assert len(list(tmp_path.glob("**/programs/*.trace"))) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sort", "tiny", 4), "Unknown program 'sort': choose fft, lu"),
        (("fft", "large", 4), "Unknown size of fft 'large': choose tiny"),
        (("fft", "tiny", 0), "Threads must be from 1 to 64, not 0"),
        (("fft", "tiny", 65), "Threads must be from 1 to 64, not 65"),
    ],
)
def test_wrong_parameters_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        program_trace(*arguments)
