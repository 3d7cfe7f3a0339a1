"""Playback: the same program in every environment, and what a machine may rely on."""

from collections import Counter, defaultdict
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from racetrap.golden_model.sigrace.environment import CoreCommand, Environment, Remap
from racetrap.golden_model.sigrace.packets import CoreEvent, CoreOp, Mode
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.playback import play
from racetrap.golden_model.trace.threads.events import ThreadEventKind, epoch_steps
from tests.support.threads.random_traces import random_thread_trace

_MACHINES = {
    "fixed": {"cores": 3, "contexts": 3},
    "migration": {"cores": 5, "contexts": 2},
    "multiplex": {"cores": 2, "contexts": 2},
    "multithreaded": {"cores": 1, "contexts": 3},
}


def _params(name, **changes):
    return SigraceParams(**({"threads": 9} | _MACHINES[name] | changes))


class _Machine:
    """Registers of every context, and the results of the commands; checks them on the way."""

    def __init__(self, params):
        self._params = params
        self._stamps, self._collects, self._threads = {}, Counter(), {}
        self.remaps = 0
        #: By thread: core events of the program, and collected accesses with their timestamps.
        self.events, self.accesses = defaultdict(list), defaultdict(list)

    def run(self, commands):
        for command in commands:
            if isinstance(command, Remap):
                self._remap(command)
            else:
                self._step(command)
        return self

    def _remap(self, command):
        slot, thread = command[:2], command.thread
        self.remaps += 1
        if thread is None:
            del self._threads[slot]
        else:
            assert slot not in self._threads, "a context was taken twice"
            assert thread not in self._threads.values(), "a thread was in two places"
            self._threads[slot] = thread

    def _step(self, command):
        slot, (op, data, _, index, *_) = command[:2], command.event
        if op == CoreOp.RESET:
            assert slot not in self._stamps, "a context was reset twice"
            self._stamps[slot] = [0] * self._params.threads
            return
        stamp, thread = self._stamps[slot], self._threads.get(slot)
        if op in (CoreOp.COLLECT_ON, CoreOp.COLLECT_OFF):
            self._collects[slot] = op == CoreOp.COLLECT_ON
        elif op == CoreOp.TS_WRITE:
            stamp[index] = data
        elif op == CoreOp.SYNC_REACHED:
            stamp[thread] += 1
        elif op == CoreOp.SWITCH_IN:
            assert index == thread, "the RDM has not been told of this thread"
        elif op == CoreOp.MODE:
            assert data == Mode.NORMAL
        elif op <= CoreOp.STORE and self._collects[slot]:
            self.accesses[thread].append((command.number, command.event, tuple(stamp)))
        if command.number >= 0:
            self.events[thread].append((command.number, command.event))


@pytest.mark.parametrize("name", ["migration", "multiplex", "multithreaded"])
@given(seed=st.integers(0, 100_000), threads=st.integers(1, 9), quantum=st.integers(1, 3000))
@settings(max_examples=25, deadline=None)
def test_every_environment_runs_the_same_program(name, seed, threads, quantum):
    trace = random_thread_trace(seed, threads, events=200)
    fixed = _params("fixed")
    expected = _Machine(fixed).run(play(trace, fixed, Environment("fixed")))
    params = _params(name)
    found = _Machine(params).run(play(trace, params, Environment(name, quantum, seed)))
    assert found.events == expected.events
    assert found.accesses == expected.accesses
    numbers = [number for events in found.events.values() for number, _ in events]
    assert set(numbers) <= set(range(len(trace)))


def _object(event):
    """Object of a synchronisation event; None for the others."""
    if not epoch_steps(event.kind, event.value):
        return None
    if event.kind in (ThreadEventKind.CREATE, ThreadEventKind.JOIN):
        return event.value
    if event.kind in (ThreadEventKind.BEGIN, ThreadEventKind.END):
        return event.thread
    return event.address


@pytest.mark.parametrize("name", _MACHINES)
@pytest.mark.parametrize("seed", range(5))
def test_order_on_each_object(name, seed):
    trace, params = random_thread_trace(seed, 8, events=1000), _params(name)
    events, orders = list(trace), defaultdict(list)
    played = dict.fromkeys(
        command.number
        for command in play(trace, params, Environment(name, 200, seed))
        if isinstance(command, CoreCommand) and command.number >= 0
    )
    for number in played:
        orders[_object(events[number])].append(number)
    if name == "multiplex":
        assert list(played) != sorted(played)
    del orders[None]
    for numbers in orders.values():
        assert numbers == sorted(numbers)


