"""The scoreboard takes what the golden model does, and nothing else."""

import re
from dataclasses import replace
from itertools import zip_longest

import pytest

from racetrap.golden_model.sigrace.environment import Remap
from racetrap.golden_model.sigrace.packets import CoreEvent, CoreOp, RdmStep, RdmStepKind
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.sigrace.knobs import KNOBS
from racetrap.sim.cosim.sigrace.random_events import random_events
from racetrap.sim.cosim.sigrace.scoreboard import Scoreboard
from tests.support.sigrace.configurations import SMALL
from tests.support.sigrace.random_commands import play

_CONTEXTS = replace(SMALL, contexts=2, threads=5)


@pytest.fixture(scope="module")
def commands():
    return list(random_events(SMALL, KNOBS["moving"], 5, 1500))


@pytest.fixture(scope="module")
def seen(commands):
    return play(SMALL, commands)


def _board(commands, params=SMALL, observer=None):
    board = Scoreboard(params, observer)
    for command in commands:
        if isinstance(command, Remap):
            board.remap(command)
        else:
            board.event(*command[:3])
    return board


def _see(board, core_steps=(), traps=(), rdm_steps=()):
    for core_step in core_steps:
        board.core_step(*core_step)
    for trap in traps:
        board.trap(*trap)
    for rdm_step in rdm_steps:
        board.rdm_step(rdm_step)


def _finish(board, seen, **changed):
    registers = {
        "log": seen.rdm.log, "reasons": seen.rdm.reasons, "counters": dict(seen.rdm.counters),
    }  # fmt: skip
    board.finish(**registers | changed)


@pytest.mark.parametrize("params", [SMALL, _CONTEXTS])
@pytest.mark.parametrize("knobs", ["mixed", "moving", "analysing"])
def test_golden_hardware_agrees(params, knobs):
    commands = list(random_events(params, KNOBS[knobs], 3, 1500))
    seen = play(params, commands)
    board = _board(commands, params)
    _see(board, seen.core_steps, seen.traps, seen.rdm_steps)
    _finish(board, seen)
    assert board.events == len(seen.core_steps) > 1500
    assert board.rdm_steps == len(seen.rdm_steps) > board.messages > 50


def test_steps_may_be_seen_before_their_events(commands, seen):
    board = Scoreboard(SMALL)
    events = [command for command in commands if not isinstance(command, Remap)]
    for command, core_step in zip_longest(events, seen.core_steps):
        board.core_step(*core_step)
        board.event(*command[:3])
    with pytest.raises(Mismatch, match="step differs: kind must be 2"):
        _see(board, rdm_steps=seen.rdm_steps)  # without its remaps nothing is mapped


@pytest.mark.parametrize("port", ["core_steps", "traps", "rdm_steps"])
@pytest.mark.parametrize("change", ["lost", "twice", "changed"])
def test_every_difference_is_found(port, change):
    commands = list(random_events(SMALL, KNOBS["analysing"], 3, 1500))
    seen = play(SMALL, commands)
    ports = {"core_steps": seen.core_steps, "traps": seen.traps, "rdm_steps": seen.rdm_steps}
    items = ports[port] = list(ports[port])
    middle = len(items) // 2
    if change == "lost":
        del items[middle]
    elif change == "twice":
        items.insert(middle, items[middle])
    else:
        item = items[middle]
        fields = item if isinstance(item, RdmStep) else item[-1]
        fields = fields._replace(**{fields._fields[-1]: fields[-1] ^ 1})
        items[middle] = fields if isinstance(item, RdmStep) else (*item[:-1], fields)

    def compare():
        board = _board(commands)
        _see(board, **ports)
        _finish(board, seen)

    with pytest.raises(Mismatch):
        compare()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"reasons": 0}, "Reasons of the rollback must be 7, not 0"),
        ({"log": []}, "Conflict log must have 2 entries, not 0"),
        ({"counters": "one more"}, r"Counter messages must be (\d+), not"),
    ],
)
def test_registers_are_compared(commands, seen, changed, sentence):
    if "counters" in changed:
        counters = dict(seen.rdm.counters)
        counters["messages"] += 1
        changed = {"counters": counters}
    board = _board(commands)
    _see(board, seen.core_steps, seen.traps, seen.rdm_steps)
    with pytest.raises(Mismatch, match=sentence):
        _finish(board, seen, **changed)


def test_logged_conflicts_are_compared(commands, seen):
    log = list(seen.rdm.log)
    log[1] = log[1]._replace(signature=log[1].signature ^ 1)
    board = _board(commands)
    _see(board, seen.core_steps, seen.traps, seen.rdm_steps)
    with pytest.raises(Mismatch, match="Conflict 1: entry differs: signature must be"):
        _finish(board, seen, log=log)


def test_messages_that_nobody_sent():
    push = RdmStep(RdmStepKind.PUSH, 0, 0, 0, 0, 1)
    with pytest.raises(Mismatch, match=re.escape("RDM, message 0: message was never sent")):
        Scoreboard(SMALL).rdm_step(push)
    with pytest.raises(Mismatch, match="must be of a context of the system"):
        Scoreboard(SMALL).rdm_step(push._replace(core=2))


_SEND = [CoreEvent(CoreOp.COLLECT_ON), CoreEvent(CoreOp.LOAD, 4, 4), CoreEvent(CoreOp.SWITCH_OUT)]


def test_ignored_messages_make_no_steps():
    board = Scoreboard(SMALL)
    board.enable(False)
    board.remap(Remap(0, 0, 0))
    for event in _SEND:
        board.event(0, 0, event)
    board.clear_log()  # takes what was ignored
    assert board.rdm.counters["ignored"] == 1
    board.event(0, 0, _SEND[1])
    board.event(0, 0, _SEND[2])
    with pytest.raises(Mismatch, match="message must be ignored"):
        board.rdm_step(RdmStep(RdmStepKind.PUSH, 0, 0, 0, 1, 3))


@pytest.mark.parametrize("action", ["flush", "clear_log", "clear_counters", "finish"])
def test_nothing_may_be_under_way_when_software_acts(action):
    board = Scoreboard(SMALL)
    for event in _SEND:
        board.event(0, 0, event)
    with pytest.raises(Mismatch, match="message missing"):
        getattr(board, action)()


class _Recorder:
    """An observer that counts what it is told."""

    def __init__(self):
        self.told = {}

    def __getattr__(self, name):
        def tell(*arguments):
            self.told.setdefault(name, []).append(arguments)

        return tell


def test_observer_is_told_everything(seen, commands):
    observer = _Recorder()
    board = _board(commands, observer=observer)
    _see(board, seen.core_steps, seen.traps, seen.rdm_steps)
    _finish(board, seen)
    told = observer.told
    assert len(told["core_step"]) == len(seen.core_steps)
    assert len(told["block"]) == len(told["message"]) == board.messages
    assert len(told["remap"]) == sum(isinstance(command, Remap) for command in commands)
    assert max(under_way for _, under_way in told["remap"]) > 0
    for _, entries in told["message"]:
        assert len(entries) == SMALL.threads, entries
    assert told["finished"] == [(seen.rdm.log, seen.rdm.reasons)]
