"""Event log with a judge: each part is judged as it was, whatever is logged meanwhile."""

import time

from racetrap.sim.gpu.executor.machine import event_log
from racetrap.sim.gpu.executor.machine.event_log import EventLog

PARTS = 9


class SlowJudge:
    """Looks at a part when the next one has been logged."""

    def __init__(self):
        self.parts = []

    def feed(self, events, lanes, first_lane):
        time.sleep(0.005)
        self.parts.append(events["grid_block"].tolist())


def test_parts_reuse_no_array_that_someone_has(monkeypatch):
    monkeypatch.setattr(event_log, "MOST_KEPT", 1)
    judge, given = SlowJudge(), {}
    log = EventLog(lambda: judge)
    for number in range(PARTS):
        log.after(number)
        if number % 4 == 0:
            given[number] = log.arrays()[0]
        log.settle()
    log.settle(at_end=True)
    assert judge.parts == [*([number] for number in range(PARTS)), []]
    assert {number: events["grid_block"].tolist() for number, events in given.items()} == {
        number: [number] for number in given
    }
    assert log.count == PARTS