@pytest.mark.parametrize("name", ["multiplex", "multithreaded"])
def test_many_threads_on_one_context(name):
    trace = random_thread_trace(11, 32, events=3000)
    params = _params(name, cores=1, contexts=1, threads=32)
    machine = _Machine(params).run(play(trace, params, Environment(name, 500)))
    wide = SigraceParams(cores=32, threads=32)
    expected = _Machine(wide).run(play(trace, wide, Environment("fixed")))
    assert machine.accesses == expected.accesses
    assert machine.remaps > 100


def test_contexts_of_a_multiplexed_machine_stay_unused():
    params = _params("multiplex")
    commands = play(random_thread_trace(1, 9), params, Environment("multiplex"))
    assert {command[:2] for command in commands} == {(0, 0), (1, 0)}


def test_threads_migrate_to_every_context():
    params = _params("migration")
    trace = random_thread_trace(1, 2, events=2000)
    commands = list(play(trace, params, Environment("migration", 1000)))
    places = {command[:2] for command in commands if isinstance(command, Remap)}
    assert len(places) == 10


def test_start_and_place_of_fixed_threads():
    params = SigraceParams(cores=2, contexts=2)
    trace = random_thread_trace(1, 3)
    commands = list(play(trace, params, Environment()))
    assert commands[:8] == [
        *(CoreCommand(*slot, CoreEvent(CoreOp.RESET), -1)
          for slot in ((0, 0), (1, 0), (0, 1), (1, 1))),
        Remap(0, 0, 0),
        CoreCommand(0, 0, CoreEvent(CoreOp.SWITCH_IN, index=0), -1),
        CoreCommand(0, 0, CoreEvent(CoreOp.MODE), -1),
        CoreCommand(0, 0, CoreEvent(CoreOp.COLLECT_ON), -1),
    ]  # fmt: skip
    assert [command for command in commands if isinstance(command, Remap)] == [
        Remap(0, 0, 0), Remap(1, 0, 1), Remap(0, 1, 2),
    ]  # fmt: skip
    numbers = [command.number for command in commands[16:]]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize("name", ["migration", "multiplex"])
def test_seeds(name):
    trace, params = random_thread_trace(3, 6, events=1000), _params(name)
    one, again, other = (
        list(play(trace, params, Environment(name, 20_000, seed))) for seed in (1, 1, 2)
    )
    assert one == again
    assert one != other


def test_quanta_end_without_counts_of_instructions():
    trace, params = random_thread_trace(3, 6, events=500), _params("multiplex")
    trace.events["instructions"] = 0
    commands = play(trace, params, Environment("multiplex", 10))
    assert sum(isinstance(command, Remap) for command in commands) > 60


def test_commands_come_as_they_are_asked_for():
    """A long trace is not played to its end before the first command."""
    trace = random_thread_trace(3, 4, events=20_000)
    for name in _MACHINES:
        assert len(list(islice(play(trace, _params(name), Environment(name)), 50))) == 50


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("fixed", "Trace has 4 threads, but environment fixed has only 3 contexts"),
        ("migration", "Trace has 4 threads, but environment migration has only 3 contexts"),
    ],
)
def test_too_many_threads_for_the_contexts(name, words):
    with pytest.raises(ValueError, match=words):
        play(random_thread_trace(1, 4), SigraceParams(cores=3), Environment(name))


def test_too_many_threads_for_the_machine():
    with pytest.raises(ValueError, match=r"5 threads, .* only 4: add --set threads=5"):
        play(random_thread_trace(1, 5), SigraceParams(threads=4), Environment("multiplex"))


@pytest.mark.parametrize(
    ("fields", "error", "words"),
    [
        (("free",), ValueError, "Unknown environment 'free'"),
        (("multiplex", 0), ValueError, "Quantum must be from 1 to 4294967295, not 0"),
        (("multiplex", 1.5), TypeError, "Quantum must be an integer, not 1.5"),
        (("multiplex", 1, -1), ValueError, "Seed of the environment must be from 0"),
    ],
)
def test_environment_errors(fields, error, words):
    with pytest.raises(error, match=words):
        Environment(*fields)
