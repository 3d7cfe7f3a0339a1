"""Learning: a warp's record takes in what another one has, an exact entry a cycle.

Ref: ScoRD (ISCA'20) Section VI.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, ValueLike

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.knowledge_table import (
    KnowledgeTable,
    from_other_block,
    hash_of,
    known_block,
)
from racetrap.rtl.common.bits import lowest_one_hot, one_hot_select
from racetrap.rtl.common.layout import struct_layout


@dataclass
class Phase:
    """What a record does at once, if it is ``wanted``.

    Parameters
    ----------
    wanted : ValueLike
        Whether it takes place: it must stay so until it has.
    actions : sequence
        What the first cycle assigns.
    target : str
        Table that learns.
    known, fenced : ValueLike
        An exact entry that it takes, and fences.
    second : ValueLike
        Whether it takes the giver's block up to its barrier, too.
    sources : sequence of str
        Tables of the giver that it joins, always in the order of ``params.tables``.
    is_far, keeps_direct : ValueLike
        Whether the giver is of another block, and what is direct stays so.
    passes : bool
        Whether what passes through the giver goes on to the taker.
    repeats : ValueLike
        Whether it comes again.
    """

    wanted: ValueLike
    actions: Sequence[Any] = ()
    target: str = ""
    known: Value | None = None
    fenced: ValueLike = 0
    second: ValueLike = 0
    sources: Sequence[str] = ()
    is_far: ValueLike = 0
    keeps_direct: ValueLike = 0
    passes: bool = False
    repeats: ValueLike = 0


class Record:
    """A warp's record in registers, each field one of its own, by attribute and by name."""

    def __init__(self, params: CausalityParams, name: str):
        layout = struct_layout(params.record_layout)
        self._fields = {
            field: Signal(layout[field].shape, name=f"{name}_{field}") for field in layout.members
        }

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __getattr__(self, name: str) -> Any:
        return self._fields[name]

    def eq(self, other: Any) -> list[Any]:
        """Assign all fields: those of another record, or of a word of memory."""
        return [field.eq(other[name]) for name, field in self._fields.items()]

    def packed(self) -> Value:
        """The record as in memory."""
        return Cat(Value.cast(field) for field in self._fields.values())


