"""Room, registers by name, and the check of a device's configuration."""

from dataclasses import replace

import pytest

from racetrap.fpga.host import session as session_module
from racetrap.fpga.host.client import HostLink, LinkError
from racetrap.fpga.host.session import Session
from racetrap.golden_model.configuration import configuration_hash
from racetrap.golden_model.link.device import LinkDevice
from tests.support.fpga.virtual_device import on_terminal, scord_device


class _Target:
    """Takes up to three records a channel and hands one on at each second request."""

    def __init__(self):
        self.taken, self.waiting_records = [], list(range(500, 520))
        self._held, self._asked = 0, 0
        self.stuck = False

    def credits(self, channel):
        self._asked += 1
        if self._held and self._asked % 2 == 0 and not self.stuck:
            self._held -= 1
        return 3 - self._held

    def push(self, channel, record):
        assert self._held < 3
        self._held += 1
        self.taken.append((channel, record))

    def pull(self, channel):
        return self.waiting_records.pop(0) if self.waiting_records else None


@pytest.fixture
def target():
    return _Target()


@pytest.fixture
def session(params, target):
    hello = scord_device(params)._hello
    device = LinkDevice(target, hello._replace(room=3 * hello.input_bytes))
    with on_terminal(device.receive) as port, HostLink(port) as link:
        yield Session(link, params, "tiny")


def test_push_waits_for_room(session, target):
    records = [record << 20 for record in range(20)]
    session.push(1, records)
    assert target.taken == [(1, record) for record in records]


def test_drained_channel(session, target, monkeypatch):
    session.drain(0)
    target.stuck = True
    session.push(0, [1, 2])
    with monkeypatch.context() as patch:
        patch.setattr(session_module, "PATIENCE_S", 0.05)
        with pytest.raises(LinkError, match=r"take what was pushed to channel 0 within 0\.05 s"):
            session.settle()
    target.stuck = False
    session.settle()
    assert target.credits(0) == 3


def test_stuck_device(session, target, monkeypatch):
    monkeypatch.setattr(session_module, "PATIENCE_S", 0.05)
    target.stuck = True
    with pytest.raises(LinkError, match=r"did not take records of channel 0 within 0\.05 s"):
        session.push(0, [0] * 4)


def test_pull_takes_all(session):
    assert session.pull(0) == list(range(500, 520))
    assert session.pull(0) == []


def test_registers(params):
    with on_terminal(scord_device(params).receive) as port, HostLink(port) as link:
        session = Session(link, params, "tiny")
        session.write("DATA_BASE_HI", 0x89ABCDEF)
        assert session.read("DATA_BASE_HI") == 0x89ABCDEF
        counters = session.read_counters()
    assert {"accesses", "races_missing_lock", "reports_dropped"} <= counters.keys()


def test_another_configuration(params):
    other = replace(params, outstanding=16)
    with on_terminal(scord_device(other).receive) as port, HostLink(port) as link:
        with pytest.raises(LinkError) as error:
            Session(link, params, "tiny")
    assert str(error.value) == (
        f"Device must have configuration {configuration_hash(params):#010x} of tiny, "
        f"not {configuration_hash(other):#010x}"
    )
