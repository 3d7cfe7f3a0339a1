"""Modules of a program: the PTX of its fat binaries, and their kernels, by number."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from racetrap.sim.gpu.cuda.errors import CudaError, RequestError
from racetrap.sim.gpu.cuda.fat_binary import choose_ptx, ptx_images, split_binaries
from racetrap.sim.gpu.executor.codegen.compiler import compile_kernel
from racetrap.sim.gpu.executor.machine.program import KernelProgram
from racetrap.sim.gpu.ptx.linking import link, with_distinct_names
from racetrap.sim.gpu.ptx.module import Function, Module
from racetrap.sim.gpu.ptx.parser import parse_ptx


class Kernel(NamedTuple):
    """A kernel that the program has registered.

    Parameters
    ----------
    module : Module
        Where it is.
    name : str
        Its name in the PTX.
    program : KernelProgram
        It, compiled.
    """

    module: Module
    name: str
    program: KernelProgram


#: Runs of one program load the same modules again, and no kernel needs to be compiled twice.
_parsed = lru_cache(maxsize=16)(parse_ptx)


def _kernels(module: Module) -> set[str]:
    """Names of a module's kernels, or of its functions if it has none."""
    kernels = {name for name, function in module.functions.items() if function.is_kernel}
    return kernels or set(module.functions)


class Modules:
    """Modules and kernels by number, from 0.

    Parameters
    ----------
    capability : int
        Compute capability of the device, 10 * major + minor.
    edited : sequence of str
        PTX to take instead of that with the same kernels.
    """

    def __init__(self, capability: int, edited: Sequence[str] = ()):
        self._capability, self._edited = capability, edited
        self._modules: list[Module] = []
        self._kernels: list[Kernel] = []
        self._instructions = 0

    def load(self, binary: bytes) -> int:
        """Number of a new module.

        Parameters
        ----------
        binary : bytes
            Fat binary, or several, which are linked.

        Raises
        ------
        FatBinaryError
            If it has no PTX that can be read.
        PtxError
            If the PTX breaks a rule.
        """
        images = list(filter(None, map(ptx_images, split_binaries(binary)))) or [[]]
        texts = [choose_ptx(each, self._capability).text for each in images]
        number = len(self._modules)
        parts = []
        for text in with_distinct_names(texts):
            parts.append(self._parsed(text, number))
            self._instructions += sum(len(f.instructions) for f in parts[-1].functions.values())
        self._modules.append(link(parts))
        return number

    def _parsed(self, text: str, number: int) -> Module:
        """The module of a text, or that of the edited one in its place."""
        first = _parsed(text, f"module {number}", self._instructions)
        for other in self._edited:
            module = _parsed(other, f"module {number}", self._instructions)
            if _kernels(module) == _kernels(first):
                return module
        return first

    def module(self, number: int) -> Module | None:
        """A module; ``None`` if there is none of that number."""
        return self._modules[number] if number < len(self._modules) else None

    def functions(self) -> tuple[Function, ...]:
        """Kernels and device functions of all modules."""
        return tuple(each for module in self._modules for each in module.functions.values())

    def add_kernel(self, module: Module, name: str) -> int:
        """Number of a kernel that is now compiled.

        Raises
        ------
        ExecutionError
            If the module has no such kernel.
        PtxError
            If it has an instruction that the executor does not support.
        """
        self._kernels.append(Kernel(module, name, compile_kernel(module, name)))
        return len(self._kernels) - 1

    def kernel(self, number: int) -> Kernel:
        """A kernel; `RequestError` if there is none of that number."""
        if number >= len(self._kernels):
            raise RequestError(CudaError.INVALID_DEVICE_FUNCTION)
        return self._kernels[number]
