"""Proof: a history queue holds the last blocks of its thread, in order, and loses the oldest."""

from __future__ import annotations

from unittest import mock

from amaranth.hdl import Array, Assume, Module, Mux, Signal, Value
from amaranth.lib.wiring import In

from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.internals import OpenComponent, OpenMemory
from tests.support.formal.proof import Case, Harness, Proof, proof_tests
from tests.support.planted_bugs import modules_with

_FILE = "sigrace/history_queue.py"
_PARAMS = SigraceParams(
    cores=2, threads=2, filters=2, filter_bits=16, history_depth=3, timestamp_bits=2, usb_limit=2
)
_THREADS, _DEPTH = _PARAMS.threads, _PARAMS.history_depth


class HistoryHarness(Harness):
    """Queues of which one entry, any, is watched; none is pushed to the queue that is read.

    Parameters
    ----------
    case : Case
        What is asked.
    """

    def __init__(self, case: Case):
        self._module = modules_with([_FILE], case.bug)[_FILE]
        self._queues = self._module.HistoryQueues(_PARAMS, _THREADS)
        super().__init__(case, {
            "i_thread": In(range(_THREADS)), "i_open": In(1), "i_position": In(range(_DEPTH)),
            "i_push": In(1), "i_entry": In(_PARAMS.history_layout.width), "i_flush": In(1),
            "i_watch": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        queues = self._queues
        with mock.patch.object(self._module, "Memory", OpenMemory):
            inner = OpenComponent(queues)
        m.submodules.queues = inner.fragment
        pushes = self.i_push
        m.d.comb += [
            queues.i_queue.eq(self.i_thread), queues.i_open.eq(self.i_open),
            queues.i_position.eq(self.i_position), queues.i_push.valid.eq(self.i_push),
            Value.cast(queues.i_push.p).eq(self.i_entry), queues.i_flush.eq(self.i_flush),
            Assume(self.i_thread < _THREADS), Assume(self.i_position < _DEPTH),
        ]  # fmt: skip
        counts = Array(Signal(range(_DEPTH + 1), name=f"held_{k}") for k in range(_THREADS))
        watching, thread, age = Signal(), Signal(range(_THREADS)), Signal(range(_DEPTH + 1))
        watched = Signal(_PARAMS.history_layout.width)
        count = counts[self.i_thread]
        with m.If(pushes):
            m.d.sync += count.eq(Mux(count == _DEPTH, count, count + 1))
            with m.If(self.i_watch & ~watching):
                m.d.sync += [
                    watching.eq(1), thread.eq(self.i_thread), age.eq(0), watched.eq(self.i_entry)
                ]  # fmt: skip
            with m.Elif(watching & (thread == self.i_thread)):
                m.d.sync += [age.eq(age + 1), watching.eq(age + 1 < _DEPTH)]
        with m.If(self.i_flush):
            m.d.sync += [watching.eq(0), *(each.eq(0) for each in counts)]
        # What is open, and whether the watched entry was asked for in the cycle before.
        is_open, opened = Signal(), Signal(range(_THREADS))
        asked, expected = Signal(), Signal.like(watched)
        with m.If(self.i_open):
            m.d.sync += [is_open.eq(~pushes), opened.eq(self.i_thread)]
        with m.Elif(pushes & (self.i_thread == opened)):
            m.d.sync += is_open.eq(0)
        m.d.sync += [
            asked.eq(is_open & watching & (thread == opened) & (self.i_position == age)),
            expected.eq(watched),
        ]
        rules = [
            queues.o_count == count,
            ~asked | (Value.cast(queues.o_entry) == expected),
            ~watching | (age < counts[thread]),
        ]
        newest = [inner[f"newest_{k}"] for k in range(_THREADS)]
        rows = Array(inner[f"memory.row_{k}"] for k in range(_THREADS * _DEPTH))
        head = Array(newest)[thread]
        slot = Mux(age > head, head + _DEPTH - age, head - age)
        helps = [
            *(head < _DEPTH for head in newest), *(each <= _DEPTH for each in counts),
            *(inner[f"count_{k}"] == each for k, each in enumerate(counts)),
            ~watching | (rows[(thread * _DEPTH + slot)[:3]] == watched),
            ~is_open | (inner["base"] == opened * _DEPTH),
            ~is_open | (inner["slot"] == Array(newest)[opened]),
        ]  # fmt: skip
        events = {
            "oldest-of-a-full-queue": asked & (age == _DEPTH - 1) & (counts[1] == _DEPTH) & thread,
            "replaced": watching & (age == _DEPTH - 1) & pushes & (thread == self.i_thread),
            "flushed": self.i_flush & watching & (age != 0),
        }
        self.state(m, rules, events, helps)
        return m


PROOF = Proof(
    rule="A queue counts the blocks pushed to its thread since the last flush, at most its depth. "
    "The entry of an age is the block pushed so many blocks ago, unchanged, whatever other threads "
    "push.",
    sizes="2 threads, queues of 3 entries, 70 bits an entry",
    harness=HistoryHarness,
    depth=2,
    events=("oldest-of-a-full-queue", "replaced", "flushed"),
    bugs={
        "head-does-not-wrap": Patch(
            _FILE, "Mux(head == depth - 1, 0, head + 1)", "head + 1"
        ),
        "order-turned": Patch(
            _FILE, "Mux(age > slot, slot + depth - age, slot - age)",
            "Mux(age + slot >= depth, slot + age - depth, slot + age)",
        ),
        "into-the-queue-beside": Patch(
            _FILE, "write.addr.eq(self.i_queue * depth + next_head)",
            "write.addr.eq(self.i_queue * 2 + next_head)",
        ),
        "count-without-end": Patch(_FILE, "with m.If(self.o_count != depth):", "if True:"),
        "flush-of-one": Patch(
            _FILE, "[count.eq(0) for count in counts]", "counts[self.i_queue].eq(0)"
        ),
    },
    cycles=8,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
