"""Programs with threads on a device: every conflict and trap record is the golden model's."""

from dataclasses import replace

import pytest

from racetrap.fpga.host.client import HostLink, LinkError
from racetrap.fpga.host.session import Session
from racetrap.fpga.sigrace.board import SigraceBoard
from racetrap.fpga.sigrace.run import run_program
from racetrap.generators.presets import find_preset
from racetrap.golden_model.sigrace.environment import Environment
from racetrap.golden_model.sigrace.packets import Trap
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace.threads.events import ThreadEvent, ThreadEventKind
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cpu.random_run import random_run, trace_of
from tests.support.fpga.sigrace_device import SigraceTarget, sigrace_device
from tests.support.fpga.virtual_device import Fault, on_terminal


@pytest.fixture(scope="module")
def params() -> SigraceParams:
    tiny = find_preset("sigrace-tiny").params
    return replace(tiny, trace_port=False, timestamp_bits=12, contexts=2)


@pytest.fixture
def device(params):
    return sigrace_device(params)


@pytest.fixture
def session(params, device):
    with on_terminal(device.receive) as port, HostLink(port, timeout_s=2) as link:
        yield Session(link, params, "tiny")


def _machine(params, environment="multithreaded"):
    return Sigrace(params, Environment(environment, quantum=300), checkpoint_interval=1500)


@pytest.mark.parametrize("environment", ["fixed", "migration", "multiplex", "multithreaded"])
def test_random_programs(session, params, environment):
    sigrace, requests = _machine(params, environment), 0
    for seed in range(3):
        trace = random_run(seed, threads=3, events=120)
        reached = []
        run = run_program(session, sigrace, trace, reached.append)
        assert run.result == sigrace.run(trace)
        assert run.counters["conflicts"] == run.result.conflicts > 0
        assert run.messages == run.counters["messages"]
        assert run.log
        assert run.traps
        assert reached == sorted(set(reached))
        assert reached[-1] == len(trace) - 1
        requests += run.requests
    assert requests > 0


def test_the_order_between_contexts_matters(session, params, monkeypatch):
    # Without the wait the device, which favours no context, mixes their messages.
    monkeypatch.setattr("racetrap.fpga.sigrace.board.wait_until", lambda *_: None)
    trace = random_run(3, threads=3, events=120)
    with pytest.raises(Mismatch):
        run_program(session, _machine(params), trace)


class _StoppedError(Exception):
    """The host ends in the middle of a run."""


@pytest.mark.parametrize("sent", range(40, 160, 40))
def test_what_a_run_before_left_is_forgotten(session, params, monkeypatch, sent):
    take = SigraceBoard.take

    def stop(board, *event):
        take(board, *event)
        if board.events == sent:
            raise _StoppedError

    trace = random_run(1, threads=3, events=120)
    monkeypatch.setattr(SigraceBoard, "take", stop)
    with pytest.raises(_StoppedError):
        run_program(session, _machine(params), trace)
    monkeypatch.undo()
    run = run_program(session, _machine(params), trace)
    assert run.result == _machine(params).run(trace)


def test_what_an_analysis_before_left_is_forgotten(session, params, monkeypatch):
    trace = random_run(1, threads=3, events=120)
    # Its trap records are left in the device, and its context waits for them to be taken.
    monkeypatch.setattr(SigraceBoard, "analyse", _analyse_in_vain)
    with pytest.raises(Mismatch, match="Trap records of context 0 must be"):
        run_program(session, _machine(params), trace)
    monkeypatch.undo()
    assert run_program(session, _machine(params), trace).traps


def _analyse_in_vain(board, unit, events, due):
    board._session.push(unit, [board._pack(event) for event in events])
    return [Trap(0, 0, 0)]


def _drop_conflict(rdm, target):
    rdm.log[:] = rdm.log[:-1]


def _wrong_signature(rdm, target):
    if rdm.log:
        rdm.log[-1] = rdm.log[-1]._replace(signature=rdm.log[-1].signature ^ 1)


def _wrong_counter(rdm, target):
    rdm.counters["comparisons"] += 1


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (_drop_conflict, "Conflict log must have 1 records, not 0"),
        (_wrong_signature, "Conflict log: record differs: signature must be"),
        (_wrong_counter, "Counter comparisons must be"),
    ],
)
def test_differences_are_found(session, params, device, monkeypatch, fault, message):
    rdm = device._target.rdm
    summary = rdm.summary

    def damaged(*arguments):
        steps = summary(*arguments)
        fault(rdm, device._target)
        return steps

    monkeypatch.setattr(rdm, "summary", damaged)
    with pytest.raises(Mismatch, match=message):
        run_program(session, Sigrace(params), _racy())


def _racy():
    """Two threads store to one word."""
    kind = ThreadEventKind
    return trace_of(
        2,
        ThreadEvent(kind.STORE, 0, address=0x1000, size=4, pc=1, instructions=1),
        ThreadEvent(kind.STORE, 1, address=0x1000, size=4, pc=2, instructions=1),
        ThreadEvent(kind.END, 1),
        ThreadEvent(kind.JOIN, 0, value=1),
        ThreadEvent(kind.END, 0),
    )


def test_one_race(session, params):
    run = run_program(session, Sigrace(params), _racy())
    assert [(race.first.pc, race.second.pc) for race in run.result.races] == [(1, 2)]
    assert [trap.address for trap in run.traps] == [0x1000] * 2


def test_wrong_and_surplus_trap_records(session, params, monkeypatch):
    pull = SigraceTarget.pull

    def wrong(target, channel):
        record = pull(target, channel)
        return None if record is None else record ^ 1

    monkeypatch.setattr(SigraceTarget, "pull", wrong)
    with pytest.raises(Mismatch, match="Trap records of context"):
        run_program(session, Sigrace(params), _racy())
    monkeypatch.undo()
    left = [Trap(4, 5, 0)]
    monkeypatch.setattr(SigraceBoard, "traps", lambda *_: left)
    with pytest.raises(Mismatch, match="Context 0 must give no other trap record, not Trap"):
        run_program(session, Sigrace(params), _racy())


def test_a_message_that_is_not_taken(session, params, monkeypatch):
    monkeypatch.setattr("racetrap.fpga.host.session.PATIENCE_S", 0.2)
    monkeypatch.setattr(SigraceBoard, "remap", lambda *_: None)
    with pytest.raises(LinkError, match=r"accept message 1 within 0\.2 s; it came"):
        run_program(session, Sigrace(params), _racy())


def test_bad_line(params):
    fault = Fault(seed=5, flip=0.001, drop=0.001, double=0.001)
    with on_terminal(sigrace_device(params).receive, fault) as port:
        with HostLink(port, timeout_s=0.02, retries=60) as link:
            run = run_program(Session(link, params, "tiny"), Sigrace(params), _racy())
    assert len(run.log) == 1
    assert link.resends > 0


def test_lost_in_the_middle(params):
    with on_terminal(sigrace_device(params).receive, Fault(unplug_after=2000)) as port:
        with HostLink(port, timeout_s=0.05, retries=2) as link:
            session = Session(link, params, "tiny")
            with pytest.raises(LinkError, match=r"it came to event \d+, with \d+ events of"):
                run_program(session, _machine(params), random_run(1, threads=3, events=120))


def test_queues_must_be_those_of_the_hardware(session, params):
    with pytest.raises(ValueError, match="must be those of the hardware, not unbounded"):
        run_program(session, Sigrace(params, unbounded=True), _racy())
