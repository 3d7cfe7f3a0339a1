"""Loads and stores of whole warps.

Each memory instruction of a program is one object that is called with the warp, the mask of
its active lanes, the row of base addresses and the rows to load or store.

Ref: PTX ISA 9.0, Sections 9.7.9.8 (ld) and 9.7.9.11 (st).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from racetrap.golden_model.events import (
    ALL_LANES,
    WARP_SIZE,
    AtomicOp,
    EventKind,
    EventScope,
    MemoryOrder,
    Space,
    lanes_of,
)
from racetrap.sim.gpu.executor.arithmetic.scalars import Scalar
from racetrap.sim.gpu.executor.machine.errors import Fault, KernelFault
from racetrap.sim.gpu.executor.machine.lane_moves import (
    ADDRESS,
    NARROW_ADDRESS,
    access_row,
    load_loop,
    store_loop,
)
from racetrap.sim.gpu.executor.machine.lanes import row_of
from racetrap.sim.gpu.executor.machine.memory import LOCAL_WINDOW, SHARED_WINDOW
from racetrap.sim.gpu.executor.machine.spaces import SPACES
from racetrap.sim.gpu.ptx.module import Instruction

if TYPE_CHECKING:
    from racetrap.sim.gpu.executor.machine.warp import Warp


#: Bytes of a lane in one event; wider vectors make several.
_WIDEST_EVENT = 16
_WINDOW_BITS = 32


class Site(NamedTuple):
    """A memory instruction in its program.

    Parameters
    ----------
    instruction : Instruction
        The instruction.
    place : str
        Source line, or line of the PTX, for messages.
    pc : int
        Program counter in traces.
    number : int
        Number among the program's memory instructions.
    offset : int
        Bytes to add to the base address.
    """

    instruction: Instruction
    place: str
    pc: int
    number: int
    offset: int


class AccessMode(NamedTuple):
    """A memory instruction without its operands.

    Parameters
    ----------
    space : str
        State space; ``generic`` if none is named.
    strong : bool
        Whether it takes part in synchronisation.
    scope : EventScope
        Scope of a strong access (BLOCK for weak ones).
    order : MemoryOrder
        Ordering semantics that it names.
    before, after : bool
        Whether it brings a fence before it (release) or after it (acquire).
    elements : int
        Elements of the vector that each lane accesses.
    type : Scalar
        Type of an element.
    operation : str
        What an atomic does; empty for loads and stores.
    """

    space: str
    strong: bool
    scope: EventScope
    order: MemoryOrder
    before: bool
    after: bool
    elements: int
    type: Scalar
    operation: str


class Access:
    """A memory instruction that goes to one state space."""

    kind: EventKind
    op = AtomicOp.CAS
    #: Makes the loop for elements of a type, and their number.
    make_loop: Any = None

    def __init__(self, site: Site, mode: AccessMode, space: str):
        self.instruction, self.place, self.pc, self.number, offset = site
        self.strong = int(mode.strong)
        self.scope, self.order = mode.scope, mode.order
        self.dtype = mode.type.dtype
        self.size = mode.elements * self.dtype.itemsize
        self.low_bits = self.size - 1
        self.event_size = min(self.size, _WIDEST_EVENT)
        self.shift = self.dtype.itemsize.bit_length() - 1
        self.space = SPACES[space]
        is_shared = space.startswith("shared")
        self.logged = is_shared or space == "global"
        self.space_code = Space.SHARED if is_shared else Space.GLOBAL
        # Added in the type of the base, in which it may wrap.
        self.offsets = {
            dtype: np.full(WARP_SIZE, offset).astype(dtype) for dtype in (ADDRESS, NARROW_ADDRESS)
        }
        #: A loop that does it all where nothing stands out, if there is one, and its row.
        self.row = access_row(self, space, offset) if self.make_loop else None
        self.loop: Any = self.make_loop(self.dtype, mode.elements) if self.row is not None else None
        # Lane records of one event, overwritten each time; loads leave the values 0.
        self.records = np.zeros((WARP_SIZE, 3), np.uint64)

    def addresses(self, mask: int, base: np.ndarray) -> np.ndarray:
        """Addresses of the active lanes."""
        address = (base + self.offsets[base.dtype]).astype(ADDRESS, copy=False)
        return address if mask == ALL_LANES else address[row_of(mask)]

    def may_loop(self, warp: Warp, mask: int) -> bool:
        """Whether the loop can be tried with the lanes of ``mask``."""
        if self.row is None or warp.copies.pending or not warp.log.is_whole:
            return False
        warp.numbers.mask = mask
        return True

    def block_of(self, warp: Warp) -> int:
        """First block of the cluster whose shared memory is accessed; -1 for global memory."""
        return warp.block.cluster.first if self.space_code else -1

    def log(self, warp: Warp, mask: int, address: np.ndarray) -> None:
        """Log the event, or several if a lane accesses more bytes than one event holds."""
        if warp.copies.pending:
            warp.copies.check(warp, self, mask, address)
        records = self.records[: len(address)]
        for first in range(0, self.size, _WIDEST_EVENT):
            records[:, 0] = address + first if first else address
            warp.log.access(warp, self, mask, 0, records)


class Load(Access):
    """``ld``: values go to the rows, cut or extended to their types."""

    kind = EventKind.LOAD
    make_loop = staticmethod(load_loop)

    def __call__(self, warp: Warp, mask: int, base: np.ndarray, *rows: np.ndarray) -> None:
        # Elements that are extended go to all lanes.
        if (
            warp.polls.reads is None
            and (mask == ALL_LANES or rows[0].dtype is self.dtype)
            and self.may_loop(warp, mask)
        ):
            self.loop(base, warp.row, self.row, *rows)
            if not warp.cursor.is_refused:
                if self.strong:
                    warp.polled = True
                return
            warp.cursor.is_refused = 0
        address = self.addresses(mask, base)
        try:
            views, place = self.space(self, warp, mask, address)
        except KernelFault as fault:
            self._load_inside(warp, mask, base, rows, fault)
            return
        memory, index = views[self.dtype], place >> self.shift
        # Logged first: a load may overwrite the register that its address is in.
        if self.logged:
            self.log(warp, mask, address)
        if warp.polls.reads is not None and self.logged:
            warp.polls.read(memory, index, self.block_of(warp), address, self.size)
        if mask == ALL_LANES:
            for element, row in enumerate(rows):
                row[...] = memory[index + element if element else index]
        else:
            active = row_of(mask)
            for element, row in enumerate(rows):
                row[active] = memory[index + element if element else index]
        if self.strong:
            warp.polled = True

    def _load_inside(
        self, warp: Warp, mask: int, base: np.ndarray, rows: tuple[np.ndarray, ...],
        fault: KernelFault,
    ) -> None:  # fmt: skip
        """Load for the lanes whose address is in memory; the others get 0, if the launch is to go
        on."""
        if warp.launch.outside is None:
            raise fault
        inside = 0
        for lane in lanes_of(mask):
            try:
                self.space(self, warp, 1 << lane, self.addresses(1 << lane, base))
                inside |= 1 << lane
            except KernelFault as error:
                if error.fault is Fault.MISALIGNED_ADDRESS:
                    raise
        warp.launch.outside.setdefault(self.pc, f"{fault}; it gets 0")
        for row in rows:
            row[row_of(mask & ~inside)] = 0
        if inside:
            self(warp, inside, base, *rows)
        elif self.strong:
            warp.polled = True


class Store(Access):
    """``st``: of lanes that store to the same address the first one wins, as an H100 has it."""

    kind = EventKind.STORE
    make_loop = staticmethod(store_loop)

    def __call__(self, warp: Warp, mask: int, base: np.ndarray, *rows: np.ndarray) -> None:
        launch = warp.launch
        if not (launch.watching or launch.sleepers) and self.may_loop(warp, mask):
            self.loop(base, self.row, *rows, warp.row)
            if not warp.cursor.is_refused:
                warp.polls.changed = True
                return
            warp.cursor.is_refused = 0
        address = self.addresses(mask, base)
        if mask != ALL_LANES:
            active = row_of(mask)
            rows = tuple(row[active] for row in rows)
        views, place = self.space(self, warp, mask, address)
        memory, index = views[self.dtype], place >> self.shift
        for element, row in enumerate(rows):
            cells = index + element if element else index
            if warp.launch.watching and (memory[cells] != row).any():
                warp.launch.progress = True
            # Of equal places the last assignment stays.
            memory[cells[::-1]] = row[::-1]
        warp.polls.changed = True
        if self.logged:
            if warp.launch.sleepers:
                warp.launch.sleepers.written(self.block_of(warp), address, self.size)
            self.log_values(warp, mask, address, rows)

    def log_values(
        self, warp: Warp, mask: int, address: np.ndarray, rows: tuple[np.ndarray, ...]
    ) -> None:
        """Log the event with what each lane stores."""
        if len(rows) == 1:
            self.records[: len(address), 1] = rows[0]
            self.log(warp, mask, address)
        else:
            self._log_vector(warp, mask, address, rows)

    def _log_vector(
        self, warp: Warp, mask: int, address: np.ndarray, rows: tuple[np.ndarray, ...]
    ) -> None:
        """Each lane's elements are one value; of 16 bytes the upper half goes to ``compare``."""
        if warp.copies.pending:
            warp.copies.check(warp, self, mask, address)
        values = np.stack(rows, axis=1)
        words = values.view(f"u{min(self.size, 8)}")
        records = self.records[: len(address)]
        for first in range(0, words.shape[1], 2):
            part = words[:, first : first + 2]
            records[:, 0] = address + 8 * first
            records[:, 1 : 1 + part.shape[1]] = part
            warp.log.access(warp, self, mask, 0, records)


class Generic:
    """A memory instruction whose space depends on each lane's address.

    Lanes that go to different spaces make one access for each, global memory first.

    Parameters
    ----------
    make : callable
        Makes the access of a space.
    """

    def __init__(self, make: Callable[[str], Access]):
        self._global = make("global")
        self._others = {
            SHARED_WINDOW >> _WINDOW_BITS: make("shared::cluster"),
            LOCAL_WINDOW >> _WINDOW_BITS: make("local"),
        }

    def __call__(self, warp: Warp, mask: int, base: np.ndarray, *rows: np.ndarray) -> None:
        windows = self._global.addresses(mask, base) >> _WINDOW_BITS
        if not np.bitwise_or.reduce(windows):
            self._global(warp, mask, base, *rows)  # type: ignore[operator]
            return
        window_row = np.zeros(WARP_SIZE, np.int64)
        window_row[row_of(mask)] = windows
        for window in np.unique(windows).tolist():
            lanes = sum(1 << lane for lane in np.flatnonzero(window_row == window).tolist()) & mask
            # An address in no window is left to global memory, which refuses it.
            access = self._others.get(window, self._global)
            start = window << _WINDOW_BITS if window in self._others else 0
            access(warp, lanes, base - start, *rows)  # type: ignore[operator]
