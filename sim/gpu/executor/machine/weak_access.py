"""Loads, stores and atomics that go to a weak memory, lane by lane.

Ref: PTX ISA 9.0, Sections 8.4 (Operation types), 9.7.9.8 (ld), 9.7.9.11 (st), 9.7.13.5 (atom).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from racetrap.golden_model.events import ALL_LANES, AtomicOp, lanes_of
from racetrap.golden_model.ptx_memory_model import Location
from racetrap.golden_model.ptx_memory_model.operational import Pending
from racetrap.sim.gpu.executor.arithmetic.scalars import unsigned
from racetrap.sim.gpu.executor.machine.access import Access, AccessMode, Load, Site, Store
from racetrap.sim.gpu.executor.machine.atomics import Atomic
from racetrap.sim.gpu.executor.machine.lanes import row_of
from racetrap.sim.gpu.executor.machine.weak_memory import WORD_BITS
from racetrap.sim.gpu.ptx.module import Register, registers_of

if TYPE_CHECKING:
    from racetrap.sim.gpu.executor.machine.warp import Warp


def _words(addresses: list[int], size: int) -> list[int]:
    """Words that accesses of ``size`` bytes touch."""
    if size <= 4:
        return [address >> WORD_BITS for address in addresses]
    return [address + offset >> WORD_BITS for offset in range(0, size, 4) for address in addresses]


class LateRow(NamedTuple):
    """A register that waits for values of some lanes.

    Parameters
    ----------
    register : str
        Its name.
    row : numpy.ndarray
        Its values.
    dtype : numpy.dtype
        Type of what is loaded.
    lanes : list of (int, Pending)
        Lanes, and their values.
    """

    register: str
    row: np.ndarray
    dtype: np.dtype
    lanes: list[tuple[int, Pending]]

    @property
    def mask(self) -> int:
        """The lanes."""
        return sum(1 << lane for lane, _ in self.lanes)

    @property
    def is_stored(self) -> bool:
        """Whether memory takes all values once they are settled."""
        return all(value.is_stored for _, value in self.lanes)

    def settle(self) -> None:
        """Settle the values."""
        for lane, value in self.lanes:
            bits = np.array([value.settle()], unsigned(self.dtype))
            self.row[lane : lane + 1] = bits.view(self.dtype)


class WeakLoad(Load):
    """``ld``: the model says what each lane reads, or that it is settled when it is needed."""

    def __init__(self, site: Site, mode: AccessMode, space: str):
        super().__init__(site, mode, space)
        destination = site.instruction.operands[0]
        #: What may wait for its value: one register, and not that of the address.
        self._register = ""
        if isinstance(destination, Register) and destination.name not in registers_of(
            site.instruction.operands[1]
        ):
            self._register = destination.name

    def __call__(self, warp: Warp, mask: int, base: np.ndarray, *rows: np.ndarray) -> None:
        weak = warp.launch.weak
        assert weak is not None
        start = weak.begin(warp, mask, self)
        address = self.addresses(mask, base)
        first = (address + start).tolist()
        if weak.words.isdisjoint(_words(first, self.size)):
            weak.touched(warp, mask, first, self.size)
            super().__call__(warp, mask, base, *rows)
            return
        self.space(self, warp, mask, address)
        self.log(warp, mask, address)
        strength, lanes = weak.strength(self), lanes_of(mask)
        threads = [weak.thread(warp, lane) for lane in lanes]
        active, width = row_of(mask), self.dtype.itemsize
        load, register = weak.model.load, self._register
        for element, row in enumerate(rows):
            # Lanes of one thread that load the same word share a value that is late.
            waiting: dict[tuple[int, int], Pending] = {}
            values: list[int | Pending] = []
            for owner in zip(threads, first, strict=True):
                value: int | Pending | None = waiting.get(owner)
                if value is None:
                    location = Location(owner[1] + element * width, width)
                    value = load(owner[0], location, strength, bool(register))
                    if isinstance(value, Pending):
                        waiting[owner] = value
                values.append(value)
            late = [
                (lane, value)
                for lane, value in zip(lanes, values, strict=True)
                if isinstance(value, Pending)
            ]
            if late:
                warp.late.append(LateRow(register, row, self.dtype, late))
                values = [0 if isinstance(value, Pending) else value for value in values]
            row[active] = np.array(values, unsigned(self.dtype)).view(self.dtype)
        if self.strong:
            warp.polled = True


class WeakStore(Store):
    """``st``: lanes in descending order, so that the first one's value stays.  A value that is not
    settled yet is logged as 0."""

    def __init__(self, site: Site, mode: AccessMode, space: str):
        super().__init__(site, mode, space)
        source = site.instruction.operands[1]
        #: The register whose values may be settled later.
        self._register = source.name if isinstance(source, Register) else ""

    def _late(self, warp: Warp) -> dict[int, Pending]:
        """Values that are not settled, by lane; those of another size are settled."""
        rows = [row for row in warp.late if row.register == self._register]
        if any(row.dtype.itemsize != self.size for row in rows):
            warp.settle(frozenset((self._register,)))
            return {}
        return {lane: value for row in rows for lane, value in row.lanes}

    def __call__(self, warp: Warp, mask: int, base: np.ndarray, *rows: np.ndarray) -> None:
        weak = warp.launch.weak
        assert weak is not None
        start = weak.begin(warp, mask, self)
        late = self._late(warp) if warp.late else {}
        address = self.addresses(mask, base)
        if mask != ALL_LANES:
            active = row_of(mask)
            rows = tuple(row[active] for row in rows)
        self.space(self, warp, mask, address)
        first = (address + start).tolist()
        weak.words.update(_words(first, self.size))
        strength, width = weak.strength(self), self.dtype.itemsize
        lanes = lanes_of(mask)
        threads = [weak.thread(warp, lane) for lane in lanes]
        store = weak.model.store
        for element, row in enumerate(rows):
            numbers: list[int | Pending] = row.tolist()
            if late:
                numbers = [
                    late.get(lane, number) for lane, number in zip(lanes, numbers, strict=True)
                ]
            # Of lanes of one thread that store to the same address the first one wins.
            stores = [*zip(zip(threads, first, strict=True), numbers, strict=True)]
            values = dict(reversed(stores))
            for (thread, place), value in values.items():
                store(thread, Location(place + element * width, width), value, strength)
        self.log_values(warp, mask, address, rows)


class WeakAtomic(Atomic):
    """``atom`` and ``red``: lanes in ascending order."""

    def __call__(
        self, warp: Warp, mask: int, base: np.ndarray, result: np.ndarray | None, *rows: np.ndarray
    ) -> None:
        weak = warp.launch.weak
        assert weak is not None
        start = weak.begin(warp, mask, self)
        address = self.addresses(mask, base)
        active = row_of(mask)
        operands = [row if mask == ALL_LANES else row[active] for row in rows]
        self.space(self, warp, mask, address)
        first = (address + start).tolist()
        weak.words.update(_words(first, self.size))
        strength, atomic = weak.strength(self), weak.model.atomic
        olds = [
            atomic(
                weak.thread(warp, lane), Location(place, self.size), self._updating(values),
                strength, result is not None,
            )
            for lane, place, *values in zip(
                lanes_of(mask), first, *(row.tolist() for row in operands), strict=True
            )
        ]  # fmt: skip
        old = np.array(olds, self._bits).view(self.dtype)
        self._log(warp, mask, address, old, operands)
        if result is not None:
            result[active] = old
        warp.polled = True

    def _updating(self, values: list[Any]) -> Callable[[int], int | None]:
        """From the bits before to those behind, or ``None`` if a CAS fails."""
        if self.op == AtomicOp.CAS:
            expected, new = np.array(values, self.dtype).view(self._bits).tolist()
            return lambda bits: new if bits == expected else None

        def update(bits: int) -> int:
            old = np.array([bits], self._bits).view(self.dtype)[0].item()
            new = np.array([self._wrap(self._function(old, *values))], self.dtype)
            return int(new.view(self._bits)[0])

        return update


#: In whose place each of them stands.
WEAK_FORMS: dict[type[Access], type[Access]] = {
    Load: WeakLoad, Store: WeakStore, Atomic: WeakAtomic,
}  # fmt: skip
