"""Scheduler of small programs: the events of a run under a schedule.

Memory values are simulated, so that CAS and EXCH succeed or fail as they would.

Ref: ScoRD (ISCA'20) Section V (micro-benchmarks).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from random import Random

from racetrap.golden_model.events import AtomicOp, Event, EventKind, Lane
from racetrap.sim.gpu.suites.micro.program import VARIABLES, Actor, MicroProgram, Statement

#: Chooses the actor to run next: given those that may run (ascending) and the last that ran.
Schedule = Callable[[Sequence[int], int], int]

#: Lane of its warp that an actor is.
_LANE = 0
_MASK = 1 << _LANE
_ACCESS_BYTES = 4
_PC_BASE = 0x1000
_PC_ACTOR = 0x100
_PC_STATEMENT = 8


class BlockPlacement(Enum):
    """Where the blocks of a grid run: all on one SM, or each on an SM of its own."""

    SAME_SM = "same-sm"
    OTHER_SMS = "other-sms"

    def place(self, block: int, warps_per_block: int) -> tuple[int, int, int]:
        """SM, block slot and first warp slot of a block."""
        if self is BlockPlacement.SAME_SM:
            return 0, block, block * warps_per_block
        return block, 0, 0


def in_order(ready: Sequence[int], last: int) -> int:
    """The first actor runs as far as it can."""
    return ready[0]


def reverse(ready: Sequence[int], last: int) -> int:
    """The last actor runs as far as it can."""
    return ready[-1]


def round_robin(ready: Sequence[int], last: int) -> int:
    """Actors take turns."""
    return next((actor for actor in ready if actor > last), ready[0])


def random_schedule(seed: int) -> Schedule:
    """Any actor that may run, by a seed; make a new one for each run."""
    rng = Random(seed)
    return lambda ready, last: rng.choice(ready)


#: The schedules that need no seed, by name.
FIXED_SCHEDULES: dict[str, Schedule] = {
    "in-order": in_order,
    "reverse": reverse,
    "round-robin": round_robin,
}


def run_program(
    program: MicroProgram, schedule: Schedule, placement: BlockPlacement
) -> list[Event]:
    """Run a program: a complete trace, from KERNEL_BEGIN to KERNEL_END.

    An actor whose spin failed waits until another actor has made progress, so every schedule
    makes progress.  Each statement of the program has a PC of its own.

    Raises
    ------
    RuntimeError
        If every actor spins for something that never comes.
    """
    events = [Event(EventKind.KERNEL_BEGIN)]
    for block in range(program.blocks):
        sm, slot, warp = placement.place(block, program.warps_per_block)
        events.append(
            Event(
                EventKind.BLOCK_PLACED, sm, slot, warp,
                warp_count=program.warps_per_block, grid_block=block,
            )
        )  # fmt: skip
    events += _execute(program, schedule, placement)
    for block in range(program.blocks):
        sm, slot, _ = placement.place(block, program.warps_per_block)
        events.append(Event(EventKind.BLOCK_RETIRED, sm, slot))
    events.append(Event(EventKind.KERNEL_END))
    return events


def _execute(
    program: MicroProgram, schedule: Schedule, placement: BlockPlacement
) -> Iterator[Event]:
    """The accesses and fences of a run."""
    memory: defaultdict[str, int] = defaultdict(int)
    positions = [0] * len(program.actors)
    spinning: set[int] = set()
    last = -1
    while unfinished := [
        number
        for number, actor in enumerate(program.actors)
        if positions[number] < len(actor.statements)
    ]:
        ready = [number for number in unfinished if number not in spinning]
        if not ready:
            raise RuntimeError(
                f"Program {program.name} must end, not stay in a deadlock: every actor waits"
            )
        last = schedule(ready, last)
        actor = program.actors[last]
        statement = actor.statements[positions[last]]
        old = memory[statement.variable]
        pc = _PC_BASE + _PC_ACTOR * last + _PC_STATEMENT * positions[last]
        yield _event(program, actor, statement, pc, old, placement)
        memory[statement.variable] = _value_after(statement, old)
        if statement.until is not None and not statement.until(old):
            spinning.add(last)
        else:
            positions[last] += 1
            spinning.clear()


def _event(
    program: MicroProgram,
    actor: Actor,
    statement: Statement,
    pc: int,
    old: int,
    placement: BlockPlacement,
) -> Event:
    sm, slot, first_warp = placement.place(actor.block, program.warps_per_block)
    warp = first_warp + actor.warp
    kind = statement.kind
    if kind == EventKind.FENCE:
        return Event(kind, sm, slot, warp, statement.scope, pc=pc, mask=_MASK)
    address = VARIABLES[statement.variable]
    lane = Lane(_LANE, address)
    if kind == EventKind.STORE or (kind == EventKind.ATOMIC and statement.op == AtomicOp.EXCH):
        lane = Lane(_LANE, address, statement.value)
    elif kind == EventKind.ATOMIC and statement.op == AtomicOp.CAS:
        success = old == statement.compare
        lane = Lane(_LANE, address, statement.value, statement.compare, success)
    return Event(
        kind, sm, slot, warp, statement.scope, statement.strong, statement.op, pc,
        _ACCESS_BYTES, (lane,),
    )  # fmt: skip


def _value_after(statement: Statement, old: int) -> int:
    """Value of the variable after a statement (of none, for fences)."""
    if statement.kind == EventKind.STORE:
        return statement.value
    if statement.kind != EventKind.ATOMIC:
        return old
    if statement.op == AtomicOp.EXCH:
        return statement.value
    if statement.op == AtomicOp.CAS:
        return statement.value if old == statement.compare else old
    return old + statement.value