class Learning:
    """Runs phases on two records: the taker's, which changes, and the giver's.

    Attributes
    ----------
    taker, giver : Record
        Records of the warp that learns and of that which it learns from.
    is_same : Signal
        Both are of one warp: the giver follows the taker.
    starts : Signal
        Pulse: consider all phases.
    is_over : Signal
        All phases are behind; the taker is right in the next cycle.
    blocked : Signal
        No further step may be chosen.
    takes_known : Signal
        The phase's exact entry is taken.
    evicts : Signal
        An exact entry goes to the bits.

    Parameters
    ----------
    params : CausalityParams
        Configuration.
    second_block : Value
        The giver's block, where a phase takes it.
    """

    def __init__(self, params: CausalityParams, second_block: Value):
        self.params, self._second_block = params, second_block
        self.taker, self.giver = Record(params, "taker"), Record(params, "giver")
        self.is_same, self.starts, self.is_over, self.blocked, self.takes_known, self.evicts = (
            Signal(name=name)
            for name in ("is_same", "starts", "is_over", "blocked", "takes_known", "evicts")
        )
        self._tables = list(params.tables)
        self._places = max(1, *params.tables.values())

    def elaborate(self, m: Module, phases: Sequence[Phase]) -> Value:
        """Add all that runs; whether each phase is in its first cycle."""
        active, first = Signal(len(phases), name="active"), Signal(name="first")
        step = Signal(len(self._steps(phases, active)), name="step")
        self._elaborate_order(m, phases, active, first, step)
        self._elaborate_step(m, phases, active, step)
        for number, phase in enumerate(phases):
            if phase.actions:
                with m.If(first & active[number]):
                    m.d.sync += list(phase.actions)
        with m.If(self.is_same):
            m.d.sync += self.giver.eq(self.taker)
        return active & first.replicate(len(active))

    def _any(self, phases: Sequence[Phase], active: Value, name: str) -> Value:
        """Whether the active phase has a property."""
        bits = [
            active[number] & Value.cast(getattr(phase, name)).any()
            for number, phase in enumerate(phases)
            if not isinstance(getattr(phase, name), int) or getattr(phase, name)
        ]
        return Cat(bits).any() if bits else Const(0, 1)

    def _where(self, phases: Sequence[Phase], active: Value, has: Any) -> Value:
        bits = [active[number] for number, phase in enumerate(phases) if has(phase)]
        return Cat(bits).any() if bits else Const(0, 1)

    def _steps(self, phases: Sequence[Phase], active: Value) -> list[Value]:
        """Whether the active phase wants each step: an exact entry, the giver's block, bits and
        exact entries of each table, and what passes through."""
        giver, taker = self.giver, self.taker
        steps = [
            self._where(phases, active, lambda phase: phase.known is not None),
            self._any(phases, active, "second") & (giver.bar != 0),
        ]
        for name, places in self.params.tables.items():
            joins = self._where(phases, active, lambda phase, name=name: name in phase.sources)
            table = giver[name]
            steps.append(joins & (table.bits.any() | table.fenced.any() | table.lossy.any()))
            steps += [joins & (table[f"known_{place}"].clock != 0) for place in range(places)]
        passes = self._where(phases, active, lambda phase: phase.passes)
        is_mine = (giver.through_blocks & hash_of(self.params, taker.block)).any()
        return [*steps, passes & is_mine, passes & giver.through_blocks.any()]

    def _elaborate_order(self, m, phases, active, first, step):
        wanted, steps_wanted = Signal(len(phases), name="wanted"), Signal.like(step)
        candidates, step_candidates = Signal.like(wanted), Signal.like(step)
        left, steps_left = Signal.like(wanted, name="left"), Signal.like(step, name="steps_left")
        next_phase, next_step = Signal.like(wanted), Signal.like(step)
        wait = Signal(2, name="wait")
        m.d.comb += [
            wanted.eq(Cat(Value.cast(phase.wanted).any() for phase in phases)),
            steps_wanted.eq(Cat(self._steps(phases, active))),
            candidates.eq(wanted & left),
            step_candidates.eq(steps_wanted & steps_left),
            next_phase.eq(lowest_one_hot(candidates)),
            next_step.eq(lowest_one_hot(step_candidates)),
        ]
        repeats = Cat(Value.cast(phase.repeats).any() for phase in phases)
        # Without a subtraction, whose carry would run through all of them.
        behind = Cat(candidates[:place].any() for place in range(len(phases)))
        steps_behind = Cat(step_candidates[:place].any() for place in range(len(step)))
        m.d.sync += [step.eq(0), first.eq(0)]
        with m.If(self.starts):
            m.d.sync += [left.eq(~0), active.eq(0), steps_left.eq(0)]
        with m.Elif(wait != 0):
            m.d.sync += wait.eq(wait - 1)
        with m.Elif(~self.blocked):
            # A giver that follows the taker is right three cycles after a step.
            m.d.sync += wait.eq(Mux(self.is_same, 3, 0))
            with m.If(next_step.any()):
                m.d.sync += [step.eq(next_step), steps_left.eq(steps_left & steps_behind)]
            # What comes behind a step sees the table that it makes.
            with m.Elif(~step.any()):
                m.d.sync += [
                    active.eq(next_phase), first.eq(next_phase.any()), steps_left.eq(~0),
                    left.eq(left & (behind | (next_phase & repeats))),
                ]  # fmt: skip
                m.d.comb += self.is_over.eq(~next_phase.any())

    def _elaborate_step(self, m, phases, active, step):
        params, giver, taker = self.params, self.giver, self.taker
        m.submodules.table = unit = KnowledgeTable(params, self._places)
        takes_known, takes_block, *joins, mine, through = step
        passes = mine | through
        target = {name: Signal(name=f"target_{name}") for name in self._tables}
        for name, chosen in target.items():
            is_target = self._where(phases, active, lambda phase, name=name: phase.target == name)
            is_passed = {"here": mine, "through": through}.get(name, 0)
            m.d.comb += chosen.eq((is_target & ~passes) | is_passed)
        values, writes = [], Signal(name="writes")
        targets = Signal(len(target), name="targets")
        m.d.sync += [
            writes.eq(step.any()), targets.eq(Cat(*target.values())),
        ]  # fmt: skip
        for name, places in params.tables.items():
            table = Signal(unit.i_table.shape(), name=f"padded_{name}")
            m.d.comb += [
                *(table[f"known_{place}"].eq(taker[name][f"known_{place}"])
                  for place in range(places)),
                *(table[each].eq(taker[name][each]) for each in ("bits", "lossy", "fenced")),
            ]  # fmt: skip
            values.append(table)
            with m.If(writes & targets[len(values) - 1]):
                m.d.sync += [
                    taker[name][each].eq(unit.o_table[each])
                    for each in (*(f"known_{place}" for place in range(places)),
                                 "bits", "lossy", "fenced")
                ]  # fmt: skip
        m.d.comb += [
            unit.i_table.eq(one_hot_select(targets, map(Value.cast, values))),
            unit.i_usable.eq(
                one_hot_select(
                    targets,
                    [Const((1 << places) - 1, self._places) for places in params.tables.values()],
                )
            ),
            self.evicts.eq(unit.o_evicts & writes),
            self.takes_known.eq(takes_known),
        ]
        self._elaborate_inputs(m, phases, active, unit, (takes_known, takes_block, joins, passes))
        with m.If(through):
            m.d.sync += taker.through_blocks.eq(taker.through_blocks | giver.through_blocks)

    def _elaborate_inputs(self, m, phases, active, unit, step):
        """What the table's unit adds and unites, a cycle after a step is chosen."""
        params, giver = self.params, self.giver
        takes_known, takes_block, joins, passes = step
        is_far = Signal(name="is_far")
        keeps = self._any(phases, active, "keeps_direct")
        m.d.comb += is_far.eq(self._any(phases, active, "is_far") | passes)
        united: list[tuple[Value, str]] = []
        known = [
            (takes_known & active[number], phase.known)
            for number, phase in enumerate(phases) if phase.known is not None
        ]  # fmt: skip
        known.append((takes_block, known_block(params, m, self._second_block, giver.bar)))
        steps = iter(joins)
        for name, places in params.tables.items():
            bits = next(steps)
            united.append((bits | passes if name == "through" else bits, name))
            for place in range(places):
                entry = Signal(struct_layout(params.known_layout), name=f"{name}_{place}")
                source = giver[name][f"known_{place}"]
                m.d.comb += [entry.eq(source), entry.direct.eq(source.direct & keeps)]
                known.append((next(steps), entry))
        select, takes = Signal(len(united), name="unites"), Signal(len(known), name="takes")
        m.d.comb += [
            select.eq(Cat(bit for bit, _ in united)),
            takes.eq(Cat(bit for bit, _ in known)),
        ]
        fenced = Signal(3, name="fenced_in")
        own = [
            Value.cast(phase.fenced)
            & (takes_known & active[number]).replicate(3)
            for number, phase in enumerate(phases) if not isinstance(phase.fenced, int)
        ]  # fmt: skip
        tables = one_hot_select(select, [giver[name].fenced for _, name in united])
        for each in own:
            tables = tables | each
        m.d.comb += fenced.eq(tables)
        m.d.sync += [
            unit.i_known.eq(one_hot_select(takes, [Value.cast(value) for _, value in known])),
            unit.i_bits.eq(one_hot_select(select, [giver[name].bits for _, name in united])),
            unit.i_lossy.eq(one_hot_select(select, [giver[name].lossy for _, name in united])),
            unit.i_fenced.eq(Mux(is_far, from_other_block(fenced), fenced)),
        ]
