"""Frames of the host link."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from racetrap.golden_model.link.frames import MAX_PAYLOAD_BYTES, Decoder, Frame, encode
from tests.support.link.frames import framed

_FRAME = st.builds(
    Frame, st.integers(0, 0xFFFF), st.integers(0, 255), st.binary(max_size=MAX_PAYLOAD_BYTES)
)


def test_bytes_of_a_frame():
    assert encode(Frame(0x3231, 0x33, b"4"))[:4] == b"1234"
    assert encode(Frame(0x7D7E, 0x00))[:5] == b"\x7d\x5e\x7d\x5d\x00"
    # The check value of CRC-32/ISO-HDLC.
    assert encode(Frame(0x3231, 0x33, b"456789")) == b"123456789" + b"\x26\x39\xf4\xcb" + b"~"


@given(st.lists(_FRAME, max_size=4), st.integers(1, 9))
def test_round_trip(frames, size):
    decoder, data = Decoder(), b"".join(map(encode, frames))
    parts = [data[start : start + size] for start in range(0, len(data), size)]
    assert [frame for part in parts for frame in decoder.feed(part)] == frames


@given(st.binary(max_size=1100), _FRAME)
def test_a_frame_after_garbage_and_a_flag_is_found(garbage, frame):
    assert Decoder().feed(garbage + b"~" + encode(frame))[-1] == frame


@given(_FRAME, st.data())
def test_one_wrong_bit_is_never_a_frame(frame, data):
    encoded = bytearray(encode(frame))
    encoded[data.draw(st.integers(0, len(encoded) - 2))] ^= 1 << data.draw(st.integers(0, 7))
    assert Decoder().feed(bytes(encoded)) == []


def test_what_is_too_short_too_long_or_ends_in_an_escape_is_dropped():
    for content, count in ((b"", 0), (b"ab", 0), (b"abc", 1), (bytes(252), 1), (bytes(253), 0)):
        assert len(Decoder().feed(framed(content))) == count
    assert Decoder().feed(framed(b"abc")[:-1] + b"}~") == []
    decoder = Decoder()
    for _ in range(10):
        assert decoder.feed(bytes(300)) == []
    assert decoder.feed(b"~" + framed(b"abc")) == [Frame(0x6261, 0x63)]


def test_a_payload_that_is_too_long():
    with pytest.raises(ValueError, match="Payload must be at most 249 bytes, not 250"):
        encode(Frame(1, 0, bytes(250)))
