"""Deframer and framer against the golden model's frames."""

from __future__ import annotations

import random

from amaranth.hdl import Value

from racetrap.golden_model.link.frames import Decoder, Frame, encode
from racetrap.rtl.link.deframer import Deframer
from racetrap.rtl.link.framer import Framer
from tests.support.rtl import streams

_BAD = 0x100


def _header(frame: Frame) -> int:
    return frame.kind | frame.sequence << 8 | len(frame.payload) << 16


def _frames(rng: random.Random) -> list[Frame]:
    special = [0x7D, 0x7E, 0x5D, 0x5E, 0x00]
    lengths = [0, 1, 2, 3, 254, 255, *(rng.randrange(30) for _ in range(6))]
    return [
        Frame(rng.choice(special), rng.randrange(256), bytes(rng.choices(special, k=length)))
        for length in lengths
    ]


def _decode(data: list[int], seed: int) -> tuple[list[Frame], list[int]]:
    """Frames that the deframer offers and its counts, in the order of the golden decoder's."""
    dut = Deframer()
    frames: list[Frame] = []
    counts = [0] * 4

    async def user(ctx):
        while True:
            *_, valid, value = await ctx.tick().sample(dut.o.valid, Value.cast(dut.o.payload))
            if not valid:
                continue
            payload = []
            for address in range(value >> 16):
                ctx.set(dut.s_payload.address, address)
                await ctx.tick()
                payload.append(ctx.get(dut.s_payload.data))
            frames.append(Frame(value & 0xFF, value >> 8 & 0xFF, bytes(payload)))
            await streams.pulse(ctx, dut.o.ready)

    async def counter(ctx):
        pulses = (dut.o_good, dut.o_bad_crc, dut.o_bad_length, dut.o_too_long)
        while True:
            *_, good, crc, length, long = await ctx.tick().sample(*pulses)
            for index, value in enumerate((good, crc, length, long)):
                counts[index] += value

    idle = streams.random_idle(seed)
    # The bytes behind give the last frame time to be read.
    streams.simulate(
        dut, streams.put_all(dut.i, [*data, *[0x7E] * 3], idle=idle), background=[user, counter]
    )
    return frames, counts


def test_deframer_finds_good_frames():
    frames = _frames(random.Random(1))
    data = b"".join(map(encode, frames))
    assert _decode(list(data), 1) == (frames, [len(frames), 0, 0, 0])


def test_deframer_agrees_with_the_golden_decoder_on_bad_bytes():
    rng = random.Random(2)
    data: list[int] = []
    for frame in _frames(rng) * 3:
        encoded = list(encode(frame))
        for _ in range(rng.choice([0, 0, 1, 3])):
            place = rng.randrange(len(encoded))
            change = rng.choice(["flip", "flip", "flip", "drop", "double", "lose"])
            if change == "flip":
                encoded[place] ^= 1 << rng.randrange(8)
            elif change == "drop":
                del encoded[place]
            elif change == "double":
                encoded.insert(place, encoded[place])
            else:
                encoded[place] |= _BAD
        data += encoded + [rng.randrange(256) for _ in range(rng.choice([0, 0, 3]))]
    data += [0x7E, *[1] * 300]
    golden = Decoder()
    frames = []
    for byte in data:
        if byte & _BAD:
            golden.spoil()
        frames += golden.feed(bytes([byte & 0xFF]))
    got, counts = _decode(data, 2)
    assert got == frames
    assert counts == [golden.frames, golden.bad_crc, golden.bad_length, golden.too_long]
    assert min(counts) > 0


def test_framer_sends_what_the_golden_model_encodes():
    frames = _frames(random.Random(3))
    dut = Framer()
    got: list[int] = []

    async def user(ctx):
        for frame in frames:
            for address, byte in enumerate(frame.payload):
                ctx.set(dut.s_payload.address, address)
                ctx.set(dut.s_payload.data, byte)
                await streams.pulse(ctx, dut.s_payload.enable)
            # The second time without the payload: it is still there.
            for _ in range(2):
                await streams.put(ctx, dut.i, _header(frame))

    idle = streams.random_idle(3)
    streams.simulate(dut, user, background=[streams.get_forever(dut.o, got, idle=idle)])
    assert bytes(got) == b"".join(encode(frame) * 2 for frame in frames)
