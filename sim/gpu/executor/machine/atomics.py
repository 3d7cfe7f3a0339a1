"""Atomics of whole warps: lanes in ascending order, each complete before the next.

Ref: PTX ISA 9.0, Sections 9.7.13.5 (atom) and 9.7.13.7 (red).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from racetrap.golden_model.events import ALL_LANES, ATOMIC_SIZES, AtomicOp, EventKind
from racetrap.sim.gpu.executor.arithmetic.errors import UnknownInstruction
from racetrap.sim.gpu.executor.arithmetic.scalars import unsigned
from racetrap.sim.gpu.executor.machine.access import Access, AccessMode, Site
from racetrap.sim.gpu.executor.machine.lanes import mask_of, row_of
from racetrap.sim.gpu.executor.machine.mbarriers import MBARRIER_OPERATIONS

if TYPE_CHECKING:
    from racetrap.sim.gpu.executor.machine.warp import Warp


def _add_pairs(old: int, operand: int) -> int:
    words = np.array((old, operand), np.uint32)
    first, second = words.view(np.float16).reshape(2, 2)
    return int((first + second).view(np.uint32)[0])


#: From the old value and the operand (for CAS: expected value, then new value) to the new one,
#: as Python numbers; the caller wraps them.
ATOMIC_OPERATIONS: dict[str, Callable[..., Any]] = {
    **MBARRIER_OPERATIONS,
    "add": lambda old, operand: old + operand,
    "add.f16x2": _add_pairs,
    "min": min,
    "max": max,
    "inc": lambda old, limit: 0 if old >= limit else old + 1,
    "dec": lambda old, limit: limit if old == 0 or old > limit else old - 1,
    "and": lambda old, operand: old & operand,
    "or": lambda old, operand: old | operand,
    "xor": lambda old, operand: old ^ operand,
    "exch": lambda old, operand: operand,
    "cas": lambda old, expected, new: new if old == expected else old,
}
_CODES = {"cas": AtomicOp.CAS, "exch": AtomicOp.EXCH}
_FLOAT_OPERATIONS = ("add",)


def _wrap(dtype: np.dtype) -> Callable[[Any], Any]:
    """The Python number that a cell of the type holds afterwards."""
    if dtype.kind == "f":
        # The sum of two f32 in f64 rounds to f32 as the exact sum would.
        return lambda value: dtype.type(value).item()
    modulus = 1 << 8 * dtype.itemsize
    if dtype.kind == "u":
        return lambda value: value & modulus - 1
    half = modulus // 2
    return lambda value: (value + half & modulus - 1) - half


class Atomic(Access):
    """``atom`` and ``red``; called with the row for the old values (or none) and the operands."""

    kind = EventKind.ATOMIC

    def __init__(self, site: Site, mode: AccessMode, space: str):
        super().__init__(site, mode, space)
        if (self.dtype.kind == "f" and mode.operation not in _FLOAT_OPERATIONS) or (
            self.dtype.itemsize not in ATOMIC_SIZES
        ):
            raise UnknownInstruction(f"Atomic {site.instruction.name} is not supported")
        self.op = _CODES.get(mode.operation, AtomicOp.OTHER)
        self._function = ATOMIC_OPERATIONS[mode.operation]
        self._wrap = _wrap(self.dtype)
        self._bits = unsigned(self.dtype)

    def __call__(
        self, warp: Warp, mask: int, base: np.ndarray, result: np.ndarray | None, *rows: np.ndarray
    ) -> None:
        address = self.addresses(mask, base)
        active = row_of(mask)
        operands = [row if mask == ALL_LANES else row[active] for row in rows]
        views, place = self.space(self, warp, mask, address)
        memory, index = views[self.dtype], place >> self.shift
        old, changed = self._update(warp, memory, index, operands)
        if changed:
            warp.polls.changed = True
            if warp.launch.sleepers:
                warp.launch.sleepers.written(self.block_of(warp), address, self.size)
        elif warp.polls.reads is not None:
            warp.polls.read(memory, index, self.block_of(warp), address, self.size)
        # Logged first: the result may overwrite the register that the address is in.
        if self.logged:
            self._log(warp, mask, address, old, operands)
        if result is not None:
            result[active] = old
        warp.polled = True

    def _update(
        self, warp: Warp, memory: np.ndarray, index: np.ndarray, operands: list[np.ndarray]
    ) -> tuple[np.ndarray, bool]:
        """Update memory lane by lane; the old value that each lane saw, and whether any is now
        another."""
        places = index.tolist()
        before = dict(zip(places, memory[index].tolist(), strict=True))
        cells = dict(before)
        function, wrap = self._function, self._wrap
        olds = []
        for place, *values in zip(places, *(row.tolist() for row in operands), strict=True):
            old = cells[place]
            olds.append(old)
            cells[place] = wrap(function(old, *values))
        memory[list(cells)] = list(cells.values())
        changed = cells != before
        if changed and warp.launch.watching:
            warp.launch.progress = True
        return np.array(olds, self.dtype), changed

    def _log(
        self, warp: Warp, mask: int, address: np.ndarray, old: np.ndarray,
        operands: list[np.ndarray],
    ) -> None:  # fmt: skip
        if warp.copies.pending:
            warp.copies.check(warp, self, mask, address)
        records = self.records[: len(address)]
        records[:, 0] = address
        success = 0
        if self.op == AtomicOp.EXCH:
            records[:, 1] = operands[0].view(self._bits)
        elif self.op == AtomicOp.CAS:
            expected, new = (row.view(self._bits) for row in operands)
            records[:, 1], records[:, 2] = new, expected
            hits = row_of(mask).copy()
            hits[hits] = old.view(self._bits) == expected
            success = mask_of(hits)
        warp.log.access(warp, self, mask, success, records)
