"""Call paths of instructions: functions inlined where they stand, and calls that lead there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache

from racetrap.golden_model.call_stacks import Frame
from racetrap.sim.gpu.ptx.kernel_names import written_name
from racetrap.sim.gpu.ptx.module import (
    Address,
    CallTarget,
    Function,
    Instruction,
    Module,
    Operand,
    Symbol,
    Vector,
)

_Caller = tuple[Function, Instruction]


class FrameTable:
    """Frames numbered in order of first use.

    Attributes
    ----------
    frames : dict of int to Frame
        By number from 1.
    """

    def __init__(self) -> None:
        self.frames: dict[int, Frame] = {}
        self._numbers: dict[Frame, int] = {}

    def number(self, caller: int, function: str, place: str) -> int:
        """Number of a frame; a new one gets the next number."""
        frame = Frame(caller, function, place)
        number = self._numbers.setdefault(frame, len(self._numbers) + 1)
        self.frames[number] = frame
        return number


class CallPaths:
    """Frames of the instructions of modules.

    The path of a function that is called leads on to the caller if one instruction of its module
    calls it; with several callers it begins with the function, as traces do not distinguish them.

    Parameters
    ----------
    modules : iterable of Module
        The modules.

    Attributes
    ----------
    frames : dict of int to Frame
        Frames so far, by number.
    """

    def __init__(self, modules: Iterable[Module]) -> None:
        self._table = FrameTable()
        self.frames = self._table.frames
        self._outermost: dict[tuple[Module, str], int] = {}
        self._callers = {module: _callers(module) for module in modules}

    def frame(self, module: Module, function: Function, instruction: Instruction) -> int:
        """Number of the innermost frame of an instruction of a function."""
        number = self._function(module, function, ())
        return self._inlined(number, instruction)

    def _inlined(self, number: int, instruction: Instruction) -> int:
        location = instruction.location
        for call in reversed(location.calls if location else ()):
            number = self._table.number(number, written_name(call.function), call.place)
        return number

    def _function(self, module: Module, function: Function, inner: tuple[str, ...]) -> int:
        """Frame of a function; ``inner`` has those that it is looked for as a caller of."""
        key = module, function.name
        if key not in self._outermost:
            caller, place = 0, ""
            callers = self._callers[module][function.name]
            only = callers[0] if len(callers) == 1 else None
            if only and only[0].name not in (*inner, function.name):
                calling, call = only
                outer = self._function(module, calling, (*inner, function.name))
                caller = self._inlined(outer, call)
                place = str(call.location or "")
            self._outermost[key] = self._table.number(caller, written_name(function.name), place)
        return self._outermost[key]


@lru_cache(maxsize=8)
def _callers(module: Module) -> dict[str, list[_Caller | None]]:
    """Instructions that call a function, by its name; ``None`` stands for any by its address.

    They are looked for once in a module, which every schedule of its kernels has a trace of.
    """
    callers: dict[str, list[_Caller | None]] = defaultdict(list)
    for variable in module.variables.values():
        for _, name, _ in variable.addresses:
            callers[name].append(None)
    for function in module.functions.values():
        for instruction in function.instructions:
            for operand in _parts(instruction.operands):
                if isinstance(operand, CallTarget):
                    callers[operand.name].append((function, instruction))
                elif isinstance(operand, Symbol):
                    callers[operand.name].append(None)
    return callers


def _parts(operands: Iterable[Operand | None]) -> Iterator[Operand | None]:
    """Operands, and what they are made of."""
    for operand in operands:
        yield operand
        if isinstance(operand, Vector):
            yield from _parts(operand.elements)
        elif isinstance(operand, Address):
            yield operand.base
