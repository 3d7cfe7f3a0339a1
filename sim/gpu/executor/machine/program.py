"""Compiled kernel as the machine runs it: basic blocks by number, functions and call sites.

Ref: ScoRD (ISCA'20) Section II (SIMT execution).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from racetrap.sim.gpu.executor.machine.frame import Frame
from racetrap.sim.gpu.ptx.module import Module, Variable

#: Code of the block, which takes the warp and returns a status, and how many instructions it is.
BasicBlock = tuple[Callable[[Any], int | None], int]


#: Functions have addresses that no memory has.
_FUNCTION_WINDOW, _FUNCTION_BYTES = 3 << 32, 16


def function_address(module: Module, name: str) -> int:
    """Address of a device function."""
    return _FUNCTION_WINDOW + _FUNCTION_BYTES * list(module.functions).index(name)


class CompiledFunction(NamedTuple):
    """A function of a kernel, or the kernel itself.

    Parameters
    ----------
    name : str
        Its name.
    entry : int
        Its first instruction.
    end : int
        Number of the point behind its last instruction; no instruction has it.
    local_size : int
        Bytes of its local variables.
    make_frame : callable
        Makes a frame of zeros for one call.
    """

    name: str
    entry: int
    end: int
    local_size: int
    make_frame: Callable[[], Frame]


class CallSite(NamedTuple):
    """A call instruction.

    Parameters
    ----------
    callee : CompiledFunction
        The function that it calls.
    arguments, results : tuple of (str, str)
        Parameters of one side and of the other that belong together: caller and callee, callee
        and caller.
    following : int
        The instruction behind it.
    place : str
        Its source line.
    """

    callee: CompiledFunction
    arguments: tuple[tuple[str, str], ...]
    results: tuple[tuple[str, str], ...]
    following: int
    place: str


class SharedObject(NamedTuple):
    """A shared variable of a kernel.

    Parameters
    ----------
    name : str
        Its name in the PTX.
    offset, size : int
        First byte, and bytes; 0 for dynamic shared memory.
    element : int
        Bytes of an element.
    """

    name: str
    offset: int
    size: int
    element: int


class KernelProgram(NamedTuple):
    """A kernel with the functions that it calls.

    Parameters
    ----------
    kernel : CompiledFunction
        Where it begins.
    full, masked : list of BasicBlock or None
        Basic blocks by the number of their first instruction: for warps whose living lanes are
        all active, and for others.
    symbols : list of str
        Module variables whose addresses the code needs.
    specials : list of str
        Special registers that it reads.
    access_count : int
        Memory instructions.
    static_shared : int
        Bytes of shared memory, without dynamic.
    shared_objects : tuple of SharedObject
        Its shared variables, and those of the functions that it calls.
    parameters : tuple of Variable
        Parameters of the kernel.
    places : dict of int to str
        Source lines by instruction.
    max_threads : int, optional
        Limit that the kernel sets on the threads of a block.
    module : Module
        Where the kernel is.
    functions : tuple of str
        Names of the kernel and of the functions that it may call.
    """

    kernel: CompiledFunction
    full: list[BasicBlock | None]
    masked: list[BasicBlock | None]
    symbols: list[str]
    specials: list[str]
    access_count: int
    static_shared: int
    shared_objects: tuple[SharedObject, ...]
    parameters: tuple[Variable, ...]
    places: dict[int, str]
    max_threads: int | None
    module: Module
    functions: tuple[str, ...]
