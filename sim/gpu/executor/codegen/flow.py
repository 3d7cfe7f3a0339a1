"""Control flow of a function in numbers of the program.

Ref: PTX ISA 9.0, Section 9.7.12 (control flow).
"""

from __future__ import annotations

from collections.abc import Callable

from racetrap.sim.gpu.executor.codegen.emitter import Emitter, Lines
from racetrap.sim.gpu.executor.machine.program import CompiledFunction
from racetrap.sim.gpu.ptx.control_flow import reconvergence
from racetrap.sim.gpu.ptx.module import Function, Instruction, Module, Operand, Target


def place_of(module: Module, instruction: Instruction) -> str:
    """Source line of an instruction, or its line in the PTX if that is all that is known."""
    return str(instruction.location or f"{module.name}:{instruction.line}")


class Flow:
    """Instructions of one function by their number in the program.

    Parameters
    ----------
    module : Module
        Where the function comes from.
    function : Function
        The function.
    functions : dict of str to CompiledFunction
        All functions of the program.
    """

    def __init__(self, module: Module, function: Function, functions: dict[str, CompiledFunction]):
        self.module = module
        self.function = function
        self.functions = functions
        self.end = functions[function.name].end
        self.instructions = function.instructions
        self._points = reconvergence(function)

    def number(self, index: int) -> int:
        """Number in the program of an index in the function; the end's behind the last."""
        last = len(self.instructions)
        return self.instructions[index].index if index < last else self.end

    def _index(self, instruction: Instruction) -> int:
        return instruction.index - self.instructions[0].index

    def following(self, instruction: Instruction) -> int:
        """The next instruction."""
        return self.number(self._index(instruction) + 1)

    def target(self, operand: Operand) -> int:
        """Target of a branch."""
        assert isinstance(operand, Target)
        return self.number(operand.index)

    def reconvergence(self, instruction: Instruction) -> int:
        """Reconvergence point of the lanes that diverge at an instruction."""
        point = self._points[self._index(instruction)]
        return self.end if point is None else self.number(point)

    def place(self, instruction: Instruction) -> str:
        """Source line of an instruction."""
        return place_of(self.module, instruction)


#: Makes the code of an instruction.
Handler = Callable[[Emitter, Flow, Instruction], Lines]
