"""Small random traces for the race oracles: nothing is executed, but every rule of traces holds.

A trace has a handful of instructions, each with its PC, that warps run in any order, so that the
same instruction is met with and without fences beside it, converged and diverged.
"""

from dataclasses import dataclass, field
from random import Random

from racetrap.golden_model.events import (
    DataRegion,
    Event,
    EventKind,
    Geometry,
    Lane,
    Space,
    TraceHeader,
)
from racetrap.golden_model.scord.packets import AtomicOp, Scope
from racetrap.golden_model.trace import Trace

HEADER = TraceHeader(
    geometry=Geometry(sm_count=2, blocks_per_sm=4, warps_per_sm=8),
    region=DataRegion(data_base=0, size_log2=16),
)
_ALL = (1 << 32) - 1


@dataclass
class _Warp:
    """A warp of a random run: its slots, and the lanes that run and wait."""

    sm: int
    slot: int
    warp: int
    live: int
    stack: list[tuple[int, int]] = field(default_factory=list)
    active: int = 0

    @property
    def ids(self) -> dict[str, int]:
        return {"sm": self.sm, "slot": self.slot, "warp": self.warp}


def _instruction(rng: Random, pc: int, sizes: list[int]) -> Event:
    """A load, store, atomic or fence without lanes."""
    kind = rng.choice([EventKind.LOAD, EventKind.STORE, EventKind.ATOMIC, EventKind.FENCE])
    scope = rng.choice(list(Scope))
    if kind == EventKind.FENCE:
        return Event(kind, pc=pc, scope=scope)
    strong = kind == EventKind.ATOMIC or rng.random() < 0.7
    return Event(
        kind, pc=pc, scope=scope if strong else Scope.BLOCK, strong=strong,
        op=rng.choice(list(AtomicOp)) if kind == EventKind.ATOMIC else AtomicOp.CAS,
        size=4 if kind == EventKind.ATOMIC else rng.choice(sizes),
        space=rng.choice([Space.GLOBAL, Space.GLOBAL, Space.SHARED]),
    )  # fmt: skip


def _lane(rng: Random, lane: int, address: int, event: Event) -> Lane:
    value = rng.randrange(2)
    if event.kind == EventKind.STORE:
        return Lane(lane, address, value)
    if event.kind != EventKind.ATOMIC or event.op == AtomicOp.OTHER:
        return Lane(lane, address)
    if event.op == AtomicOp.EXCH:
        return Lane(lane, address, value)
    return Lane(lane, address, rng.choice([1, 1, 0]), 0, rng.random() < 0.7)


class RandomRun:
    """Makes the events of a random trace.

    Parameters
    ----------
    rng : Random
        Source of all choices.
    steps : int
        Warp instructions.
    """

    def __init__(self, rng: Random, steps: int) -> None:
        self._rng = rng
        sizes = rng.choice([[4], [4], [4, 8], [1, 4], [2, 4, 16]])
        self._program = [_instruction(rng, 0x1000 + 8 * i, sizes) for i in range(8)]
        self._words = rng.choice([1, 2, 3])
        self._steps = steps
        self._warps: list[_Warp] = []

    def trace(self) -> Trace:
        """The trace: one or two kernels."""
        events = []
        for _ in range(self._rng.choice([1, 1, 2])):
            events += self._kernel()
        return Trace.from_events(HEADER, events)

    def _kernel(self) -> list[Event]:
        rng = self._rng
        blocks, warps = rng.choice([1, 2, 3]), rng.choice([1, 2])
        lanes = rng.choice([0b1, 0b11, 0b111, _ALL])
        events = [Event(EventKind.KERNEL_BEGIN)]
        self._warps = []
        for block in range(blocks):
            sm, slot = block % 2, block // 2
            events.append(
                Event(
                    EventKind.BLOCK_PLACED, sm, slot, slot * warps, warp_count=warps,
                    grid_block=block, mask=lanes,
                )
            )  # fmt: skip
            for warp in range(warps):
                live = lanes if warp == warps - 1 else _ALL
                self._warps.append(_Warp(sm, slot, slot * warps + warp, live, active=live))
        diverging = rng.random() < 0.5
        for _ in range(self._steps):
            events += self._step(diverging)
        for block in range(blocks):
            events.append(Event(EventKind.BLOCK_RETIRED, block % 2, block // 2))
        return [*events, Event(EventKind.KERNEL_END)]

    def _step(self, diverging: bool) -> list[Event]:
        rng = self._rng
        warp = rng.choice(self._warps)
        choice = rng.random()
        if choice < 0.06:
            return [Event(EventKind.BARRIER, warp.sm, warp.slot, pc=0x2000)]
        if diverging and choice < 0.35:
            return self._branch(warp)
        if not warp.active:
            return []
        event = rng.choice(self._program)
        if event.kind == EventKind.FENCE:
            return [event._replace(**warp.ids, mask=self._some(warp.active))]
        access = event._replace(**warp.ids, lanes=self._lanes(event, self._some(warp.active)))
        mask = sum(1 << lane.lane for lane in access.lanes)
        fence = Event(EventKind.FENCE, **warp.ids, scope=event.scope, pc=event.pc, mask=mask)
        if event.strong and event.pc % 0x20 == 0x18:  # a quarter are acquires and releases
            return [access, fence] if event.kind == EventKind.LOAD else [fence, access]
        return [access]

    def _lanes(self, event: Event, mask: int) -> tuple[Lane, ...]:
        rng = self._rng
        base = 4 * rng.randrange(self._words)
        base -= base % event.size
        stride = rng.choice([0, 0, event.size])
        return tuple(
            _lane(rng, lane, base + stride * (lane % 4), event)
            for lane in range(32)
            if mask >> lane & 1
        )

    def _some(self, mask: int) -> int:
        """The mask, or a few of its lanes."""
        few = mask & self._rng.choice([0b1, 0b10, 0b101, _ALL])
        return few or mask

    def _branch(self, warp: _Warp) -> list[Event]:
        rng = self._rng
        kind = rng.choice([EventKind.IF, EventKind.IF, EventKind.FI, EventKind.EXIT])
        if kind == EventKind.EXIT:
            gone = self._some(warp.active) if rng.random() < 0.3 else 0
            if not gone:
                return []
            warp.live &= ~gone
            warp.active &= ~gone
            return [Event(kind, **warp.ids, pc=0x3000, mask=gone)]
        if kind == EventKind.IF:
            first = self._some(warp.active)
            if not warp.active & ~first:
                return []
            warp.stack.append((warp.active & ~first, warp.active))
            warp.active = first
            return [Event(kind, **warp.ids, pc=0x3008, mask=first)]
        if not warp.stack:
            return []
        waiting, whole = warp.stack.pop()
        if waiting:
            warp.stack.append((0, whole))
            warp.active = waiting
            return [Event(EventKind.ELSE, **warp.ids, pc=0x3010, mask=waiting)]
        warp.active = whole & warp.live
        if not warp.active:
            return [Event(EventKind.FI, **warp.ids, pc=0x3018, mask=whole)]
        return [Event(EventKind.FI, **warp.ids, pc=0x3018, mask=warp.active)]
