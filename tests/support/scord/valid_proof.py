"""Harness for a proof on the table of valid segments: one bit, any bit, and who asked for it."""

from __future__ import annotations

from amaranth.hdl import Array, Assume, Module, Signal, Value
from amaranth.lib.wiring import In

from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.gpu.metadata_accessor import located_segment
from tests.support.formal.internals import OpenComponent, OpenMemory
from tests.support.formal.proof import Case, Harness
from tests.support.planted_bugs import modules_with

_FILE = "gpu/valid_table.py"
_ROWS = 4


class ValidTableHarness(Harness):
    """A table with free segments, a free listener, and a note of whether a bit was asked for.

    It is cleared while no segment is in it, and none comes until it has been.

    Parameters
    ----------
    params : ScordParams
        Configuration; its table has four rows here, however long.
    case : Case
        What is asked.
    """

    def __init__(self, params: ScordParams, case: Case):
        self._row_bits = params.valid_segments // _ROWS
        module = modules_with([_FILE], case.bug)[_FILE]
        module.VALID_ROW_BITS = self._row_bits
        module.block_memory = lambda shape, depth: OpenMemory(shape=shape, depth=depth, init=[])
        self._table = module.ValidTable(params)
        super().__init__(case, {
            "i_valid": In(1), "i_segment": In(located_segment(params)), "i_ready": In(1),
            "i_clear": In(1), "i_bit": In(params.valid_segments.bit_length() - 1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        table = self._table
        self._inner = inner = OpenComponent(table)
        m.submodules.table = inner.fragment
        started, followed = Signal(), Signal.like(self.i_bit)
        m.d.sync += [started.eq(1), followed.eq(self.i_bit)]
        m.d.comb += [
            table.i.valid.eq(self.i_valid),
            table.i.payload.eq(self.i_segment),
            table.o.ready.eq(self.i_ready),
            table.i_clear.eq(self.i_clear),
            Assume(~started | (followed == self.i_bit)),
            Assume(~self.i_clear | (~table.o.valid & ~table.o_busy)),
            Assume(~(self.i_clear | table.o_busy) | ~self.i_valid),
        ]
        # The segment in the table, and whether one with the bit has left since the last clearing.
        given, claimed = Signal.like(self.i_segment), Signal()
        takes, leaves = self.i_valid & table.i.ready, table.o.valid & self.i_ready
        self._asks = given.is_new & (given.bit == self.i_bit)
        with m.If(takes):
            m.d.sync += given.eq(self.i_segment)
        with m.If(self.i_clear):
            m.d.sync += claimed.eq(0)
        with m.Elif(leaves & self._asks):
            m.d.sync += claimed.eq(1)
        output = table.o.p
        same = [
            Value.cast(output[name]) == Value.cast(given[name])
            for name in output.shape().members
            if name != "is_new"
        ]
        waited, waiting = Signal(), Signal.like(Value.cast(output))
        m.d.sync += [waited.eq(table.o.valid & ~self.i_ready), waiting.eq(Value.cast(output))]
        rules = [
            ~(table.o.valid & self._asks) | (output.is_new == ~claimed),
            ~table.o.valid | given.is_new | ~output.is_new,
            *(~table.o.valid | each for each in same),
            ~waited | (table.o.valid & (Value.cast(output) == waiting)),
            table.i.ready == (~table.o.valid | self.i_ready),
        ]
        events = {
            "new": leaves & self._asks & output.is_new,
            "not-new": leaves & self._asks & ~output.is_new,
            "twice-in-a-row": leaves & takes & self._asks & (self.i_segment.bit == self.i_bit),
            "cleared-again": self.i_clear & claimed,
        }
        self.state(m, rules, events, self._helps(m, given, claimed))
        return m

    def _helps(self, m: Module, given, claimed) -> list[Value]:
        """What always holds between the table's rows and the note."""
        table, inner = self._table, self._inner
        column_bits = self._row_bits.bit_length() - 1
        column, number = self.i_bit[:column_bits], self.i_bit[column_bits:]
        rows = Array(inner[f"rows.row_{row}"] for row in range(_ROWS))
        is_set, cleared = Signal(), inner["cleared"]
        m.d.comb += is_set.eq(rows[number].bit_select(column, 1))
        is_seen = inner["row"].bit_select(column, 1)
        return [
            cleared <= _ROWS,
            ~table.o_busy | (~table.o.valid & ~claimed),
            ~table.o_busy | (number >= cleared) | ~is_set,
            table.o_busy | ~claimed | is_set,
            table.o_busy | ~is_set | claimed | (table.o.valid & self._asks),
            ~table.o.valid | (given.bit[column_bits:] != number) | (is_seen == claimed),
            ~table.o.valid | (given.bit == inner["located.o__payload"][-len(given.bit) :]),
            ~table.o.valid | (given.is_new == inner["located.o__payload"][-len(given.bit) - 1]),
        ]
