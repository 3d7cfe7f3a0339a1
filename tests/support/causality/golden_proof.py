"""Harness for a proof that a table of knowledge is the golden model's, whatever is in it."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

from amaranth.hdl import Assume, Cat, Const, Module, Mux, Value
from amaranth.lib.wiring import In

from racetrap.golden_model.causality.knowledge import Knowledge, Known
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.access import block_of
from racetrap.rtl.common.layout import struct_layout
from tests.support.formal.proof import Case, Harness
from tests.support.formal.symbolic import Number, Paths
from tests.support.planted_bugs import modules_with

TABLE, LEARNING, PHASES = (
    f"causality/{name}.py" for name in ("knowledge_table", "learning", "collector_phases")
)


class GoldenHarness(Harness):
    """Tables of the hardware as the golden model's, whose exact entries stand in the first places.

    Parameters
    ----------
    params : CausalityParams
        Configuration.
    case : Case
        What is asked.
    inputs : mapping
        Inputs.
    """

    def __init__(self, params: CausalityParams, case: Case, inputs: dict[str, Any]):
        self._params, self._paths = params, Paths()
        super().__init__(case, inputs)

    def _known(self, known: Any) -> Known:
        """An exact entry as the golden model's."""
        block = block_of(self._params, known)
        key = Mux(
            known.is_block,
            ~Cat(block, Const(0, 1)).as_signed(),
            Cat(known.warp, Const(0, 1)).as_signed(),
        )
        number = self._paths.number
        return Known(
            Number(self._paths, key), number(block), number(known.clock), number(known.direct)
        )  # fmt: skip

    def _table(self, table: Any, places: int, used: int) -> Knowledge:
        """The golden table with so many exact entries."""
        golden = Knowledge(self._params, places, Counter())
        golden.exact = [self._known(table[f"known_{place}"]) for place in range(used)]
        for name in ("bits", "lossy", "fenced"):
            setattr(golden, name, self._paths.number(table[name]))
        return golden

    def _is_packed(self, table: Any, places: int, used: int) -> Value:
        """Whether a table has so many exact entries, in the first places."""
        return Cat(
            (table[f"known_{place}"].clock != 0) == (place < used) for place in range(places)
        ).all()

    def _is_well_formed(self, known: Any) -> Value:
        """A block has no warp's number, and room above its clock; what is free is 0."""
        params = self._params
        return (
            (~known.is_block | (known.warp[: params.warp_bits] == 0))
            & (known.clock <= params.last_clock + 1)
            & ((known.clock != 0) | (Value.cast(known) == 0))
        )

    def _same(self, golden: Knowledge, table: Any, places: int) -> Value:
        """Whether the hardware's table is the golden one."""
        same = [
            _value(getattr(golden, name)) == table[name] for name in ("bits", "lossy", "fenced")
        ]
        for place in range(places):
            known = table[f"known_{place}"]
            if place >= len(golden.exact):
                same.append(Value.cast(known) == 0)
                continue
            other = golden.exact[place]
            block, key = _value(other.block), _value(other.key)
            is_block, slots = key < 0, self._params.slot_bits
            sm = block[slots:].as_unsigned()
            warp = Mux(is_block, sm << self._params.warp_bits, key)
            same += [
                known.is_block == is_block, known.warp == warp[: len(known.warp)],
                known.slot == block[:slots], known.clock == _value(other.clock),
                known.direct == (_value(other.direct) != 0),
            ]  # fmt: skip
        return Cat(same).all()


class PutHarness(GoldenHarness):
    """A table that takes an exact entry, or bits of another table, beside the golden one.

    Parameters
    ----------
    params : CausalityParams
        Configuration.
    places : int
        Exact entries of the largest table.
    case : Case
        What is asked.
    """

    def __init__(self, params: CausalityParams, places: int, case: Case):
        self._places = places
        self._unit = modules_with([TABLE], case.bug)[TABLE].KnowledgeTable(params, places)
        super().__init__(params, case, {
            "i_table": In(self._unit.i_table.shape()), "i_usable": In(range(places + 1)),
            "i_known": In(struct_layout(params.known_layout)), "i_unites": In(1),
            "i_bits": In(params.hash_bits), "i_lossy": In(params.clock_bits), "i_fenced": In(3),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.unit = unit = self._unit
        table, known, params = self.i_table, self.i_known, self._params
        exact = [table[f"known_{place}"] for place in range(self._places)]
        keys = 1 + params.slot_warp_bits + params.slot_bits
        m.d.comb += [
            unit.i_table.eq(table), unit.i_usable.eq((1 << self.i_usable) - 1),
            unit.i_known.eq(Mux(self.i_unites, 0, known)),
            *(getattr(unit, f"i_{name}").eq(Mux(self.i_unites, getattr(self, f"i_{name}"), 0))
              for name in ("bits", "lossy", "fenced")),
            Assume(self.i_usable <= self._places), Assume(table.lossy <= params.last_clock + 2),
            *(Assume(self._is_well_formed(each)) for each in (known, *exact)),
            # A clock of bits is one of bits.
            Assume(self.i_bits.any() | (self.i_lossy == 0)),
            # No key is there twice.
            *(Assume((one.clock == 0) | (Value.cast(one)[:keys] != Value.cast(other)[:keys]))
              for one, other in combinations(exact, 2)),
        ]  # fmt: skip
        rules, found = [], {"evicts": [], "keeps-its-place": []}
        for places in range(self._places + 1):
            for used in range(places + 1):
                is_it = self._is_packed(table, self._places, used) & (self.i_usable == places)
                rules += self._united(is_it, places, used)
                for condition, (golden, evicts) in self._paths.of(
                    lambda places=places, used=used: self._put(places, used)
                ):
                    reached = is_it & ~self.i_unites & condition
                    rules += [
                        ~reached | self._same(golden, unit.o_table, self._places),
                        ~reached | (unit.o_evicts == evicts),
                    ]
                    found["evicts"].append(reached & evicts)
                    is_kept = used > 0 and len(golden.exact) == used
                    changes = Value.cast(unit.o_table) != Value.cast(table)
                    found["keeps-its-place"].append(reached & is_kept & changes & ~evicts)
        events = {name: Cat(each).any() for name, each in found.items()}
        self.state(m, rules, events)
        return m

    def _put(self, places: int, used: int) -> tuple[Knowledge, int]:
        golden = self._table(self.i_table, places, used)
        golden.put(self._known(self.i_known))
        return golden, golden._counts["knowledge_evictions"]

    def _united(self, is_it: Value, places: int, used: int) -> list[Value]:
        """What the golden table makes of another one without exact entries."""

        def join() -> Knowledge:
            golden = self._table(self.i_table, places, used)
            other = Knowledge(self._params, 0, Counter())
            for name in ("bits", "lossy", "fenced"):
                setattr(other, name, self._paths.number(getattr(self, f"i_{name}")))
            golden.join(other)
            return golden

        return [
            ~(is_it & self.i_unites & condition)
            | self._same(golden, self._unit.o_table, self._places)
            for condition, golden in self._paths.of(join)
        ]


def _value(number: Any) -> Value:
    return number.value if isinstance(number, Number) else Value.cast(number)
