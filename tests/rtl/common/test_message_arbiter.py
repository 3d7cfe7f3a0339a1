"""Whole messages, round robin, nothing lost, nobody passed over."""

from random import Random

import pytest
from amaranth.lib import data

from racetrap.rtl.common.message_arbiter import MessageArbiter
from tests.support.rtl.ready_paths import valid_to_ready_paths
from tests.support.rtl.streams import get_all, monitor, never_idle, put_all, random_idle, simulate

FLIT = data.StructLayout({"data": 16, "last": 1})


def words_of(source: int, lengths: list[int]) -> list[int]:
    """Payloads of messages of the given lengths: source and a running number."""
    words = []
    for length in lengths:
        words += [
            source << 8 | len(words) + k & 0xFF | (k == length - 1) << 16 for k in range(length)
        ]
    return words


def run(count, lengths, *, idle=never_idle, stall=never_idle):
    """Merge messages; gives (cycle, flit, source) of each payload."""
    dut = MessageArbiter(FLIT, count)
    sent = [words_of(source, of_source) for source, of_source in enumerate(lengths)]
    got, seen = [], []
    simulate(
        dut,
        *(put_all(port, words, idle=idle) for port, words in zip(dut.i, sent, strict=True)),
        get_all(dut.o, sum(map(len, sent)), got, idle=stall),
        background=[monitor(dut.o, seen)],
    )
    merged = [(cycle, word & 0x1FFFF, word >> 17) for cycle, word in seen]
    for source, words in enumerate(sent):
        assert [flit for _, flit, of in merged if of == source] == words
    return merged


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_messages_stay_whole(count):
    rng = Random(f"messages {count}")
    lengths = [[rng.randint(1, 6) for _ in range(20)] for _ in range(count)]
    merged = run(count, lengths, idle=random_idle("idle", 0.3), stall=random_idle("stall", 0.3))
    inside = None
    for _, flit, source in merged:
        assert inside in (None, source)
        inside = None if flit >> 16 else source


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_inputs_take_turns(count):
    """With all inputs waiting each has its turn; a message of n payloads takes n + 1 cycles."""
    merged = run(count, [[3] * 5 for _ in range(count)])
    order = [source for _, flit, source in merged if flit >> 16]
    assert order == [*range(count)] * 5
    assert merged[-1][0] - merged[0][0] == 4 * (5 * count - 1) + 2


def test_no_path_from_valid_to_ready():
    assert valid_to_ready_paths(MessageArbiter(FLIT, 3)) == []


def test_rejects_no_inputs():
    with pytest.raises(ValueError, match="count must be at least 1, not 0"):
        MessageArbiter(FLIT, 0)
