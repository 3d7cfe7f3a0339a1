"""What holds between the steps in which the collector's records learn.

A table has what it must claim, or a phase or a step that is left, or in flight, brings it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Const, Signal, Value

from racetrap.golden_model.causality.packets import TransactionKind
from racetrap.rtl.causality.collector_phases import Routine
from racetrap.rtl.common.layout import struct_layout
from tests.support.causality.collector_parts import TAKING, CollectorParts, any_of


class CollectorSteps(CollectorParts):
    """A collector with what its phases bring."""

    def _elaborate_steps(self) -> None:
        learning, inner, m = self._learning, self._inner, self._m
        self._active, self._left, self._step, self._steps_left, self._first, self._flight = (
            inner[name] for name in ("active", "left", "step", "steps_left", "first", "writes")
        )
        self._taker = self._claims(learning.taker, "taker_claims")
        self._giver = self._claims(learning.giver, "giver_claims")
        self._fresh = Signal(name="fresh")
        self._wanted_steps = Signal(len(self._step), name="wanted_steps")
        m.d.sync += self._fresh.eq(learning.starts)
        m.d.comb += self._wanted_steps.eq(Cat(learning._steps(learning.phases, self._active)))
        self._wanted = [Value.cast(phase.wanted).any() for phase in learning.phases]
        self._repeats = [not isinstance(phase.repeats, int) for phase in learning.phases]
        warp = self._work.warp[: self._params.warp_bits]
        self._waits = self._work.waiting.bit_select(warp, 1)

    def _is_ahead(self, at: int) -> Value:
        """Whether what a phase does at once has not been done."""
        return self._left[at] | (self._active[at] & self._first)

    def _assigning(self, *registers: Any, alone: bool = False) -> list[int]:
        """Phases that assign some registers at once; no others if ``alone``."""
        wanted, found = {id(Value.cast(each)) for each in registers}, []
        for at, phase in enumerate(self._learning.phases):
            assigned = {id(each) for action in phase.actions for each in action._lhs_signals()}
            if assigned == wanted or (not alone and wanted <= assigned):
                found.append(at)
        return found

    def _due(self) -> dict[str, Value]:
        """Whether each table claims the access, or is about to by what is left to do."""
        learning, unit, giver = self._learning, self._unit, self._learning.giver
        is_left = self._wanted_steps & (self._steps_left | self._step)
        second = (learning._second_block == self._block) & (giver.bar >= self.i_clock)
        known = [
            Const(0, 1) if phase.known is None
            else self._covers(struct_layout(self._params.known_layout)(Value.cast(phase.known)))
            for phase in learning.phases
        ]  # fmt: skip
        contents: dict[str, Value] = {}
        self._numbers: dict[str, list[int]] = {}
        number = 2
        for name, places in self._params.tables.items():
            table = giver[name]
            exact = [self._covers(table[f"known_{place}"]) for place in range(places)]
            brought = [self._by_bits(table.bits, table.lossy), *exact]
            self._numbers[name] = list(range(number, number + 1 + places))
            steps = is_left[number : number + 1 + places]
            contents[name] = (Cat(brought) & steps).any()
            number += 1 + places
        passed = {
            "here": (number, (giver.through_blocks & self._hash(learning.taker.block)).any()),
            "through": (number + 1, giver.through_blocks.any()),
        }  # fmt: skip
        passes = self._by_bits(giver.through.bits, giver.through.lossy)
        in_unit = self._covers(unit.i_known) | self._by_bits(unit.i_bits, unit.i_lossy)
        due = {}
        for place, name in enumerate(self._params.tables):
            found = [self._taker[name], self._flight & self._inner["targets"][place] & in_unit]
            for at, phase in enumerate(learning.phases):
                brings = []
                if phase.target == name:
                    brings = [
                        known[at], Value.cast(phase.second).any() & second,
                        *(self._giver[source] for source in phase.sources),
                    ]  # fmt: skip
                    steps = [
                        is_left[0] & known[at], is_left[1] & second,
                        *(contents[source] for source in phase.sources),
                    ]  # fmt: skip
                    found.append(self._active[at] & any_of(steps))
                if phase.passes and name in passed:
                    step, is_there = passed[name]
                    brings.append(passes & is_there)
                    found.append(self._active[at] & passes & is_left[step])
                if brings:
                    found.append(self._left[at] & self._wanted[at] & any_of(brings))
            if name in ("here", "far", "through"):
                # The first phase claims every access up to the latest clock, at once.
                is_any = self._wanted[0] & (self.i_clock <= self._work.latest)
                found.append(self._is_ahead(0) & is_any)
            due[name] = Signal(name=f"due_{name}")
            self._m.d.comb += due[name].eq(any_of(found))
        return due

    def _helps_of_order(self) -> list[Value]:
        """Phases one after the other, each while it is wanted; steps likewise."""
        active, left, step, steps_left = self._active, self._left, self._step, self._steps_left
        is_run, idle = self._in("RUN"), Cat(active, left, step, self._flight) == 0
        targets = self._inner["targets"]
        some = self._during(Routine.SOME) & self._waits
        return [
            *((bits & (bits - 1)) == 0 for bits in (active, step, targets, self._work.routine)),
            is_run | idle,
            ~self._fresh | (is_run & left.all() & (Cat(active, step, self._flight) == 0)),
            ~self._fresh | ~self._first,
            ~self._first | ((step == 0) & ~self._flight),
            (step & ~self._wanted_steps) == 0,
            *(~active[at] | (some if again else wanted)
              for at, (again, wanted) in enumerate(zip(self._repeats, self._wanted, strict=True))),
            *(~active[at] | ~left[: at + (not again)].any()
              for at, again in enumerate(self._repeats)),
            *(~step[at] | ~steps_left[: at + 1].any() for at in range(len(step))),
            *(~(later[at] | now[at]) | later[at + 1]
              for later, now in ((left, active), (steps_left, step))
              for at in range(len(later) - 1)),
        ]  # fmt: skip

    def _helps_of_targets(self) -> list[Value]:
        """What is in flight is for a target of the active phase; what passes comes last."""
        helps, left = [], self._steps_left | self._step
        for place, name in enumerate(self._params.tables):
            own = [
                self._active[at]
                for at, phase in enumerate(self._learning.phases)
                if phase.target == name
            ]
            by_passing = [
                self._active[at]
                for at, phase in enumerate(self._learning.phases)
                if phase.passes and name in ("here", "through")
            ]
            comes = self._flight & self._inner["targets"][place]
            last = len(self._step) - (2 if name == "here" else 1)
            helps += [
                ~comes | any_of([*own, *by_passing]),
                ~comes | any_of(own) | ~left[: last + 1].any(),
            ]
        return helps

    def _helps_of_same(self) -> list[Value]:
        """A giver that follows the taker is right three cycles after a step."""
        learning, wait = self._learning, self._inner["wait"]
        taker, giver = learning.taker, learning.giver
        follows = learning.is_same & self._in("RUN")
        meets = follows & self._during(Routine.WRITER, Routine.READER)
        is_still, left = (self._step == 0) & ~self._first, self._steps_left | self._step
        same = {name: Value.cast(taker[name]) == Value.cast(giver[name])
                for name in self._params.tables}  # fmt: skip
        helps = [
            ~learning.is_same | self._during(Routine.WRITER, Routine.READER, Routine.START),
            *(~follows | ((giver[name] & ~taker[name]) == 0)
              for name in ("through_blocks", "seen_blocks")),
            *(~meets | (taker[name] == giver[name])
              for name in ("bar", "release", "release_device", "fence", "fence_device")),
            ~(follows & (wait == 0)) | (Cat(same.values()).all() & is_still & ~self._flight),
            ~(follows & (wait == 1)) | (is_still & ~self._flight),
            ~(follows & (wait == 2)) | is_still,
        ]  # fmt: skip
        for name in self._params.tables:
            reading = [
                at for at, phase in enumerate(learning.phases)
                if name in phase.sources or (phase.passes and name == "through")
            ]  # fmt: skip
            pending = follows & any_of(
                [(self._left[at] | self._active[at]) & self._wanted[at] for at in reading]
            )
            apart = any_of([
                self._active[at] for at in reading
                if name in learning.phases[at].sources and learning.phases[at].target != name
            ])  # fmt: skip
            is_begun = ~self._steps_left.all() & Cat(left[at] for at in self._numbers[name]).any()
            helps += [
                ~pending | ~self._giver[name] | self._taker[name],
                *(~pending | ~has(giver, name) | has(taker, name)
                  for has in (self._has_any, lambda record, name: Value.cast(record[name]).any())),
                ~(learning.is_same & self._fresh) | same[name],
                ~(follows & apart & is_begun) | same[name],
            ]  # fmt: skip
        return helps

    def _has_any(self, record: Any, name: str) -> Value:
        """Whether a table of a record has an exact entry, or a bit."""
        exact = [record[name][f"known_{place}"].clock for place in range(self._params.tables[name])]
        return Cat(record[name].bits, *exact).any()

    def _helps_of_states(self, routines: dict[str, Sequence[Routine]]) -> list[Value]:
        """Which routine a state has, of which warp; the record that is read ahead."""
        work, inner, taking = self._work, self._inner, self._modules[TAKING]
        of_one = self._during(*set(taking._OF_ONE.values()))
        of_notice = self._during(Routine.WRITER, Routine.READER)
        gate = self._collector._gate.o_marker
        following = gate.payload.marker
        is_next = gate.valid & Cat(following.kind == kind for kind in taking._OF_ONE).any()
        is_start = work.marker.marker.kind == TransactionKind.BLOCK_START
        at_work = self._in("LOAD", "SIDE", "RUN", "NEXT", "LEAVE")
        return [
            *(~self._in(state) | self._during(*each) for state, each in routines.items()),
            ~self._in("BLOCK", "WARPS") | (is_start == self._during(Routine.START)),
            ~(self._in("LEAVE") & inner["is_ahead"])
            | (of_one & is_next & (self._read_warp == following.warp)),
            ~self._in("LOAD") | (self._read_warp == work.warp),
            ~self._in("NEXT") | ~inner["is_ahead"],
            ~(at_work & (of_one | of_notice)) | (work.loop == 0),
            ~(at_work & of_one) | (work.warp == work.marker.marker.warp),
            ~(at_work & of_notice) | (work.warp == work.notice.notice.packet.warp),
        ]  # fmt: skip
