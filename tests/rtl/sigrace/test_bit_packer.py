"""Bit packer: fields side by side, as the golden bit writer puts them."""

import random

import pytest

from racetrap.golden_model.sigrace.bit_stream import BitWriter
from racetrap.rtl.sigrace.bit_packer import BitPacker
from racetrap.rtl.sigrace.fields import Field
from tests.support.rtl.ready_paths import valid_to_ready_paths
from tests.support.rtl.streams import get_forever, monitor, put_all, random_idle, simulate
from tests.support.sigrace.configurations import SMALL


def pack(messages, seed=None):
    """Transfers (cycle, word) at output and input; messages are lists of (value, width)."""
    dut, left, taken = BitPacker(SMALL), [], []
    pauses = [{"idle": random_idle(f"{seed} {end}")} if seed else {} for end in ("put", "get")]
    words = [
        Field.const({"data": value, "width": width, "last": number == len(fields) - 1})
        for fields in messages
        for number, (value, width) in enumerate(fields)
    ]

    async def until_empty(ctx):
        await put_all(dut.i, [word.as_bits() for word in words], **pauses[0])(ctx)
        while not ctx.get(dut.o_is_empty):
            await ctx.tick()

    background = [get_forever(dut.o, [], **pauses[1]), monitor(dut.o, left), monitor(dut.i, taken)]
    simulate(dut, until_empty, background=background)
    return left, taken


def expected(messages):
    """Flits of the golden writer."""
    words = []
    for fields in messages:
        writer = BitWriter()
        for value, width in fields:
            writer.put(value, width)
        *flits, last = writer.flits()
        words += [SMALL.flit_layout.pack({"data": flit, "last": 0}) for flit in flits]
        words.append(SMALL.flit_layout.pack({"data": last, "last": 1}))
    return words


@pytest.mark.parametrize("seed", range(3))
def test_random_fields(seed):
    rng = random.Random(seed)
    messages = []
    for _ in range(60):
        widths = rng.choices([0, 1, 7, 31, 32, rng.randint(1, 32)], k=rng.randint(1, 8)) + [1]
        messages.append([(rng.getrandbits(width), width) for width in widths])
    left, _ = pack(messages, seed=seed)
    assert [word for _, word in left] == expected(messages)


@pytest.mark.parametrize("bits", [1, 31, 32, 33, 63, 64, 65])
def test_end_of_a_message_at_every_place(bits):
    """The next message begins with a new flit, and no bit of this one is left."""
    messages = [[(1, 1)] * bits, [((1 << 32) - 1, 32)], [(1, 20), (1, 20)], [(5, 3)]]
    left, _ = pack(messages)
    assert [word for _, word in left] == expected(messages)


def test_one_field_a_cycle():
    """A last field of which bits are left over costs one cycle more."""
    messages = [[(0, 32)] * 10, [(0, 20)] * 2, [(0, 32)]]
    left, taken = pack(messages)
    first = taken[0][0]
    assert [cycle - first for cycle, _ in taken] == [*range(12), 13]
    assert [cycle - first for cycle, _ in left] == [*range(1, 11), 12, 13, 14]


def test_no_path_from_valid_to_ready():
    assert valid_to_ready_paths(BitPacker(SMALL)) == []
