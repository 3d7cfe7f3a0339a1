"""Warp: its active lanes, its registers and its program counter.

Base of the two ways of scheduling the lanes of a warp, `lockstep` and `independent`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from ctypes import addressof
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racetrap.golden_model.events import WARP_SIZE, EventKind, lanes_of
from racetrap.sim.gpu.executor.machine.async_copies import AsyncCopies
from racetrap.sim.gpu.executor.machine.errors import Fault, KernelFault
from racetrap.sim.gpu.executor.machine.faults import thread_name
from racetrap.sim.gpu.executor.machine.frame import Frame
from racetrap.sim.gpu.executor.machine.lane_moves import WarpRow, address_of, numbers_of
from racetrap.sim.gpu.executor.machine.lanes import Parts, row_of
from racetrap.sim.gpu.executor.machine.memory import Views
from racetrap.sim.gpu.executor.machine.sleepers import Polls

if TYPE_CHECKING:
    from racetrap.sim.gpu.executor.machine.launch import Launch
    from racetrap.sim.gpu.executor.machine.program import CallSite
    from racetrap.sim.gpu.executor.machine.thread_block import ThreadBlock
    from racetrap.sim.gpu.executor.machine.weak_access import LateRow


#: Status after a basic block, besides ``None``, when the warp just continues: other warps should go
#: first; it cannot go on; it has ended; nothing was run, since other lanes of it go first.
YIELD, BLOCKED, ENDED, NOT_RUN = 1, 2, 3, 4

_DEEPEST_CALL = 256


class WarpPosition(NamedTuple):
    """Lanes of a warp that are at one instruction.

    Parameters
    ----------
    pc : int
        The instruction, as program counter in traces.
    mask : int
        The lanes.
    waits_for : str
        What they wait for; empty if they can run.
    """

    pc: int
    mask: int
    waits_for: str


class Warp(ABC):
    """One warp of a placed block.

    Parameters
    ----------
    block : ThreadBlock
        Its block.
    index : int
        Number in the block.
    number : int
        Warp slot in the SM.
    mask : int
        Lanes that exist.
    special : list of numpy.ndarray
        Rows of the special registers that the program reads.
    """

    # More than an object's dictionary shares with others of its class.
    __slots__ = (
        "active_row", "age", "alive", "block", "blocked", "bounds", "copies", "cursor", "frame",
        "heap", "index", "late", "launch", "local", "local_size", "log", "mask", "number",
        "numbers", "pc", "polled", "polls", "row", "rows", "slot", "sm", "special", "symbols",
        "table", "width",
    )  # fmt: skip

    def __init__(
        self, block: ThreadBlock, index: int, number: int, mask: int, special: list[np.ndarray]
    ):
        self.block = block
        launch = block.launch
        self.launch: Launch = launch
        self.index, self.number = index, number
        self.sm, self.slot = block.sm, block.slot
        self.log, self.heap = launch.log, launch.heap
        self.bounds, self.symbols, self.special = launch.bounds, launch.symbols, special
        #: What loops of loads and stores need to know of it.
        self.row, self.numbers = numbers_of(WarpRow)
        self.cursor = self.log.cursor
        self._fill_row()
        self.alive = mask
        self.set_mask(mask)
        #: Number among all warps of the launch, in the order of placement.
        self.age = 0
        #: Whether an atomic or a strong load was run since the warp last let others go first.
        self.polled = False
        self.polls = Polls()
        self.copies = AsyncCopies()
        #: Whether its last status for the scheduler was ``BLOCKED``.
        self.blocked = False
        #: Registers that a weak memory has not settled yet.
        self.late: list[LateRow] = []
        kernel = launch.program.kernel
        self.local_size = 0
        self.local = Views(np.zeros(0, np.uint8))
        self.frame = launch.new_frame(kernel)
        self.rows = self.frame.rows
        self.pc = kernel.entry
        self._reserve_local(kernel.local_size)

    def _fill_row(self) -> None:
        launch, block, numbers = self.launch, self.block, self.numbers
        numbers.sm, numbers.slot, numbers.number = self.sm, self.slot, self.number
        numbers.heap, numbers.bounds = launch.heap_address, addressof(launch.bounds)
        numbers.shared, numbers.shared_size = block.shared_address, block.shared_size
        numbers.parameters = launch.parameter_address
        numbers.parameter_size = launch.parameter_size
        numbers.log = addressof(self.cursor)

    def set_mask(self, mask: int) -> None:
        """Go on with the lanes of ``mask``.

        Registers of lanes that have ended are of no account, so code need not spare them: a
        warp of which only such lanes are missing runs as fast as a full one.
        """
        self.mask = mask
        self.active_row = row_of(mask)
        self.width = mask.bit_count()
        program = self.launch.program
        self.table = program.full if mask == self.alive else program.masked

    def settle(self, registers: frozenset[str] | None = None) -> None:
        """Settle registers before active lanes read or write them; by default all."""
        left = []
        for row in self.late:
            if row.mask & self.mask and (registers is None or row.register in registers):
                row.settle()
            else:
                left.append(row)
        self.late = left

    # Calls

    def _reserve_local(self, size: int) -> None:
        """Give every thread at least ``size`` bytes of local memory."""
        size = -(-size // 16) * 16
        if size > self.local_size:
            grown = np.zeros((WARP_SIZE, size), np.uint8)
            grown[:, : self.local_size] = self.local.raw.reshape(WARP_SIZE, self.local_size)
            self.local, self.local_size = Views(grown.reshape(-1)), size
            self.numbers.local, self.numbers.local_size = address_of(grown), size

    def _enter_frame(self, frame: Frame) -> None:
        self.frame, self.rows = frame, frame.rows

    def call(self, site: CallSite) -> None:
        """Call a device function with the active lanes."""
        caller, callee = self.frame, site.callee
        frame = self.launch.new_frame(callee)
        frame.depth = caller.depth + 1
        if frame.depth > _DEEPEST_CALL:
            raise self.trapped(site.place, f"Calls nest more than {_DEEPEST_CALL} deep", self.mask)
        frame.caller, frame.site = caller, site
        frame.local_base = caller.local_base + caller.function.local_size
        self._reserve_local(frame.local_base + callee.local_size)
        for argument, parameter in site.arguments:
            frame.parameters[parameter][...] = caller.parameters[argument]
        self._enter_frame(frame)
        self.pc = callee.entry

    def return_to_caller(self) -> None:
        """Return from a device function with the active lanes."""
        frame, site = self.frame, self.frame.site
        caller = frame.caller
        assert caller is not None
        for result, variable in site.results:
            np.copyto(
                caller.parameters[variable],
                frame.parameters[result],
                where=self.active_row[:, None],
            )
        self._enter_frame(caller)
        self.pc = site.following
        self._release_frame(frame)

    @abstractmethod
    def _release_frame(self, frame: Frame) -> None:
        """Lanes have returned from a frame."""

    # Control flow: how lanes diverge and reconverge is up to the kind of warp

    @abstractmethod
    def diverge(self, taken: int, target: int, following: int, point: int, pc: int) -> None:
        """Some active lanes, but not all, branch to ``target``; the others go to ``following``.

        ``point`` is their reconvergence point, ``pc`` the branch in traces.
        """

    @abstractmethod
    def reconverge(self, point: int, pc: int) -> bool:
        """The active lanes are at a reconvergence point; whether other lanes go on now.

        ``pc`` is ``point`` in traces.
        """

    @abstractmethod
    def branch_back(self) -> int | None:
        """The active lanes have taken a backward branch; status for the scheduler."""

    def _let_others_go(self, depth: int) -> int:
        """The warp has polled memory, and is so many open branches deep: others go first, and it
        sleeps if it would but poll again."""
        self.polled = False
        if self.launch.weak is None:
            registers = tuple(bank.tobytes() for bank in self.frame.banks)
            if self.polls.goes_round((self.pc, self.mask, depth, id(self.frame), registers)):
                self.launch.sleepers.add(self)
                return BLOCKED
        return YIELD

    @abstractmethod
    def warp_sync(self, among: Parts, pc: int, together: bool) -> int | None:
        """The active lanes are at an instruction that the members of each part must run at once.

        With ``together`` they must all be at this very instruction, and ``self.pc`` is it;
        otherwise ``self.pc`` is where they go on.  Returns ``None`` when the instruction can be
        run.
        """

    @abstractmethod
    def suspend(self, name: str, pc: int) -> None:
        """The active lanes wait for barrier ``name`` of the block; ``pc`` is the instruction."""

    @abstractmethod
    def release(self, name: str) -> None:
        """Lanes that wait for barrier ``name`` go on."""

    @abstractmethod
    def proceed(self) -> int | None:
        """Go on after `suspend`; status for the scheduler."""

    @abstractmethod
    def has_arrived(self, mask: int) -> bool:
        """Whether a barrier at which the lanes of ``mask`` are counts the warp."""

    @abstractmethod
    def next_lanes(self) -> int:
        """The active lanes have all ended: other lanes go on; status for the scheduler."""

    @abstractmethod
    def positions(self) -> Iterator[WarpPosition]:
        """Positions of all lanes that have not ended."""

    @abstractmethod
    def lanes_ended(self, mask: int) -> None:
        """Lanes have ended: none waits for them any more."""

    def exit(self, mask: int, pc: int) -> int | None:
        """Some or all active lanes end; status for the scheduler."""
        self.copies.complete(self, mask)
        self.log.warp_event(EventKind.EXIT, self, pc, mask)
        self.alive &= ~mask
        self.lanes_ended(mask)
        rest = self.mask & ~mask
        self.set_mask(rest)
        if self.launch.weak is not None:
            # What a store has taken can be settled later still.
            for row in [row for row in self.late if not row.is_stored]:
                row.settle()
                self.late.remove(row)
            self.launch.weak.end(self, mask)
        status = None if rest else self.next_lanes()
        self.block.lanes_ended(self)
        return status

    # Messages

    def trapped(self, place: str, sentence: str, mask: int) -> KernelFault:
        """The error of the first lane in a mask that comes to a trap."""
        who = thread_name(self, lanes_of(mask)[0])
        return KernelFault(Fault.TRAP, f"{place}: {sentence} ({who})")
