"""Requests about modules: fat binaries, kernels and variables."""

from __future__ import annotations

from typing import Any

from racetrap.sim.gpu.cuda.context import Context, Numbers
from racetrap.sim.gpu.cuda.errors import CudaError, RequestError
from racetrap.sim.gpu.cuda.fat_binary import FatBinaryError
from racetrap.sim.gpu.executor.machine.errors import ExecutionError
from racetrap.sim.gpu.ptx.errors import PtxError
from racetrap.sim.gpu.ptx.module import parameter_layout

#: Threads of a block at most, whatever the kernel says.
_BLOCK_THREADS = 1024


def _name(tail: bytes) -> str:
    return tail.decode(errors="replace")


class ModuleRequests:
    """Serves the requests of a context that are about modules."""

    def __init__(self, context: Context):
        self._context = context

    def load_module(self, request: Any) -> Numbers:
        """Load a fat binary."""
        try:
            return (self._context.modules.load(request.tail),)
        except FatBinaryError as error:
            raise RequestError(CudaError.NO_KERNEL_IMAGE, str(error)) from None
        except PtxError as error:
            raise RequestError(CudaError.INVALID_PTX, str(error)) from None

    def find_kernel(self, request: Any) -> Numbers:
        """Look for a kernel, and compile it."""
        name, modules = _name(request.tail), self._context.modules
        module = modules.module(request.module)
        if module is None:
            raise RequestError(CudaError.INVALID_DEVICE_FUNCTION)
        try:
            number = modules.add_kernel(module, name)
        except ExecutionError as error:
            known = "" if name not in module.functions else str(error)
            raise RequestError(CudaError.INVALID_DEVICE_FUNCTION, known) from None
        except PtxError as error:
            raise RequestError(CudaError.INVALID_PTX, str(error)) from None
        program = modules.kernel(number).program
        _, size = parameter_layout(program.parameters)
        threads = min(program.max_threads or _BLOCK_THREADS, _BLOCK_THREADS)
        return (
            number, len(program.parameters), size, program.static_shared, threads,
            program.kernel.local_size,
        )  # fmt: skip

    def parameter(self, request: Any) -> Numbers:
        """Place of a parameter of a kernel."""
        formals = self._context.modules.kernel(request.kernel).program.parameters
        if request.number >= len(formals):
            raise RequestError(CudaError.INVALID_VALUE)
        offsets, _ = parameter_layout(formals)
        return offsets[request.number], formals[request.number].size

    def find_symbol(self, request: Any) -> Numbers:
        """Look for a variable."""
        module = self._context.modules.module(request.module)
        if module is None:
            raise RequestError(CudaError.SYMBOL_NOT_FOUND)
        try:
            return self._context.device.symbol(module, _name(request.tail))
        except ExecutionError:
            raise RequestError(CudaError.SYMBOL_NOT_FOUND) from None
