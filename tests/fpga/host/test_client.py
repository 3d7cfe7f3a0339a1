"""The host's end of the link: lost and damaged bytes, silence, other versions, lost devices."""

import time
from collections.abc import Callable

import pytest

from racetrap.fpga.host.client import HostLink, LinkError, RefusedError
from racetrap.golden_model.configuration import configuration_hash
from racetrap.golden_model.link.frames import REPLY, Decoder, Frame, Kind, encode
from tests.support.fpga.virtual_device import Fault, on_terminal, scord_device

_RATE = 0.002


def _answering(payload_of: Callable[[Frame], bytes | None]) -> Callable[[bytes], bytes]:
    """A device that answers each frame with the payload given for it, or not at all."""
    decoder = Decoder()

    def receive(data: bytes) -> bytes:
        reply = b""
        for frame in decoder.feed(data):
            if (payload := payload_of(frame)) is not None:
                reply += encode(Frame(frame.sequence, REPLY, payload))
        return reply

    return receive


def test_hello_says_what_the_device_is(params):
    with on_terminal(scord_device(params).receive) as port, HostLink(port) as link:
        hello = link.hello()
    assert hello.configuration == configuration_hash(params)
    assert hello.inputs == params.sm_count
    assert (link.requests, link.resends) == (1, 0)


def test_each_request_is_executed_once_on_a_bad_line(params):
    device = scord_device(params)
    written: list[int] = []
    device._target.write = lambda _, data: written.append(data) or True
    fault = Fault(seed=3, flip=_RATE, drop=_RATE, double=_RATE)
    values = list(range(200))
    with on_terminal(device.receive, fault) as port:
        with HostLink(port, timeout_s=0.02, retries=60) as link:
            link.hello()
            for value in values:
                address = bytes([0x50, 0])
                link.request(Kind.ACCESS, payload=address + value.to_bytes(4, "little"))
    assert written == values
    assert link.requests == 1 + len(values)
    assert link.resends > 10


def test_mute_device():
    started = time.monotonic()
    with on_terminal(lambda _: b"") as port:
        with HostLink(port, timeout_s=0.01, retries=2) as link, pytest.raises(LinkError) as error:
            link.hello()
    expected = f"Device on {port} at 1000000 baud does not answer: no answer in 3 tries"
    assert str(error.value) == expected
    assert time.monotonic() - started < 5
    assert link.resends == 2


def test_no_such_port():
    with pytest.raises(LinkError, match=r"Port /dev/nothing cannot be opened: .*No such file"):
        HostLink("/dev/nothing")


def test_another_version():
    with on_terminal(_answering(lambda _: b"\x07\x01")) as port, HostLink(port) as link:
        with pytest.raises(LinkError, match="HELLO reply must be 11 bytes of version 2, not 07 01"):
            link.hello()


def test_refused_request(params):
    with on_terminal(scord_device(params).receive) as port, HostLink(port) as link:
        link.hello()
        with pytest.raises(RefusedError, match="Device refused request ACCESS"):
            link.request(Kind.ACCESS, payload=b"\xfc\x0f")
        # The device goes on.
        assert link.request(Kind.PULL) == b""


def _ask_forever(link: HostLink) -> None:
    while True:
        link.request(Kind.PULL)


@pytest.mark.parametrize("fault", [Fault(mute_after=60), Fault(unplug_after=60)])
def test_lost_device(params, fault):
    with on_terminal(scord_device(params).receive, fault) as port:
        with HostLink(port, timeout_s=0.05, retries=2) as link:
            link.hello()
            with pytest.raises(LinkError, match=r"was lost after \d+ requests: ") as error:
                _ask_forever(link)
    assert f"after {link.requests - 1} requests" in str(error.value)
    assert link.requests > 5
