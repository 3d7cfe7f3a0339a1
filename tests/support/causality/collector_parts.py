"""The collector for a proof: free notices, markers and memories, and an arbitrary access.

A record that is read is any one that keeps the rules of records, which each one written keeps too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import Assume, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.access import block_of
from racetrap.rtl.causality.collector_phases import Routine
from racetrap.rtl.common.layout import struct_layout
from tests.support.formal.internals import OpenComponent, OpenMemory
from tests.support.formal.proof import Case, Harness
from tests.support.planted_bugs import modules_with

(
    TABLE, LEARNING, PHASES, MEETING, MARKERS, BARRIERS, FLAGS, WORK, SWEEP, TAKING, WALK,
    COLLECTOR,
) = FILES = [
    f"causality/{name}.py"
    for name in (
        "knowledge_table", "learning", "collector_phases", "meeting_phases", "marker_phases",
        "barrier_phases", "flags", "collector_work", "collector_sweep", "collector_taking",
        "collector_walk", "collector",
    )
]  # fmt: skip
#: States of the collector.
_STATES = 14
#: Clocks of a record that only grow, and stay within the warp's clock.
GROWING = ("release", "release_device", "fence", "fence_device")


class FreeMemory(Memory):
    """A memory of which nothing is known: the harness drives what its ports answer."""

    def elaborate(self, platform):
        return Module()


def any_of(values: Sequence[Value]) -> Value:
    """Whether one of some bits is set."""
    return reduce(or_, values, Const(0, 1))


class CollectorParts(Harness):
    """A collector and what it is given.

    Parameters
    ----------
    params : CausalityParams
        Configuration.
    case : Case
        What is asked.
    """

    def __init__(self, params: CausalityParams, case: Case):
        self._params = params
        self._modules = modules = modules_with(FILES, case.bug)
        self._memories: list[FreeMemory] = []
        harness = self

        def memory(shape: Any, depth: int) -> FreeMemory:
            harness._memories.append(FreeMemory(shape=shape, depth=depth, init=[]))
            return harness._memories[-1]

        class Noted(modules[LEARNING].Learning):
            """Learning whose phases the harness sees."""

            def elaborate(self, m, phases):
                self.phases = phases
                return super().elaborate(m, phases)

        def unit(*arguments: Any) -> Any:
            harness._unit = modules[TABLE].KnowledgeTable(*arguments)
            return harness._unit

        modules[LEARNING].KnowledgeTable = unit
        modules[WORK].Learning, modules[WORK].Memory = Noted, OpenMemory
        modules[WORK].block_memory = modules[FLAGS].block_memory = memory
        self._collector = modules[COLLECTOR].Collector(params)
        signature = self._collector.signature.members
        super().__init__(case, {
            "i_notice": signature["i_notice"], "i_marker": signature["i_marker"],
            "i_record": In(struct_layout(params.record_layout)),
            "i_warps": In(params.warps_per_sm), "i_flag": In(struct_layout(params.flag_layout)),
            "i_ready": In(params.banks + params.sm_count + 1), "i_clear": In(1),
            "i_arrives": In(params.banks),
            "i_whose": In(params.slot_warp_bits), "i_slot": In(params.slot_bits),
            "i_clock": In(params.clock_bits),
        })  # fmt: skip

    def _elaborate_parts(self, m: Module) -> None:
        self._m, params = m, self._params
        self._inner = inner = OpenComponent(self._collector)
        m.submodules.collector = inner.fragment
        self._work = self._collector._work
        self._learning = self._work.learning
        self._block = Cat(self.i_slot, self.i_whose[params.warp_bits :])
        self._bit = Signal(params.hash_bits, name="bit_of_block")
        bits = [
            Mux(self._block == block, params.hash_of(block), 0)
            for block in range(1 << len(self._block))
        ]
        m.d.comb += self._bit.eq(reduce(or_, bits))
        state = inner["state_state"]
        self._states = {}
        for number in range(_STATES):
            name = state.decoder(number).split("/")[0]
            self._states[name] = Signal(name=f"in_{name.lower()}")
            m.d.comb += self._states[name].eq(state == number)
        self._elaborate_ports(m)
        self._elaborate_assumptions(m)

    def _during(self, *routines: Routine) -> Value:
        """Whether one of some routines runs."""
        return Cat(self._work.routine[each] for each in routines).any()

    def _in(self, *states: str) -> Value:
        """Whether the collector is in one of some states."""
        return Cat(self._states[state] for state in states).any()

    def _elaborate_ports(self, m: Module) -> None:
        collector = self._collector
        for outer, inner in zip(
            [*self.i_notice, *self.i_marker],
            [*collector.i_notice, *collector.i_marker],
            strict=True,
        ):
            m.d.comb += [
                inner.valid.eq(outer.valid),
                inner.payload.eq(outer.payload),
                outer.ready.eq(inner.ready),
            ]
        answers = self.i_record, self.i_warps, self.i_flag
        outputs = [*collector.o_row, *collector.o_resume, collector.o_report]
        m.d.comb += [
            *(Value.cast(memory.read_ports[0].data).eq(answer)
              for memory, answer in zip(self._memories, answers, strict=True)),
            Cat(port.ready for port in outputs).eq(self.i_ready),
            collector.i_clear.eq(self.i_clear),
            collector.i_arrives.eq(self.i_arrives),
        ]  # fmt: skip

    def _elaborate_assumptions(self, m: Module) -> None:
        """The access is the same in all cycles; what comes has clocks of before a wrap."""
        params, work, read = self._params, self._work, self._work.read
        fixed, started = Cat(self.i_whose, self.i_slot, self.i_clock), Signal(name="started")
        first = Signal(len(fixed), name="first_choice")
        # The record that is read is of this warp.
        self._read_warp = Signal(params.slot_warp_bits, name="read_warp")
        m.d.sync += [started.eq(1), first.eq(fixed)]
        with m.If(read.en):
            m.d.sync += self._read_warp.eq(read.addr)
        notice, marker = self._collector._gate.o_notice, self._collector._gate.o_marker
        sides = notice.payload.notice.before
        packet, warps = notice.payload.notice.packet, params.sm_count << params.warp_bits
        named = marker.payload.marker.warp, packet.warp, sides.writer.warp, sides.reader.warp
        clock = marker.payload.marker.clock
        record = self.i_record
        waits = work.waiting.bit_select(work.warp[: params.warp_bits], 1)
        shares = self._during(Routine.WHOLE, Routine.SOME) & waits
        taker, of_notice = self._learning.taker, self._during(Routine.WRITER, Routine.READER)
        learns = self._in("RUN") & ~of_notice & ~self._during(Routine.GATHER)
        m.d.comb += [
            Assume(~started | (fixed == first)),
            Assume(self.i_clock != 0),
            *(Assume(~notice.valid | ((each.clock != 0) & (each.clock <= params.last_clock)))
              for each in (sides.writer, sides.reader, packet)),
            Assume(~marker.valid | (clock <= params.last_clock)),
            *(Assume(warp < warps) for warp in named),
            Assume(work.latest <= params.last_clock + 1),
            *(Assume(each.clock <= params.last_clock) for each in self._places(record)),
            *(Assume(record[table].lossy <= params.last_clock + 1) for table in params.tables),
            *(Assume(record[name] <= params.last_clock)
              for name in ("clock", "bar", "own", "lanes_before", "arrived_clock")),
            *(Assume(rule) for rule in self._keeps(record)),
            # What records say of a warp in its block is not beyond that warp's clock.
            *(
                Assume(~self._names(each, self._read_warp, record) | (each.clock <= record.clock))
                for each in self._places(record)
            ),
            *(
                Assume(~(learns & self._names(each, work.warp, taker) & (each.clock > taker.clock)))
                for each in self._places(self._learning.giver)
            ),
            # A block begins behind all clocks of its slots.
            Assume(
                ~(self._in("LOAD") & self._during(Routine.START))
                | (work.marker.marker.clock > record.clock)
            ),
            # A barrier reads a record twice, and finds the clock that it found.
            Assume(~(self._in("LOAD") & shares) | (record.clock <= self._inner["top"])),
        ]  # fmt: skip

    # Records ----------------------------------------------------------------------------

    def _places(self, record: Any) -> list[Any]:
        """All exact entries of a record."""
        return [
            record[name][f"known_{place}"]
            for name, places in self._params.tables.items() for place in range(places)
        ]  # fmt: skip

    def _known(self, record: Any) -> list[Any]:
        """Exact entries of what is ordered."""
        return [record.know[f"known_{place}"] for place in range(self._params.known)]

    def _keeps(self, record: Any) -> list[Value]:
        """What holds of each record: a warp's clock is behind all that it knows and has done."""
        return [
            *(each.clock < record.clock for each in self._known(record)),
            *(record[name] <= record.clock for name in ("start", *GROWING)),
            record.lanes_before <= record.clock + 1,
        ]  # fmt: skip

    def _names(self, known: Any, warp: Value, record: Any) -> Value:
        """Whether an exact entry names a warp in its block, of which a record is."""
        return ~known.is_block & (known.warp == warp) & (known.clock >= record.start)

    def _covers(self, known: Any) -> Value:
        """Whether an exact entry claims the access."""
        return (
            (block_of(self._params, known) == self._block)
            & (known.is_block | (known.warp == self.i_whose))
            & (known.clock >= self.i_clock)
        )

    def _by_bits(self, bits: Value, lossy: Value) -> Value:
        """Whether bits and their clock claim the access."""
        return (bits & self._bit).any() & (self.i_clock < lossy)

    def _claims(self, record: Any, name: str) -> dict[str, Value]:
        """Whether each table of a record claims the access, as signals."""
        claims = {}
        for each, places in self._params.tables.items():
            table = record[each]
            exact = [self._covers(table[f"known_{place}"]) for place in range(places)]
            claims[each] = Signal(name=f"{name}_{each}")
            found = any_of([self._by_bits(table.bits, table.lossy), *exact])
            self._m.d.comb += claims[each].eq(found)
        return claims

    def _hash(self, block: Value) -> Value:
        return self._modules[TABLE].hash_of(self._params, block)
