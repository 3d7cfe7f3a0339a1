"""Layout of a program: places of its variables, and the constants that its code is bound to.

Shared variables of a kernel and of all functions that it calls follow one another in the
block's shared memory; dynamic shared memory comes last.

Ref: PTX ISA 9.0, Sections 5.1.7 (shared) and 5.1.5 (local).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from racetrap.sim.gpu.executor.arithmetic.errors import UnknownInstruction
from racetrap.sim.gpu.executor.machine.program import SharedObject, function_address
from racetrap.sim.gpu.ptx.control_flow import is_indirect_call
from racetrap.sim.gpu.ptx.module import (
    TYPE_BYTES,
    Address,
    CallTarget,
    Function,
    Instruction,
    Module,
    Operand,
    Symbol,
    Variable,
    Vector,
    parameter_layout,
)


def _aligned(end: int, alignment: int) -> int:
    return -(-end // alignment) * alignment


def called_functions(instructions: Iterable[Instruction]) -> list[str]:
    """Names of the functions called, each once."""
    operands = (operand for instruction in instructions for operand in instruction.operands)
    return list(dict.fromkeys(o.name for o in operands if isinstance(o, CallTarget)))


def reachable(module: Module, kernel: str) -> list[Function]:
    """The kernel and all functions that it calls, directly or not, or that it may call by their
    address."""
    names = [kernel]
    for name in names:
        instructions = module.functions[name].instructions
        called = called_functions(instructions)
        named = _symbols(operand for each in instructions for operand in each.operands)
        called += [other for other in named if other in module.functions]
        if any(map(is_indirect_call, instructions)):
            kept = (place for variable in module.variables.values() for place in variable.addresses)
            called += [other for _, other, _ in kept if other in module.functions]
        names += [other for other in dict.fromkeys(called) if other not in names]
    return [module.functions[name] for name in names]


def _symbols(operands: Iterable[Operand]) -> Iterable[str]:
    for operand in operands:
        match operand:
            case Symbol(name):
                yield name
            case Address(base=Symbol(name)):
                yield name
            case Vector():
                yield from _symbols(operand.elements)


class ProgramLayout:
    """Names and places of one kernel with the functions that it calls.

    Parameters
    ----------
    module : Module
        Where they come from.
    functions : list of Function
        The kernel first.
    """

    def __init__(self, module: Module, functions: list[Function]):
        self._module = module
        self.kernel = functions[0]
        self.namespace: dict[str, Any] = {}
        self.symbols: list[str] = []
        self.specials: list[str] = []
        self.has_copies = any(
            each.opcode == "cp" for function in functions for each in function.instructions
        )
        self._names: dict[Any, str] = {}
        self._accesses: list[int] = []
        self._shared: dict[tuple[str, str], int] = {}
        self._local: dict[tuple[str, str], int] = {}
        self.local_sizes = {function.name: self._lay_out_local(function) for function in functions}
        self.static_shared = self._lay_out_shared(functions)
        offsets, self.parameter_size = parameter_layout(self.kernel.parameters)
        names = (parameter.name for parameter in self.kernel.parameters)
        self._parameters = dict(zip(names, offsets, strict=True))

    def _lay_out_local(self, function: Function) -> int:
        end = 0
        for variable in function.variables:
            if variable.space == "local":
                end = _aligned(end, variable.align)
                self._local[function.name, variable.name] = end
                end += variable.size
        return _aligned(end, 16)

    def _lay_out_shared(self, functions: list[Function]) -> int:
        found: dict[tuple[str, str], Variable] = {}
        for function in functions:
            own = {v.name: v for v in function.variables if v.space == "shared"}
            for name in _symbols(o for i in function.instructions for o in i.operands):
                outer = self._module.variables.get(name)
                if name in own:
                    found[function.name, name] = own[name]
                elif outer is not None and outer.space == "shared":
                    found["", name] = outer
        end = 0
        dynamic = {key for key, variable in found.items() if variable.size == 0}
        for key, variable in found.items():
            if key not in dynamic:
                end = _aligned(end, variable.align)
                self._shared[key] = end
                end += variable.size
        # All dynamic arrays begin at the same place.
        end = _aligned(end, max((found[key].align for key in dynamic), default=1))
        self._shared.update(dict.fromkeys(dynamic, end))
        self.shared_objects = tuple(
            SharedObject(key[1], self._shared[key], each.size, TYPE_BYTES.get(each.type, 1))
            for key, each in found.items()
        )
        return end

    def variable(self, function: Function, name: str) -> Variable:
        """The variable that a name means in a function; raises `UnknownInstruction` if none."""
        for group in (function.variables, function.parameters, function.returns):
            for variable in group:
                if variable.name == name:
                    return variable
        if name not in self._module.variables:
            raise UnknownInstruction(f"Symbol {name} is not a variable")
        return self._module.variables[name]

    def offset(self, function: Function, name: str) -> int:
        """Place of a shared variable or of a kernel's parameter."""
        for key in ((function.name, name), ("", name)):
            if key in self._shared:
                return self._shared[key]
        if function is self.kernel and name in self._parameters:
            return self._parameters[name]
        raise UnknownInstruction(f"Symbol {name} is no variable in memory, so it has no address")

    def function_address(self, name: str) -> int | None:
        """Address of a device function; ``None`` if the name is not that of one."""
        return function_address(self._module, name) if name in self._module.functions else None

    def local_offset(self, function: Function, name: str) -> int:
        """Place of a local variable in its function's frame."""
        return self._local[function.name, name]

    def symbol(self, name: str) -> int:
        """Number of a module variable in ``symbols``."""
        return self._number(self.symbols, name)

    def special(self, name: str) -> int:
        """Number of a special register in ``specials``."""
        return self._number(self.specials, name)

    def access_number(self, instruction: Instruction) -> int:
        """Number of a memory instruction among those of the program."""
        return self._number(self._accesses, instruction.index)

    @property
    def access_count(self) -> int:
        """Memory instructions of the program."""
        return len(self._accesses)

    @staticmethod
    def _number(names: list[Any], name: Any) -> int:
        if name not in names:
            names.append(name)
        return names.index(name)

    def bind(self, value: Any, key: Any = None) -> str:
        """Name of a constant in the program's code; equal keys share one."""
        key = ("object", id(value)) if key is None else key
        if key not in self._names:
            self._names[key] = f"c{len(self._names)}"
            self.namespace[self._names[key]] = value
        return self._names[key]
