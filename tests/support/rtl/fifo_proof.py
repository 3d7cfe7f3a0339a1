"""Harness for a proof on the stream FIFO: one payload, any payload, watched on its way through."""

from __future__ import annotations

from unittest import mock

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib import fifo
from amaranth.lib.wiring import In

from tests.support.formal.internals import OpenComponent, OpenMemory
from tests.support.formal.passage import Passage
from tests.support.formal.proof import Case, Harness
from tests.support.planted_bugs import modules_with

_FILE = "common/stream.py"
_WIDTH = 3


class FifoHarness(Harness):
    """A FIFO with free payloads in and a free listener.

    Parameters
    ----------
    depth : int
        Payloads held.
    case : Case
        What is asked.
    """

    def __init__(self, depth: int, case: Case):
        self._depth = depth
        self._fifo = modules_with([_FILE], case.bug)[_FILE].StreamFifo(_WIDTH, depth)
        super().__init__(case, {
            "i_valid": In(1), "i_payload": In(_WIDTH), "i_ready": In(1), "i_watch": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        dut, depth = self._fifo, self._depth
        with mock.patch.object(fifo, "Memory", OpenMemory):
            inner = OpenComponent(dut)
        m.submodules.fifo = inner.fragment
        m.d.comb += [
            dut.i.valid.eq(self.i_valid),
            dut.i.payload.eq(self.i_payload),
            dut.o.ready.eq(self.i_ready),
        ]
        put, got = dut.i.valid & dut.i.ready, dut.o.valid & dut.o.ready
        passage = Passage(
            m, put=put, payload=self.i_payload, got=got, watch=self.i_watch, most=depth
        )
        held, watching, watched = passage.held, passage.watching, passage.watched
        ahead, is_next = passage.ahead, passage.is_next
        hides, waits = Signal(), Signal()
        payload = Signal(_WIDTH)
        m.d.sync += [
            hides.eq((held != 0) & ~dut.o.valid),
            waits.eq(dut.o.valid & ~dut.o.ready),
            payload.eq(dut.o.payload),
        ]
        rules = [
            *passage.rules(dut.o.valid, dut.o.payload),
            dut.o_empty == (held == 0),
            ~waits | (dut.o.valid & (dut.o.payload == payload)),
            # What is held is offered in the next cycle.
            dut.o.valid | ~hides,
            dut.i.ready | (held >= max(depth - 1, 1)),
        ]
        events = {
            "full": held == depth,
            "last-of-many": watching & (ahead == depth - 1),
            "watched-comes-out": got & is_next & (watched == 5),
        }
        self.state(m, rules, events, [~watching | (ahead < held), *self._places(inner, m, held,
                                      watching, watched, ahead)])  # fmt: skip
        return m

    def _places(self, inner, m, held, watching, watched, ahead) -> list:
        """Where the payloads are."""
        out, depth = self._fifo.o, self._depth
        at_output = ~(watching & (ahead == 0) & out.valid) | (out.payload == watched)
        if depth == 1:
            return [at_output, held == inner["queue.level"]]
        if depth == 2:
            levels = inner["first.level"], inner["second.level"]
            behind = watching & (ahead == held - 1) & levels[0]
            return [
                at_output, held == levels[0] + levels[1],
                ~behind | (inner["first.r_data"] == watched),
            ]  # fmt: skip
        words = depth - 1
        level, produce, consume = (
            inner[f"queue.{name}"] for name in ("inner_level", "produce", "consume")
        )
        rows = Array(inner[f"queue.storage.row_{number}"] for number in range(words))
        place = consume + ahead - out.valid
        row = Mux(place >= words, place - words, place)
        end = consume + level
        return [
            at_output, held == level + out.valid, level <= words, produce < words, consume < words,
            produce == Mux(end >= words, end - words, end),
            ~(watching & (ahead >= out.valid)) | (rows[row[: len(consume)]] == watched),
        ]  # fmt: skip
