"""The link against the golden device: bad lines, strange frames, resets, hosts that do not wait."""

from __future__ import annotations

import random
from itertools import count

import pytest

from racetrap.golden_model.link.frames import CHANNELS, Decoder, Frame, Kind, encode
from racetrap.rtl.common.registers import REGISTER_ADDRESS_BITS
from racetrap.rtl.link.link import Link
from racetrap.sim.cosim.verilator.build_cache import Patch
from tests.support.campaign import later_but
from tests.support.link.bench import LinkBench
from tests.support.link.frames import strange_frames
from tests.support.link.loopback import LoopParams
from tests.support.link.planted_bugs import PLANTED_BUGS
from tests.support.planted_bugs import modules_with

_FILES = ["link/input_queue.py", "link/link.py"]
#: Queues of one record and of many; more records waiting than a frame holds.
_LOOPS = (
    LoopParams(1, credits=1), LoopParams(5, channels=3, credits=2), LoopParams(60, credits=4),
    LoopParams(249, credits=1), LoopParams(3, channels=2, credits=20),
)  # fmt: skip
_HELLO = Kind.HELLO * CHANNELS
_PUSH, _ADD = Kind.PUSH * CHANNELS, Kind.ACCESS * CHANNELS


def _play_all(bench: LinkBench, rng: random.Random, requests: int) -> None:
    """Strange frames before and after HELLO, then requests over a bad line."""
    for sequence in (0, 3):
        for _ in range(3):
            for frame in strange_frames(rng, sequence):
                bench.beside.exchange(frame)
        bench.beside.exchange(encode(Frame(3, _HELLO)))
    bench.traffic(rng, requests)


# Long records take long, and one of 128 bytes has a test below.
@pytest.mark.parametrize("params", later_but(lambda each: each.size < 60, _LOOPS), ids=str)
def test_link_agrees_with_the_golden_device(params):
    _play_all(LinkBench(params), random.Random(str(params)), 25 if params.size < 100 else 10)


def _play_some(link: type[Link]) -> None:
    for params in _LOOPS[1:3]:
        _play_all(LinkBench(params, link), random.Random(1), 40)


#: Those that strange frames alone do not show take a whole run each: one of each kind of request,
#: and of each file.
_SOON = {
    "executed-before-hello", "too-short", "too-long", "lonely-escape", "stray-request-is-answered",
    "escape-byte-not-escaped", "pushed-to-all-channels", "order-of-bytes",
}  # fmt: skip


@pytest.mark.parametrize("name", later_but(_SOON.__contains__, PLANTED_BUGS))
def test_planted_bug_is_found(name):
    link = modules_with(_FILES, PLANTED_BUGS[name])[_FILES[1]].Link
    with pytest.raises((AssertionError, TimeoutError)):
        _play_some(link)


def test_what_was_held_is_lost_in_a_reset_and_nothing_is_done_before_hello():
    rng, bench = random.Random(1), LinkBench(LoopParams(5))
    for _ in range(4):
        bench.traffic(rng, 3, 0.0)
        # In the middle of a request, of what is done for it, or of its reply.
        frame = encode(Frame(0, _HELLO)) + encode(Frame(1, _PUSH, bytes(10)))
        bench.send(frame, rng.randrange(2 * len(frame) + 80))
        bench.reset()
        for sequence in (0, 1, 2, 0xFFFF):
            assert bench.beside.exchange(encode(Frame(sequence, _ADD, bytes(6)))) == b""


def test_what_is_answered_to_a_host_that_does_not_wait_was_done_once_and_in_order():
    bench = LinkBench(LoopParams(1))
    bench.send(encode(Frame(0, _HELLO)), 200)
    frames = [encode(Frame(number, _ADD, b"\0\0\1\0\0\0")) for number in range(1, 10)]
    done = runs = 0
    while done < len(frames):
        data, runs = b"~" + b"".join(frames[done:]), runs + 1
        replies = [reply.sequence for reply in Decoder().feed(bench.send(data, 2 * len(data) + 99))]
        assert replies == list(range(done + 1, done + 1 + len(replies))) != []
        done += len(replies)
    (total,) = Decoder().feed(bench.send(encode(Frame(done + 1, _ADD, b"\0\0")), 200))
    assert int.from_bytes(total.payload, "little") == done
    assert runs > 1


def test_dropped_frames_are_told():
    bench = LinkBench(LoopParams(1))
    exchange = bench.beside.exchange
    exchange(b"~~" + encode(Frame(0, _HELLO)) + b"~")
    exchange(encode(Frame(1, _ADD, bytes(6))))
    exchange(encode(Frame(1, _ADD, bytes(6))))
    assert bench.errors == 0
    for errors, dropped in enumerate(
        (b"}~", b"}}~", encode(Frame(1, _ADD))[1:], encode(Frame(3, _ADD)), encode(Frame(2, 0x80))),
        start=1,
    ):
        assert exchange(dropped) == b""
        assert bench.errors == errors


def _rooms(link: type[Link]) -> set[int]:
    """What is answered to a question for the room while a record goes on, in the cycles around
    its end."""
    bench, rooms, numbers = LinkBench(LoopParams(128, credits=2), link), set(), count(1)
    bench.send(encode(Frame(0, _HELLO)), 200)
    for cycle in range(14, 20):
        bench.send(encode(Frame(next(numbers), _PUSH, bytes(128))), 500)
        begun = bench.send(encode(Frame(next(numbers), _PUSH)), cycle)
        bench.open(True)
        (reply,) = Decoder().feed(begun + bench.send(b"", 100))
        rooms.add(int.from_bytes(reply.payload, "little"))
        bench.open(False)
        bench.send(encode(Frame(next(numbers), Kind.PULL * CHANNELS)), 300)
    return rooms


def test_both_bytes_of_the_room_are_of_one_moment():
    assert _rooms(Link) == {128, 256}
    bug = Patch(_FILES[1], "words = (identity, request.data,", "words = (identity, self._room,")
    assert _rooms(modules_with(_FILES, bug)[_FILES[1]].Link) - {128, 256}


def test_registers_have_the_protocols_address_bits():
    assert REGISTER_ADDRESS_BITS == 12
