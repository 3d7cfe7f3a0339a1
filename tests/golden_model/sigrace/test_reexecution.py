"""Re-execution follows the TS log: no deadlock, the same synchronisations, as far as possible."""

import random

import pytest

from racetrap.golden_model.sigrace.packets import Relation
from racetrap.golden_model.sigrace.reexecution import Reexecution
from racetrap.golden_model.sigrace.timestamp import generate_timestamp, relation

#: Fig. 4 of the paper: thread 0 has done two releases, thread 1 one acquire; it waits at its next
#: release, and thread 2 at the acquire after that.
FIGURE_4 = [[(1, 0, 0), (2, 0, 0)], [(1, 1, 0), (2, 2, 0)], [(2, 2, 1)]]


def test_figure_4_of_the_paper():
    order = list(Reexecution((0, 0, 0), FIGURE_4, {}).order())
    assert order.index((1, (2, 2, 0))) > order.index((0, (2, 0, 0)))
    assert order[-1] == (2, (2, 2, 1))
    assert len(order) == 5


def test_a_stop_holds_back_those_who_need_what_comes_after():
    assert Reexecution((0, 0, 0), FIGURE_4, {0: 1}).lengths() == [1, 1, 0]
    assert Reexecution((0, 0, 0), FIGURE_4, {1: 1}).lengths() == [2, 1, 0]
    assert Reexecution((0, 0, 0), FIGURE_4, {0: 0}).lengths() == [0, 0, 0]


def test_an_empty_log_enters_analysis_at_once():
    execution = Reexecution((4, 7), [[], []], {0: 4, 1: 7})
    assert execution.lengths() == [0, 0]
    assert list(execution.order()) == []


def test_a_log_of_no_execution_is_an_error_not_a_hang():
    with pytest.raises(RuntimeError, match="no thread can proceed"):
        list(Reexecution((0, 0), [[(1, 1)], [(1, 1)]], {}).order())


class Locks:
    """A random program that takes mutexes, run with the merge rules of Table 2."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.threads = rng.randint(2, 5)
        self.operations = []
        held, owners = {}, {}
        for _ in range(rng.randint(0, 60)):
            thread = rng.randrange(self.threads)
            if thread in held and rng.random() < 0.6:
                mutex = held.pop(thread)
                del owners[mutex]
                self.operations.append((thread, "release", mutex))
            elif thread not in held and (mutex := rng.randrange(3)) not in owners:
                held[thread], owners[mutex] = mutex, thread
                self.operations.append((thread, "acquire", mutex))
        self.rng = rng

    def log(self, operations):
        """TS log of each thread, if the operations happen in the order given."""
        timestamps = [(0,) * self.threads for _ in range(self.threads)]
        mutexes, logs = {}, [[] for _ in range(self.threads)]
        for thread, what, mutex in operations:
            now = list(timestamps[thread])
            now[thread] += 1
            if what == "release":
                mutexes[mutex] = tuple(now)
            else:
                now = generate_timestamp(now, mutexes.get(mutex, (0,) * self.threads), thread)
            timestamps[thread] = tuple(now)
            logs[thread].append(tuple(now))
        return logs


def fixed_point(epochs, logs, stops):
    """Where threads come to rest if each proceeds whenever the rule and its stop let it."""
    grt, done = list(epochs), [0] * len(logs)
    moved = True
    while moved:
        moved = False
        for thread, log in enumerate(logs):
            if done[thread] == len(log):
                continue
            trt = log[done[thread]]
            if trt[thread] <= stops.get(thread, trt[thread]) and all(
                grt[other] >= trt[other] for other in range(len(logs)) if other != thread
            ):
                grt[thread], moved = trt[thread], True
                done[thread] += 1
    return done


def unordered_stops(rng, epochs):
    """Two threads with an epoch each, or one if these are ordered."""
    stops = {}
    for thread in rng.sample(range(len(epochs)), 2):
        epoch = rng.choice(epochs[thread])
        if all(
            relation(stop, other, epoch, thread) == Relation.UNORDERED
            for other, stop in stops.items()
        ):
            stops[thread] = epoch
    return {thread: epoch[thread] for thread, epoch in stops.items()}


@pytest.mark.parametrize("seed", range(200))
def test_random_programs(seed):
    """Threads go exactly as far as the rule lets them, stops are reached, the order is kept."""
    program = Locks(seed)
    rng, operations = program.rng, program.operations
    logs = program.log(operations)
    before = operations[: rng.randint(0, len(operations)) if seed % 2 else 0]  # a checkpoint
    epochs = [sum(operation[0] == thread for operation in before) for thread in range(len(logs))]
    since = [log[epoch:] for log, epoch in zip(logs, epochs, strict=True)]
    current = [
        log[epoch - 1] if epoch else (0,) * len(logs)
        for log, epoch in zip(logs, epochs, strict=True)
    ]
    stops = unordered_stops(rng, [[ts, *log] for ts, log in zip(current, since, strict=True)])
    execution = Reexecution(epochs, since, stops)
    lengths, order = execution.lengths(), list(execution.order())
    assert lengths == fixed_point(epochs, since, stops)
    done = [sum(t == thread for t, _ in order) for thread in range(len(logs))]
    assert done == lengths
    for thread, stop in stops.items():
        assert epochs[thread] + done[thread] == stop, thread
    each = [iter([op for op in operations if op[0] == t][epochs[t] :]) for t in range(len(logs))]
    replayed = [next(each[thread]) for thread, _ in order]
    expected = [log[: epoch + n] for log, epoch, n in zip(logs, epochs, lengths, strict=True)]
    assert program.log(before + replayed) == expected
