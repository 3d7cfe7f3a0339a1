"""Emitter of Python code for operands and results of instructions.

In the code ``w`` is the warp, ``r`` the row views of its frame, ``s`` its special registers,
``y`` the addresses of module variables, ``m`` the row of active lanes (in the variant for warps
that have only some).  Everything else is a constant of the program, bound to a name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from racetrap.golden_model.events import WARP_SIZE, EventScope, MemoryOrder
from racetrap.sim.gpu.executor.arithmetic.errors import UnknownInstruction
from racetrap.sim.gpu.executor.arithmetic.scalars import scalar, unsigned, wider
from racetrap.sim.gpu.executor.codegen.access_modes import alone
from racetrap.sim.gpu.executor.codegen.layout import ProgramLayout
from racetrap.sim.gpu.executor.codegen.row_table import RowTable
from racetrap.sim.gpu.executor.machine.lane_moves import ADDRESS, NARROW_ADDRESS
from racetrap.sim.gpu.executor.machine.program_counters import event_pc
from racetrap.sim.gpu.executor.machine.special_registers import CLOCKS
from racetrap.sim.gpu.ptx.module import (
    Address,
    Function,
    Immediate,
    Instruction,
    Negated,
    Operand,
    Register,
    Special,
    Symbol,
)

Lines = list[str]

#: Spaces whose addresses have 32 bits: sums wrap there, and of a wider register the low half
#: counts.  ptxas takes no 32-bit register as an address of others.
_NARROW_SPACES = frozenset({"shared", "shared::cluster", "local", "const", "param"})
#: Register of which nothing is kept.
_SINK = "_"


def _constant(value: int | float, dtype: np.dtype) -> np.ndarray:
    """A row of one value; a float in an integer type gives its bits."""
    if isinstance(value, float) and dtype.kind != "f":
        bits = np.full(WARP_SIZE, value, f"f{max(dtype.itemsize, 2)}")
        row = bits.view(dtype) if dtype.itemsize > 1 else bits.astype(dtype)
    elif dtype.kind in "fb":
        row = np.full(WARP_SIZE, value, dtype)
    else:
        size = 8 * dtype.itemsize
        row = np.full(WARP_SIZE, int(value) & (1 << size) - 1, unsigned(dtype)).view(dtype)
    row.flags.writeable = False
    return row


class Emitter:
    """Code of one function in one variant.

    Parameters
    ----------
    function : Function
        The function.
    table : RowTable
        Numbers its row views; shared by both variants.
    layout : ProgramLayout
        Where variables are and what the program binds.
    masked : bool
        Whether code must spare lanes that are not active.
    weak : bool
        Whether accesses and fences go to a weak memory.
    clustered : bool
        Whether a launch has clusters of several blocks, so that an address in shared memory says
        whose it is.
    """

    def __init__(
        self, function: Function, table: RowTable, layout: ProgramLayout, masked: bool,
        weak: bool = False, clustered: bool = False,
    ):  # fmt: skip
        self.function = function
        self.table = table
        self.layout = layout
        self.masked, self.weak, self.clustered = masked, weak, clustered
        #: Instructions of the basic block before the one whose code is being made.
        self.position = 0

    def bind(self, value: Any, key: Any = None) -> str:
        """Name of a constant of the program; equal keys share one."""
        return self.layout.bind(value, key)

    def constant(self, value: int | float, dtype: np.dtype) -> str:
        """Name of a row that holds one value."""
        row = _constant(value, dtype)
        return self.bind(row, ("row", dtype.str, row.tobytes()))

    # Sources

    def source(self, operand: Operand, dtype: np.dtype) -> str:
        """Code of a row of values of a type.

        Raises
        ------
        UnknownInstruction
            If the operand cannot be one.
        """
        match operand:
            case Register():
                self._check_width(operand, dtype)
                return self.table.register(operand, dtype)
            case Negated():
                return f"~{self.table.register(operand.register, dtype)}"
            case Immediate():
                return self.constant(operand.value, dtype)
            case Special():
                return self._special(operand.name, dtype)
            case Symbol():
                return self._address_of(operand.name, 0, dtype)
            case Address(Symbol(name), offset):
                return self._address_of(name, offset, dtype)
        raise UnknownInstruction(f"Operand must be a value, not {operand}")

    def _check_width(self, register: Register, dtype: np.dtype) -> None:
        held = scalar(register.type).dtype
        if held.itemsize < dtype.itemsize or (held == np.bool_) != (dtype == np.bool_):
            raise UnknownInstruction(
                f"Register {register.name} of type {register.type} does not hold "
                f"values of {8 * dtype.itemsize} bits"
            )

    def _special(self, name: str, dtype: np.dtype) -> str:
        if name in CLOCKS:
            clock = self.bind(CLOCKS[name], ("clock", name))
            return f"{clock}(w, {self.position}).astype({self.type(dtype)})"
        code = f"s[{self.layout.special(name)}]"
        return code if dtype == np.uint32 else f"{code}.astype({self.type(dtype)})"

    def type(self, dtype: np.dtype) -> str:
        """Name of a NumPy type."""
        return self.bind(dtype, ("type", dtype.str))

    def _address_of(self, name: str, offset: int, dtype: np.dtype) -> str:
        """Code of the address of a function, or of a variable in the space that it is in, in a
        type."""
        if (address := self.layout.function_address(name)) is not None:
            return self.constant(address, dtype)
        space = self.space_of(name)
        if space in ("global", "const"):
            code = f"y[{self.layout.symbol(name)}]"
            if offset:
                code = f"({code} + {self.constant(offset, ADDRESS)})"
        elif space == "local":
            code = f"local_address(w, {self.layout.local_offset(self.function, name) + offset})"
        else:
            code = self.constant(self.layout.offset(self.function, name) + offset, dtype)
            return f"({code} + w.block.window)" if self.clustered and space == "shared" else code
        return code if dtype == ADDRESS else f"{code}.astype({self.type(dtype)})"

    def space_of(self, name: str) -> str:
        """State space of a variable."""
        return self.layout.variable(self.function, name).space

    def base(self, address: Operand, space: str) -> tuple[str, int]:
        """Code of the row of base addresses of a memory operand in a space, and the offset to
        add."""
        row, offset, dtype = self.own_base(address, space)
        if dtype == NARROW_ADDRESS and offset:
            row, offset = f"({row} + {self.constant(offset, dtype)})", 0
        return (row if dtype == ADDRESS else f"{row}.astype({self.type(ADDRESS)})"), offset

    def own_base(self, address: Operand, space: str) -> tuple[str, int, np.dtype]:
        """The same with addresses of the type that they are computed in."""
        if not isinstance(address, Address):
            raise UnknownInstruction(f"Memory operand must be an address, not {address}")
        base, offset = address.base, address.offset
        if base is None:
            return self.constant(0, ADDRESS), offset, ADDRESS
        if isinstance(base, Symbol):
            if self.space_of(base.name) in ("global", "const"):
                return self._address_of(base.name, 0, ADDRESS), offset, ADDRESS
            return self._address_of(base.name, offset, ADDRESS), 0, ADDRESS
        size = scalar(base.type).dtype.itemsize
        dtype: np.dtype = ADDRESS
        if space in _NARROW_SPACES:
            size, dtype = min(size, NARROW_ADDRESS.itemsize), NARROW_ADDRESS
        if size == dtype.itemsize:
            return self.table.register(base, dtype), offset, dtype
        row = self.table.register(base, np.dtype(f"u{size}"))
        return f"{row}.astype({self.type(dtype)})", offset, dtype

    def memory(self, space: str) -> str:
        """The state space among ``SPACES`` that an instruction's is in this launch."""
        if not space.startswith("shared"):
            return space
        if not self.clustered:
            return "shared"
        return "shared::cta" if space == "shared" else space

    def scope(self, scope: EventScope) -> EventScope:
        """The scope that an instruction's is in this launch."""
        return scope if self.clustered else alone(scope)

    # Results

    def target(self, operand: Operand, dtype: np.dtype) -> str | None:
        """Code of the row that takes results of a type; ``None`` if they are thrown away.

        A wider register takes them extended.
        """
        if not isinstance(operand, Register):
            raise UnknownInstruction(f"Destination must be a register, not {operand}")
        if operand.name == _SINK:
            return None
        held = scalar(operand.type).dtype
        if held.itemsize > dtype.itemsize and dtype.kind in "iu":
            dtype = wider(dtype, held.itemsize)
        self._check_width(operand, dtype)
        return self.table.register(operand, dtype)

    def assign(self, target: str | None, value: str, lanes: str | None) -> Lines:
        """Code that puts a value into a row, in some lanes or (``None``) in all."""
        if target is None:
            return []
        if lanes is None:
            return [f"{target}[...] = {value}"]
        return [f"copyto({target}, {value}, 'unsafe', {lanes})"]

    def assign_call(
        self, call: str, results: Sequence[tuple[Operand, np.dtype]], lanes: str | None
    ) -> Lines:
        """Code that puts what a call returns, one value or a pair, into destinations."""
        targets = [self.target(operand, dtype) for operand, dtype in results]
        if len(targets) == 1:
            return self.assign(targets[0], call, lanes)
        first, second = targets
        return [f"v, q = {call}", *self.assign(first, "v", lanes), *self.assign(second, "q", lanes)]

    def assign_guarded(
        self, instruction: Instruction, *results: tuple[Operand, np.dtype, str]
    ) -> Lines:
        """Code that puts values into destinations, in the lanes where the guard holds."""
        lines, lanes = self.lane_guard(instruction)
        for operand, dtype, value in results:
            lines += self.assign(self.target(operand, dtype), value, lanes)
        return lines

    # Guards

    @property
    def active_lanes(self) -> str | None:
        """Name of the row of active lanes; ``None`` if all are."""
        return "m" if self.masked else None

    def _guard(self, instruction: Instruction) -> tuple[str, str]:
        """Sign and row of the guard."""
        assert instruction.guard is not None
        row = self.table.register(instruction.guard, np.dtype(bool))
        return "~" if instruction.guard_negated else "", row

    def lane_guard(self, instruction: Instruction) -> tuple[Lines, str | None]:
        """Code that finds the row of lanes in which an instruction takes effect, and its name."""
        if instruction.guard is None:
            return [], self.active_lanes
        sign, row = self._guard(instruction)
        return [f"g = {sign}{row} & m" if self.masked else f"g = {sign}{row}"], "g"

    def mask_guard(self, instruction: Instruction) -> tuple[Lines, str]:
        """The same as a mask, of active lanes only."""
        if instruction.guard is None:
            return [], "w.mask"
        sign, row = self._guard(instruction)
        return [f"g = w.mask & {sign}mask_of({row})"], "g"

    def fence_call(
        self, instruction: Instruction, scope: EventScope, order: MemoryOrder, mask: str = "{mask}"
    ) -> str:
        """Code of a call that logs a fence by lanes."""
        place = event_pc(instruction.index)
        return f"w.log.fence(w, {place}, {mask}, {int(scope)}, {int(order)})"

    def when_any(self, instruction: Instruction, call: str) -> Lines:
        """Code that makes a call with the mask ``{mask}``, unless no lane is active."""
        lines, mask = self.mask_guard(instruction)
        code = call.format(mask=mask)
        return [*lines, code] if mask == "w.mask" else [*lines, f"if g: {code}"]
