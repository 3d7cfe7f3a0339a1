"""The golden device: each request once, and every reply."""

from __future__ import annotations

from dataclasses import replace

import pytest

from racetrap.generators.presets import find_preset
from racetrap.golden_model.configuration import configuration_hash
from racetrap.golden_model.link.device import LinkDevice
from racetrap.golden_model.link.frames import Counters, Decoder, Frame, Hello, Kind, Status, encode
from racetrap.tb.link.loopback import Loopback, LoopParams, golden_device


@pytest.fixture
def device():
    return golden_device(LoopParams(bits=9, channels=2, credits=2))


def _ask(device: LinkDevice, kind: int, sequence: int, payload: bytes = b"") -> bytes | None:
    replies = Decoder().feed(device.receive(encode(Frame(kind, sequence, payload))))
    for reply in replies:
        assert (reply.kind, reply.sequence) == (kind | 0x80, sequence)
    return replies[0].payload if replies else None


def test_hello(device):
    link, _ = device
    assert _ask(link, Kind.PUSH, 1, b"\0") is None
    hello = Hello.from_payload(_ask(link, Kind.HELLO, 77, b"\x01"))
    assert hello == Hello(0, 1, 1, 0x7E7D0009, 2, 2, 2, 2, (2, 2))
    assert link.is_up
    assert _ask(link, Kind.HELLO, 3, b"\x02")[:2] == bytes([Status.BAD_REQUEST, 1])
    assert not link.is_up


def test_records_and_credits(device):
    link, target = device
    _ask(link, Kind.HELLO, 255, b"\x01")
    # Bits above the ninth are ignored.
    assert _ask(link, Kind.PUSH, 0, b"\x01\x34\xff\x02\x00") == b"\0\0"
    assert _ask(link, Kind.PUSH, 1, b"\x01\x00\x00") == bytes([Status.NO_CREDIT, 0])
    assert _ask(link, Kind.PUSH, 2, b"\x01\x00") == bytes([Status.BAD_REQUEST])
    assert _ask(link, Kind.PUSH, 3, b"\x02") == bytes([Status.BAD_REQUEST])
    target.move()
    assert _ask(link, Kind.PUSH, 4, b"\x01") == b"\0\x02"
    assert _ask(link, Kind.PULL, 5, b"\x01\x01") == b"\0\x01\x34\x01"
    assert _ask(link, Kind.PULL, 6, b"\x01\xff") == b"\0\0\x02\0"
    assert _ask(link, Kind.PULL, 7, b"\x00\xff") == b"\0\0"


def test_registers(device):
    link, _ = device
    _ask(link, Kind.HELLO, 0, b"\x01")
    assert _ask(link, Kind.WRITE, 1, b"\x08\0abcd") == b"\0"
    assert _ask(link, Kind.READ, 2, b"\x08\0") == b"\0abcd"
    assert _ask(link, Kind.READ, 3, b"\xf0\0") == bytes([Status.REGISTER_ERROR])
    assert _ask(link, Kind.READ, 4, b"\x08\x01") == bytes([Status.BAD_REQUEST])
    assert _ask(link, 99, 5) == bytes([Status.UNKNOWN_KIND])


def test_a_repeated_request_is_not_executed_again(device):
    link, target = device
    _ask(link, Kind.HELLO, 0, b"\x01")
    for _ in range(3):
        assert _ask(link, Kind.PUSH, 1, b"\0\x05\0") == b"\0\x01"
    assert _ask(link, Kind.PUSH, 3, b"\0\x06\0") is None
    link.framing_error()
    link.overrun()
    counters = Counters.from_payload(_ask(link, Kind.COUNTERS, 2))
    assert counters == Counters(
        frames=6, duplicates=2, gaps=1, uart_framing=1, uart_overrun=1
    )  # fmt: skip
    target.move()
    assert target.pull(0) == 5
    assert not target.waiting(0)


def test_numbers_out_of_range():
    params = LoopParams(bits=9)
    for name, value in (("input_bits", 8 * 254 + 1), ("output_bits", 8 * 253 + 1),
                        ("address_bits", 17)):  # fmt: skip
        with pytest.raises(ValueError, match=f"not {value}"):
            LinkDevice(Loopback(params), **params.link_settings | {name: value})


def test_an_option_that_came_later_changes_no_other_hash():
    """The identification of configurations without it, on boards and in files, is as it was."""
    params = find_preset("scord-tiny").params
    assert configuration_hash(params) == 0x535E9272
    others = [configuration_hash(replace(params, slot_generation_bits=n)) for n in (0, 1, 2)]
    assert others[0] == configuration_hash(params)
    assert len(set(others)) == 3


def test_configuration_hash():
    params = find_preset("scord-tiny").params
    assert configuration_hash(params) == configuration_hash(replace(params))
    assert configuration_hash(params) != configuration_hash(replace(params, banks=2))
    assert configuration_hash(params) != configuration_hash(find_preset("sigrace-tiny").params)
