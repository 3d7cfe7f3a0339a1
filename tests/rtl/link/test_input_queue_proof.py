"""Proof: an input queue gives each byte once, in order, and its room is the space that is free."""

from __future__ import annotations

from unittest import mock

from amaranth.hdl import Array, Assume, Module, Mux, Signal
from amaranth.lib import fifo
from amaranth.lib.wiring import In

from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.internals import OpenComponent, OpenMemory
from tests.support.formal.proof import Case, Harness, Proof, proof_tests
from tests.support.planted_bugs import modules_with

_STREAM, _FILE = "common/stream.py", "link/input_queue.py"
_SIZE, _CAPACITY = 3, 5


class InputQueueHarness(Harness):
    """An input queue whose sender keeps to the room that it sees, and a free listener.

    Parameters
    ----------
    case : Case
        What is asked.
    """

    def __init__(self, case: Case):
        self._queue = modules_with([_STREAM, _FILE], case.bug)[_FILE].InputQueue(_SIZE, _CAPACITY)
        super().__init__(case, {
            "i_valid": In(1), "i_payload": In(8), "i_ready": In(1), "i_watch": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        queue = self._queue
        with mock.patch.object(fifo, "Memory", OpenMemory):
            inner = OpenComponent(queue)
        m.submodules.queue = inner.fragment
        m.d.comb += [
            queue.i.valid.eq(self.i_valid),
            queue.i.payload.eq(self.i_payload),
            queue.o.ready.eq(self.i_ready),
            Assume(~self.i_valid | (queue.o_room != 0)),
        ]
        put, got = queue.i.valid & queue.i.ready, queue.o.valid & queue.o.ready
        held, ahead = Signal(range(_CAPACITY + 2)), Signal(range(_CAPACITY + 2))
        watching, watched, waited = Signal(), Signal(8), Signal(2)
        leaving = Mux(got, _SIZE, 0)
        m.d.sync += [
            held.eq(held + put - leaving),
            waited.eq(Mux(queue.i.valid & ~queue.i.ready, waited + (waited != 3), 0)),
        ]
        is_next = watching & (ahead < _SIZE)
        with m.If(put & self.i_watch & ~watching):
            m.d.sync += [watching.eq(1), watched.eq(self.i_payload), ahead.eq(held - leaving)]
        with m.Elif(got & is_next):
            m.d.sync += watching.eq(0)
        with m.Elif(got & watching):
            m.d.sync += ahead.eq(ahead - _SIZE)
        rules = [
            queue.o_room == _CAPACITY - held,
            held <= _CAPACITY,
            ~queue.o.valid | (held >= _SIZE),
            ~(queue.o.valid & is_next) | (queue.o.payload.word_select(ahead[:2], 8) == watched),
            waited < 3,
        ]
        events = {
            "full": queue.o_room == 0,
            "record-while-a-byte-comes": got & put,
            "byte-of-the-next-record": watching & (ahead >= _SIZE) & got,
        }
        self.state(m, rules, events, self._places(inner, held, watching, ahead, watched, waited))
        return m

    def _places(self, inner, held, watching, ahead, watched, waited) -> list:
        """Where the bytes are: in the record, in the FIFO's register, in its memory."""
        record, count, words = self._queue.o.payload, inner["count"], _CAPACITY - 1
        level, produce, consume, given = (
            inner[f"queue.queue.{name}"] for name in ("inner_level", "produce", "consume", "r_rdy")
        )
        rows = Array(inner[f"queue.queue.storage.row_{number}"] for number in range(words))
        behind = ahead - count - given
        place = (consume + behind)[: len(consume) + 1]
        row = Mux(place >= words, place - words, place)[: len(consume)]
        end = consume + level
        in_record = (ahead + _SIZE - count)[:2]
        return [
            held == count + level + given, count <= _SIZE, level <= words,
            produce < words, consume < words, ~watching | (ahead < held),
            produce == Mux(end >= words, end - words, end),
            ~(watching & (ahead < count)) | (record.word_select(in_record, 8) == watched),
            ~(watching & (ahead == count) & given) | (inner["queue.queue.r_data"] == watched),
            ~(watching & (ahead >= count + given)) | (rows[row] == watched),
            (waited == 0) | (held < _CAPACITY),
        ]  # fmt: skip


_SHIFT = "self.o.payload.eq(Cat(self.o.payload, queue.o.payload)[8:])"
PROOF = Proof(
    rule="An input queue's records are the bytes put in, each once and in order. Its room is the "
    "number of bytes that it can still take, and a byte for which there is room is taken within "
    "three cycles.",
    sizes="records of 3 bytes, room for 5",
    harness=InputQueueHarness,
    depth=4,
    events=("full", "record-while-a-byte-comes", "byte-of-the-next-record"),
    bugs={
        "room-of-a-record-not-given-back": Patch(
            _FILE, "self.o_room - is_in + Mux(is_out, self._size, 0)",
            "self.o_room - is_in + Mux(is_out & ~is_in, self._size, 0)",
        ),
        "room-of-one-byte-more": Patch(_FILE, "Mux(is_out, self._size, 0)", "Mux(is_out, 4, 0)"),
        "bytes-swapped": Patch(_FILE, _SHIFT, _SHIFT.replace("Cat(self.o.payload, "
            "queue.o.payload)[8:]", "Cat(queue.o.payload, self.o.payload)[:24]")),
        "taken-beside-a-record": Patch(_FILE, "queue.o.ready.eq(~self.o.valid)",
            "queue.o.ready.eq(1)"),
    },
    cycles=14,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
