"""Traces for the race oracles, written one warp instruction after the other."""

from dataclasses import replace
from typing import Any

from racetrap.golden_model.events import AtomicOp, Event, EventKind, Lane, Scope, Space
from racetrap.golden_model.trace import Trace
from tests.support.oracle.random_traces import HEADER

BLOCK, DEVICE = Scope.BLOCK, Scope.DEVICE
ALL = (1 << 32) - 1


class Program:
    """A kernel of a few blocks; a warp is named by its block and its number in the block.

    Each instruction has a PC of its own, unless one is given.

    Parameters
    ----------
    blocks, warps : int
        Blocks, and warps of each.
    live : int
        Threads of the last warp of each block.
    """

    def __init__(self, blocks: int = 2, warps: int = 2, live: int = ALL) -> None:
        self._shape = blocks, warps, live
        self._events: list[Event] = []
        self._pc = 0x1000
        self._begin()

    def _begin(self) -> None:
        blocks, warps, live = self._shape
        self._running = set(range(blocks))
        self._events.append(Event(EventKind.KERNEL_BEGIN))
        for block in range(blocks):
            self._events.append(
                Event(
                    EventKind.BLOCK_PLACED, block % 2, block // 2, block // 2 * warps,
                    warp_count=warps, grid_block=block, mask=live,
                )
            )  # fmt: skip

    def _end(self) -> None:
        for block in sorted(self._running):
            self._events.append(Event(EventKind.BLOCK_RETIRED, block % 2, block // 2))
        self._events.append(Event(EventKind.KERNEL_END))

    def end_block(self, block: int) -> None:
        """A block ends before the others."""
        self._running.remove(block)
        self._events.append(Event(EventKind.BLOCK_RETIRED, block % 2, block // 2))

    def next_kernel(self) -> None:
        """End the kernel and launch another."""
        self._end()
        self._begin()

    @property
    def trace(self) -> Trace:
        """Trace of all that was written so far."""
        events = list(self._events)
        self._end()
        whole, self._events = self._events, events
        slots = (self._shape[0] + 1) // 2
        room = replace(
            HEADER.geometry, blocks_per_sm=max(slots, HEADER.geometry.blocks_per_sm),
            warps_per_sm=max(slots * self._shape[1], HEADER.geometry.warps_per_sm),
        )  # fmt: skip
        return Trace.from_events(replace(HEADER, geometry=room), whole)

    def _add(self, kind: EventKind, where: tuple[int, int], **fields: Any) -> int:
        block, warp = where
        pc = fields.pop("pc", None) or self._pc
        self._pc += 8
        first_warp = block // 2 * self._shape[1]
        self._events.append(
            Event(kind, sm=block % 2, slot=block // 2, warp=first_warp + warp, pc=pc, **fields)
        )
        return pc

    def _access(
        self, kind: EventKind, where: tuple[int, int], address: int, lanes: int, stride: int,
        values: tuple[int, ...], **fields: Any,
    ) -> int:  # fmt: skip
        success, compare = fields.pop("success", False), fields.pop("compare", 0)
        numbers = [lane for lane in range(32) if lanes >> lane & 1]
        records = tuple(
            Lane(lane, address + stride * place, values[place % len(values)], compare, success)
            for place, lane in enumerate(numbers)
        )
        fields = {"size": 4, **fields}
        return self._add(kind, where, lanes=records, **fields)

    def load(self, where, address, lanes=1, stride=0, scope=DEVICE, **fields) -> int:
        """Strong load."""
        return self._access(
            EventKind.LOAD, where, address, lanes, stride, (0,), strong=True, scope=scope, **fields
        )

    def store(self, where, address, lanes=1, stride=0, values=(1,), scope=DEVICE, **fields) -> int:
        """Strong store."""
        return self._access(
            EventKind.STORE, where, address, lanes, stride, values, strong=True, scope=scope,
            **fields,
        )  # fmt: skip

    def weak_load(self, where, address, lanes=1, stride=0, **fields) -> int:
        """Plain load."""
        return self._access(EventKind.LOAD, where, address, lanes, stride, (0,), **fields)

    def weak_store(self, where, address, lanes=1, stride=0, values=(1,), **fields) -> int:
        """Plain store."""
        return self._access(EventKind.STORE, where, address, lanes, stride, values, **fields)

    def atomic(self, where, address, scope=DEVICE, op=AtomicOp.OTHER, lanes=1, **fields) -> int:
        """Atomic."""
        value = fields.pop("value", 0)
        return self._access(
            EventKind.ATOMIC, where, address, lanes, 0, (value,), strong=True, scope=scope, op=op,
            **fields,
        )  # fmt: skip

    def take(self, where, address, scope=DEVICE, fence=None, lanes=1, success=True) -> int:
        """CAS from 0 to 1, with a fence behind it if one is given."""
        pc = self.atomic(where, address, scope, AtomicOp.CAS, lanes, value=1, success=success)
        if fence is not None:
            self.fence(where, fence, lanes)
        return pc

    def free(self, where, address, scope=DEVICE, fence=None, lanes=1) -> int:
        """Exchange to 0, with a fence before it if one is given."""
        if fence is not None:
            self.fence(where, fence, lanes)
        return self.atomic(where, address, scope, AtomicOp.EXCH, lanes)

    def fence(self, where, scope, lanes=1, **fields) -> int:
        """Memory fence."""
        return self._add(EventKind.FENCE, where, scope=scope, mask=lanes, **fields)

    def barrier(self, block: int) -> int:
        """Barrier of a block."""
        pc = self._pc
        self._pc += 8
        self._events.append(Event(EventKind.BARRIER, block % 2, block // 2, pc=pc))
        return pc

    def branch(self, where, lanes) -> None:
        """The lanes go one way, the others the other way after them."""
        self._add(EventKind.IF, where, mask=lanes)

    def other_side(self, where, lanes) -> None:
        """The other lanes go now."""
        self._add(EventKind.ELSE, where, mask=lanes)

    def together(self, where, lanes) -> None:
        """Both sides are together again."""
        self._add(EventKind.FI, where, mask=lanes)

    def leave(self, where, lanes) -> None:
        """Lanes end."""
        self._add(EventKind.EXIT, where, mask=lanes)


SHARED = {"space": Space.SHARED}
