"""The host's end of the link: lost and damaged bytes, silence, other versions, lost devices."""

import time
from collections.abc import Callable

import pytest

from racetrap.fpga.host.client import HostLink, LinkError, RefusedError
from racetrap.golden_model.configuration import configuration_hash
from racetrap.golden_model.link.frames import (
    REPLY,
    Counters,
    Decoder,
    Frame,
    Hello,
    Kind,
    Status,
    encode,
)
from tests.support.fpga.virtual_device import Fault, on_terminal, scord_device

_RATE = 0.002


def _answering(payload_of: Callable[[Frame], bytes | None]) -> Callable[[bytes], bytes]:
    """A device that answers each frame with the payload given for it, or not at all."""
    decoder = Decoder()

    def receive(data: bytes) -> bytes:
        reply = b""
        for frame in decoder.feed(data):
            if (payload := payload_of(frame)) is not None:
                reply += encode(Frame(frame.kind | REPLY, frame.sequence, payload))
        return reply

    return receive


def test_hello_says_what_the_device_is(params):
    with on_terminal(scord_device(params).receive) as port, HostLink(port) as link:
        hello = link.hello()
    assert (hello.system, hello.configuration) == (1, configuration_hash(params))
    assert hello.inputs == len(hello.credits) == params.sm_count
    assert (link.counts.requests, link.counts.resends) == (1, 0)


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
                link.request(Kind.WRITE, bytes([0x50, 0]) + value.to_bytes(4, "little"))
    assert written == values
    assert link.counts.requests == 1 + len(values)
    assert link.counts.resends > 10
    assert link.counts.bad_frames > 0
    assert device.counters.duplicates > 0


def test_a_reply_to_an_earlier_request_is_not_taken():
    def receive(frame: Frame) -> bytes:
        return Hello(0, 1, 1, 0, 0, 1, 0, 1, ()).to_payload() if frame.kind == 1 else b"\0" * 5

    def doubled(data: bytes) -> bytes:
        return 2 * answer(data)

    answer = _answering(receive)
    with on_terminal(doubled) as port, HostLink(port) as link:
        link.hello()
        assert link.request(Kind.READ, b"\0\0") == b"\0" * 5
        assert link.request(Kind.READ, b"\0\0") == b"\0" * 5
    assert link.counts.stale_replies == 2
    assert link.counts.resends == 0


def test_mute_device():
    started = time.monotonic()
    with on_terminal(lambda _: b"") as port:
        with HostLink(port, timeout_s=0.01, retries=2) as link, pytest.raises(LinkError) as error:
            link.hello()
    expected = f"No device answers on {port} at 1000000 baud in 3 tries of 0.01 s"
    assert str(error.value) == expected
    assert time.monotonic() - started < 5
    assert link.counts.resends == 2


def test_no_such_port():
    with pytest.raises(LinkError, match=r"Port /dev/nothing cannot be opened: .*No such file"):
        HostLink("/dev/nothing")


def test_another_version():
    hello = Hello(Status.BAD_REQUEST, 7, 1, 0, 0, 1, 0, 1, ())
    with on_terminal(_answering(lambda _: hello.to_payload())) as port, HostLink(port) as link:
        with pytest.raises(LinkError, match="must speak version 1 of the link, not 7"):
            link.hello()


def test_a_hello_of_another_length():
    with on_terminal(_answering(lambda _: b"\0\1")) as port, HostLink(port) as link:
        with pytest.raises(LinkError, match="HELLO reply must have at least 11 bytes, not 2"):
            link.hello()


def test_refused_request(params):
    with on_terminal(scord_device(params).receive) as port, HostLink(port) as link:
        link.hello()
        with pytest.raises(RefusedError) as error:
            link.request(Kind.READ, b"\xfc\x0f")
        # The device goes on.
        assert Counters.from_payload(link.request(Kind.COUNTERS)).frames == 3
    assert error.value.status == Status.REGISTER_ERROR
    assert str(error.value) == ("Device refused request READ with status 3 (register error)")


def _ask_forever(link: HostLink) -> None:
    while True:
        link.request(Kind.COUNTERS)


@pytest.mark.parametrize("fault", [Fault(mute_after=60), Fault(unplug_after=60)])
def test_lost_device(params, fault):
    with on_terminal(scord_device(params).receive, fault) as port:
        with HostLink(port, timeout_s=0.05, retries=2) as link:
            link.hello()
            with pytest.raises(LinkError, match=r"was lost after \d+ requests: ") as error:
                _ask_forever(link)
    assert f"after {link.counts.requests - 1} requests" in str(error.value)
    assert link.counts.requests > 5
