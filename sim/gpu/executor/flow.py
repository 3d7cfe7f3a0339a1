"""Where the instructions of a function are, in the code and in traces.

Ref: PTX ISA 9.0, Section 9.7.12 (control flow).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from racetrap.sim.gpu.executor.emitter import Emitter, Lines
from racetrap.sim.gpu.executor.registers import RowTable
from racetrap.sim.gpu.ptx.control_flow import reconvergence
from racetrap.sim.gpu.ptx.program import Function, Instruction, Module, Operand, Target

__all__ = ["CallSite", "CompiledFunction", "Flow", "Handler", "place_of"]


def place_of(module: Module, instruction: Instruction) -> str:
    """Source line of an instruction, or its line in the PTX if that is all that is known."""
    return str(instruction.location or f"{module.name}:{instruction.line}")


class CompiledFunction:
    """A function of a program.

    Parameters
    ----------
    function : Function
        The function.
    end : int
        Where its lanes meet behind its last instruction; inside the program no instruction
        has this number.
    local_size : int
        Bytes of its local variables.
    """

    def __init__(self, function: Function, end: int, local_size: int):
        self.name = function.name
        self.function = function
        self.end = end
        self.local_size = local_size
        self.table = RowTable(function)
        self.entry = function.instructions[0].index if function.instructions else end


class CallSite(NamedTuple):
    """A call: whom, which parameters of caller and callee belong together, and where to go on."""

    callee: CompiledFunction
    arguments: tuple[tuple[str, str], ...]
    results: tuple[tuple[str, str], ...]
    following: int
    place: str


class Flow:
    """Places in one function.

    Parameters
    ----------
    module : Module
        Where the function comes from.
    compiled : CompiledFunction
        The function.
    functions : dict of str to CompiledFunction
        All functions of the program.
    """

    def __init__(
        self, module: Module, compiled: CompiledFunction, functions: dict[str, CompiledFunction]
    ):
        self.module = module
        self.compiled = compiled
        self.functions = functions
        self.instructions = compiled.function.instructions
        self.points = reconvergence(compiled.function)

    def number(self, index: int) -> int:
        """Number in the program of an index in the function; the end's behind the last."""
        last = len(self.instructions)
        return self.instructions[index].index if index < last else self.compiled.end

    def _index(self, instruction: Instruction) -> int:
        return instruction.index - self.instructions[0].index

    def following(self, instruction: Instruction) -> int:
        """Where lanes go on that do not branch."""
        return self.number(self._index(instruction) + 1)

    def target(self, operand: Operand) -> int:
        """Where a branch goes."""
        assert isinstance(operand, Target)
        return self.number(operand.index)

    def meeting(self, instruction: Instruction) -> int:
        """Where lanes that part at an instruction come together."""
        point = self.points[self._index(instruction)]
        return self.compiled.end if point is None else self.number(point)

    def place(self, instruction: Instruction) -> str:
        """Source line of an instruction."""
        return place_of(self.module, instruction)


#: Makes the code of an instruction.
Handler = Callable[[Emitter, Flow, Instruction], Lines]
