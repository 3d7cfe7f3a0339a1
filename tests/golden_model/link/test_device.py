"""The golden device: each request once, and every reply."""

from __future__ import annotations

from dataclasses import replace

import pytest

from racetrap.generators.presets import find_preset
from racetrap.golden_model.configuration import configuration_hash
from racetrap.golden_model.link.device import LinkDevice
from racetrap.golden_model.link.frames import REFUSED, REPLY, Decoder, Frame, Kind, encode
from racetrap.golden_model.link.hello import Hello
from tests.support.link.loopback import Loopback, LoopParams

_PARAMS = LoopParams(2, channels=2, credits=2)


@pytest.fixture
def target():
    return Loopback(_PARAMS)


@pytest.fixture
def device(target):
    return LinkDevice(target, _PARAMS.hello)


def _ask(
    device: LinkDevice, kind: int, sequence: int, payload: bytes = b"", channel: int = 0
) -> bytes | str | None:
    """Payload of the reply, that it was refused, or None if there is no reply."""
    replies = Decoder().feed(device.receive(encode(Frame(sequence, 32 * kind + channel, payload))))
    if not replies:
        return None
    (reply,) = replies
    assert reply.sequence == sequence
    assert reply.code & ~REFUSED == REPLY
    return "refused" if reply.code & REFUSED else reply.payload


def test_nothing_is_done_before_hello(device):
    for sequence in (0, 1, 65_535):
        assert _ask(device, Kind.ACCESS, sequence, bytes(6)) is None
    assert _ask(device, Kind.HELLO, 77) == _PARAMS.hello.to_payload()
    assert _ask(device, Kind.ACCESS, 78, bytes(2)) == bytes(4)
    # Another host begins where it will.
    assert _ask(device, Kind.HELLO, 3) == _PARAMS.hello.to_payload()
    assert _ask(device, Kind.ACCESS, 79, bytes(2)) is None
    assert _ask(device, Kind.ACCESS, 4, bytes(2)) == bytes(4)


def test_records_and_room(device, target):
    _ask(device, Kind.HELLO, 65_535)
    assert _ask(device, Kind.PUSH, 0, b"\x01\x02\x03", 1) == b"\x01\x00"
    assert _ask(device, Kind.PUSH, 1, b"\x04\x05", 1) == "refused"
    assert _ask(device, Kind.PUSH, 2, b"\x04", 1) == b"\x00\x00"
    target.move()
    assert _ask(device, Kind.PUSH, 3, b"", 1) == b"\x04\x00"
    assert _ask(device, Kind.PULL, 4, b"", 1) == b"\x01\x02\x03\x04"
    assert _ask(device, Kind.PULL, 5, b"", 0) == b""
    assert _ask(device, Kind.PUSH, 6, b"", 2) == _ask(device, Kind.PULL, 7, b"", 2) == "refused"


def test_registers(device):
    _ask(device, Kind.HELLO, 0)
    assert _ask(device, Kind.ACCESS, 1, b"\x08\0\1\2\3\4") == b""
    assert _ask(device, Kind.ACCESS, 2, b"\x00\0") == b"\x09\2\3\4"
    for sequence, payload in enumerate((b"\0\1", bytes(3), b"\0\1abcd", bytes(7), b"")):
        assert _ask(device, Kind.ACCESS, 3 + sequence, payload) == "refused"


def test_a_repeated_request_is_not_executed_again(device, target):
    _ask(device, Kind.HELLO, 0)
    for _ in range(3):
        assert _ask(device, Kind.PUSH, 1, b"\x05\0") == b"\x02\0"
    for stray in (0, 3, 32_769):
        assert _ask(device, Kind.PUSH, stray, b"\x06\0") is None
    assert device.receive(encode(Frame(2, REPLY))) == b""
    target.move()
    assert target.pull(0) == 5
    assert target.pull(0) is None


def test_hello():
    hello = Hello.of(0x12345678, input_bits=9, inputs=2, output_bits=250, outputs=1, credits=8)
    assert hello == Hello(2, 0x12345678, 2, 2, 16, 1, 32)
    assert Hello.from_payload(hello.to_payload()) == hello
    for payload, said in ((b"\x01" + bytes(10), "01 00"), (b"\x02\x03", "02 03"), (b"", "empty")):
        with pytest.raises(ValueError, match=f"must be 11 bytes of version 2, not {said}"):
            Hello.from_payload(payload)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("input_bits", 0, "input_bytes must be from 1 to 249, not 0"), ("inputs", 33, "not 33"),
        ("input_bits", 8 * 249 + 1, "not 250"), ("output_bits", 8 * 249 + 1, "not 250"),
        ("outputs", 0, "outputs must be from 1 to 32, not 0"), ("credits", 32_768, "not 65536"),
    ],
)  # fmt: skip
def test_numbers_out_of_range(name, value, said):
    good = {"input_bits": 9, "inputs": 1, "output_bits": 8, "outputs": 1, "credits": 8}
    Hello.of(0, **good)
    with pytest.raises(ValueError, match=said):
        Hello.of(0, **good | {name: value})


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
