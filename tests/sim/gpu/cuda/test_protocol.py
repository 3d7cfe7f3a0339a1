"""Messages: requests as they are sent come back, and what breaks the form is refused."""

import subprocess

import pytest

from racetrap.sim.gpu.cuda.messages import MESSAGES, header
from racetrap.sim.gpu.cuda.protocol import (
    CPP_TYPES,
    REPLY_HEADER,
    REQUEST_HEADER,
    Field,
    Message,
    ProtocolError,
)

_SIZES = {"u32": 4, "u64": 8}
_MESSAGE = Message("move", 5, "", (Field("a", "u32", ""), Field("b", "u64", "")), tail="rest")


@pytest.mark.parametrize("message", MESSAGES.values(), ids=lambda message: message.name)
def test_a_request_comes_back(message):
    numbers = range(1, len(message.request) + 1)
    tail = b"tail" if message.tail else b""
    raw = message.encode(*numbers, tail=tail)
    code, size = REQUEST_HEADER.unpack_from(raw)
    body = raw[REQUEST_HEADER.size :]
    assert (code, size) == (message.code, len(body))
    assert message.decode(body) == (*numbers, tail)
    assert message.request_bytes == sum(_SIZES[field.type] for field in message.request)


def test_a_reply_has_its_numbers_only_without_an_error():
    message = MESSAGES[7]
    assert message.encode_reply(0, [9]) == REPLY_HEADER.pack(7, 8, 0) + (9).to_bytes(8, "little")
    assert message.encode_reply(2) == REPLY_HEADER.pack(7, 0, 2)


def test_a_body_of_another_size_is_refused():
    with pytest.raises(ProtocolError, match="Body of message move must be 12 bytes or more"):
        _MESSAGE.decode(bytes(11))
    with pytest.raises(ProtocolError, match="Body of message free must be 8 bytes, not 9"):
        next(m for m in MESSAGES.values() if m.name == "free").decode(bytes(9))


def test_names_and_codes_are_different():
    assert len({message.name for message in MESSAGES.values()}) == len(MESSAGES)


def test_the_library_sees_the_same_sizes(tmp_path):
    checks = [
        f"static_assert(sizeof(racetrap::{struct}) == racetrap::{struct}::request_bytes, "
        f'"{struct}");'
        for message in MESSAGES.values()
        if message.request
        for struct in ["".join(map(str.capitalize, message.name.split("_"))) + "Request"]
    ]
    assert set(CPP_TYPES) == set(_SIZES)
    source = tmp_path / "sizes.cpp"
    source.write_text("\n".join([header(), *checks, ""]), encoding="utf-8")
    subprocess.run(["g++", "-std=c++17", "-fsyntax-only", str(source)], check=True)
