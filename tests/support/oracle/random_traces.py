"""Small random traces for the race oracles: nothing is executed, but every rule of traces holds.

Warps run idioms in any order: lone accesses, messages with a flag, critical sections, with
fences and scopes left to chance, converged and diverged.  In half of the traces every instruction
executed has a PC of its own, so that each pair of accesses counts; in the others there are few.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from racetrap.golden_model.events import (
    AtomicOp,
    DataRegion,
    Event,
    EventKind,
    Geometry,
    Lane,
    Scope,
    Space,
    TraceHeader,
)
from racetrap.golden_model.trace import Trace
from tests.support.oracle.themes import THEMES

HEADER = TraceHeader(
    geometry=Geometry(sm_count=2, blocks_per_sm=4, warps_per_sm=8),
    region=DataRegion(data_base=0, size_log2=16),
)
_ALL = (1 << 32) - 1
_FLAG, _LOCK = 0x100, 0x200
_SHARED_PC_COUNT = 16


@dataclass
class _Warp:
    """A warp of a random run: its slots, the lanes that run and wait, and what it will do."""

    sm: int
    slot: int
    warp: int
    live: int
    stack: list[tuple[int, int]] = field(default_factory=list)
    active: int = 0
    plan: list[Event] = field(default_factory=list)

    @property
    def ids(self) -> dict[str, int]:
        return {"sm": self.sm, "slot": self.slot, "warp": self.warp}


class RandomRun:
    """Makes the events of a random trace.

    Parameters
    ----------
    rng : Random
        Source of all choices.
    steps : int
        Warp instructions, more or less.
    own_pcs : bool, optional
        Whether each of them has a PC of its own; otherwise a matter of chance.
    """

    def __init__(self, rng: Random, steps: int, own_pcs: bool | None = None) -> None:
        self._rng = rng
        self._steps = steps
        self._sizes = rng.choice([[4], [4], [4, 8], [1, 4], [2, 4, 16]])
        self._words = rng.choice([1, 2, 4])
        self._own_pcs = (rng.random() < 0.5) if own_pcs is None else own_pcs
        self._device = rng.choice([0.2, 0.5, 0.8])
        self._pc = 0x1000
        self._warps: list[_Warp] = []
        self._theme = rng.choice(THEMES)
        letters = {"l": self._lone, "m": self._message, "a": self._answer, "s": self._section}
        self._idioms: list[Callable[[], list[Event]]] = [
            letters[letter] for letter in self._theme.idioms
        ]

    def trace(self) -> Trace:
        """The trace: one or two kernels."""
        events = []
        for _ in range(self._rng.choice([1, 1, 2])):
            events += self._kernel()
        return Trace.from_events(HEADER, events)

    def _kernel(self) -> list[Event]:
        rng, theme = self._rng, self._theme
        blocks, warps = rng.choice(theme.blocks), rng.choice(theme.warps)
        lanes = rng.choice(theme.live)
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
        branches, barriers = rng.choice(theme.branches), rng.choice(theme.barriers)
        for _ in range(self._steps):
            events += self._step(branches, barriers)
        for block in range(blocks):
            events.append(Event(EventKind.BLOCK_RETIRED, block % 2, block // 2))
        return [*events, Event(EventKind.KERNEL_END)]

    def _step(self, branches: float, barriers: float) -> list[Event]:
        rng = self._rng
        warp = rng.choice(self._warps)
        choice = rng.random()
        if choice < barriers:
            return [Event(EventKind.BARRIER, warp.sm, warp.slot, pc=0x2_0000)]
        if choice < barriers + branches:
            return self._branch(warp)
        if not warp.active:
            return []
        if not warp.plan:
            warp.plan = rng.choice(self._idioms)()
        return self._perform(warp, warp.plan.pop(0))

    # Instructions without lanes; ``grid_block`` holds the address until they are performed.

    def _scope(self) -> Scope:
        return Scope.DEVICE if self._rng.random() < self._device else Scope.BLOCK

    def _fence(self) -> list[Event]:
        return [Event(EventKind.FENCE, scope=self._scope())] if self._rng.random() < 0.8 else []

    def _atomic(self, op: AtomicOp, address: int) -> Event:
        return Event(
            EventKind.ATOMIC, scope=self._scope(), strong=True, op=op, size=4, grid_block=address
        )

    def _data(self) -> Event:
        rng = self._rng
        strong = rng.random() < 0.7
        size = rng.choice(self._sizes)
        address = 4 * rng.randrange(self._words)
        return Event(
            rng.choice([EventKind.LOAD, EventKind.STORE]), strong=strong,
            scope=self._scope() if strong else Scope.BLOCK, size=size,
            space=rng.choice([Space.GLOBAL, Space.GLOBAL, Space.SHARED]),
            grid_block=address - address % size,
        )  # fmt: skip

    def _flag(self, *kinds: EventKind) -> Event:
        kind = self._rng.choice(kinds)
        if kind == EventKind.ATOMIC:
            return self._atomic(self._rng.choice(list(AtomicOp)), _FLAG)
        return Event(kind, strong=True, scope=self._scope(), size=4, grid_block=_FLAG)

    def _lone(self) -> list[Event]:
        if self._rng.random() < 0.2:
            return [self._atomic(self._rng.choice(list(AtomicOp)), 0)]
        return [self._data()]

    def _message(self) -> list[Event]:
        return [self._data(), *self._fence(), self._flag(EventKind.ATOMIC, EventKind.STORE)]

    def _answer(self) -> list[Event]:
        return [self._flag(EventKind.ATOMIC, EventKind.LOAD), *self._fence(), self._data()]

    def _section(self) -> list[Event]:
        return [
            self._atomic(AtomicOp.CAS, _LOCK), *self._fence(), self._data(), self._data(),
            *self._fence(), self._atomic(AtomicOp.EXCH, _LOCK),
        ]  # fmt: skip

    def _next_pc(self) -> int:
        self._pc += 8
        return self._pc if self._own_pcs else 0x1000 + 8 * self._rng.randrange(_SHARED_PC_COUNT)

    def _perform(self, warp: _Warp, event: Event) -> list[Event]:
        rng = self._rng
        mask = self._some(warp.active)
        event = event._replace(**warp.ids, pc=self._next_pc())
        if event.kind == EventKind.FENCE:
            return [event._replace(mask=mask)]
        stride = 0 if event.grid_block >= _FLAG else rng.choice([0, 0, event.size])
        lanes = tuple(
            self._lane(event, lane, event.grid_block + stride * (lane % 4))
            for lane in range(32)
            if mask >> lane & 1
        )
        access = event._replace(lanes=lanes, grid_block=0)
        if event.strong and rng.random() < 0.15:  # by name an acquire or a release
            fence = Event(EventKind.FENCE, **warp.ids, scope=event.scope, pc=event.pc, mask=mask)
            return [access, fence] if event.kind == EventKind.LOAD else [fence, access]
        return [access]

    def _lane(self, event: Event, lane: int, address: int) -> Lane:
        rng = self._rng
        value = rng.randrange(2)
        if event.kind == EventKind.STORE:
            return Lane(lane, address, value)
        if event.kind != EventKind.ATOMIC or event.op == AtomicOp.OTHER:
            return Lane(lane, address)
        if event.op == AtomicOp.EXCH:
            return Lane(lane, address, value)
        return Lane(lane, address, rng.choice([1, 1, 0]), 0, rng.random() < 0.8)

    def _some(self, mask: int) -> int:
        """The mask, or a few of its lanes."""
        few = mask & self._rng.choice([0b1, 0b1, 0b10, 0b101, _ALL])
        return few or mask

    def _branch(self, warp: _Warp) -> list[Event]:
        rng = self._rng
        kind = rng.choice([EventKind.IF, EventKind.IF, EventKind.FI, EventKind.FI, EventKind.EXIT])
        if kind == EventKind.EXIT:
            gone = self._some(warp.active) if rng.random() < 0.4 else 0
            if not gone:
                return []
            warp.live &= ~gone
            warp.active &= ~gone
            return [Event(kind, **warp.ids, pc=0x3_0000, mask=gone)]
        if kind == EventKind.IF:
            first = self._some(warp.active)
            if not warp.active & ~first:
                return []
            warp.stack.append((warp.active & ~first, warp.active))
            warp.active = first
            return [Event(kind, **warp.ids, pc=0x3_0008, mask=first)]
        if not warp.stack:
            return []
        waiting, whole = warp.stack.pop()
        if waiting:
            warp.stack.append((0, whole))
            warp.active = waiting
            return [Event(EventKind.ELSE, **warp.ids, pc=0x3_0010, mask=waiting)]
        warp.active = whole & warp.live
        return [Event(EventKind.FI, **warp.ids, pc=0x3_0018, mask=warp.active or whole)]
