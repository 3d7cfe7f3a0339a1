"""Frames and payloads of the host link."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from racetrap.golden_model.link.frames import (
    FLAG,
    MAX_PAYLOAD_BYTES,
    Counters,
    Decoder,
    Frame,
    Hello,
    encode,
)

_BYTE = st.integers(0, 255)
_FRAME = st.builds(Frame, _BYTE, _BYTE, st.binary(max_size=MAX_PAYLOAD_BYTES))
_HELLO = Hello(0, 1, 2, 0x12345678, 2, 9, 1, 32, (8, 7))


def test_bytes_of_a_frame():
    assert encode(Frame(0x31, 0x32, bytes(0x33)))[:4] == b"\x7e123"
    assert encode(Frame(0x7E, 0x7D))[1:6] == b"\x7d\x5e\x7d\x5d\x00"


def test_crc_bit_by_bit():
    body = Frame(1, 0, b"\x01").body()
    crc = 0xFFFF
    for byte in body[:-2]:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xFFFF
    assert body[-2:] == crc.to_bytes(2, "big")


@given(st.lists(_FRAME, max_size=4))
def test_round_trip(frames):
    decoder = Decoder()
    assert decoder.feed(b"".join(map(encode, frames))) == frames
    assert decoder.frames == len(frames)
    assert not decoder.bad_crc + decoder.bad_length + decoder.too_long


@given(st.binary(max_size=300), _FRAME)
def test_a_frame_after_garbage_is_found(garbage, frame):
    assert Decoder().feed(garbage + encode(frame))[-1] == frame


@given(_FRAME, st.data())
def test_one_wrong_bit_is_never_a_frame(frame, data):
    encoded = bytearray(encode(frame))
    encoded[data.draw(st.integers(1, len(encoded) - 2))] ^= 1 << data.draw(st.integers(0, 7))
    assert frame not in Decoder().feed(bytes(encoded))


def test_causes_are_counted():
    good = encode(Frame(1, 2, b"abc"))
    decoder = Decoder()
    assert decoder.feed(good[1:]) == []  # before the first flag
    assert decoder.feed(bytes([FLAG, FLAG]) + good[:4] + b"xyz" + good[7:]) == []
    assert decoder.bad_crc == 1
    decoder.feed(good[:-2] + good[-1:])
    decoder.feed(b"\x7e\x7d\x7e")
    decoder.feed(b"\x7e\x01\x7e")
    assert decoder.bad_length == 3
    decoder.feed(b"\x7e" + bytes(500))
    assert decoder.too_long == 1
    decoder.feed(good[:3])
    decoder.spoil()
    assert decoder.feed(good[3:]) == []
    assert decoder.feed(good) == [Frame(1, 2, b"abc")]
    assert (decoder.bad_crc, decoder.bad_length, decoder.too_long) == (1, 3, 1)


def test_payloads_come_back():
    assert Hello.from_payload(_HELLO.to_payload()) == _HELLO
    counters = Counters(1, 2, 3, 4, 5, 6, 7, 70_000)
    assert Counters.from_payload(counters.to_payload()) == counters._replace(uart_overrun=0xFFFF)


def test_errors():
    with pytest.raises(ValueError, match="Payload must be at most 255 bytes, not 256"):
        encode(Frame(1, 0, bytes(256)))
    with pytest.raises(ValueError, match="HELLO reply must have at least 11 bytes, not 3"):
        Hello.from_payload(bytes(3))
    with pytest.raises(ValueError, match="credits of 2 channels, not 1"):
        Hello.from_payload(_HELLO.to_payload()[:-1])
    with pytest.raises(ValueError, match="COUNTERS reply must have 17 bytes, not 1"):
        Counters.from_payload(bytes(1))
