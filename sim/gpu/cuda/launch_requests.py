"""Request to launch a kernel, and a record of each launch."""

from __future__ import annotations

from typing import Any, NamedTuple

from racetrap.sim.gpu.cuda.context import Context
from racetrap.sim.gpu.cuda.errors import FAULT_ERRORS, CudaError, RequestError
from racetrap.sim.gpu.executor.cluster_shape import ClusterError
from racetrap.sim.gpu.executor.device import LaunchStats
from racetrap.sim.gpu.executor.machine.errors import ExecutionError, Fault, KernelFault
from racetrap.sim.gpu.ptx.errors import PtxError
from racetrap.sim.gpu.ptx.kernel_names import is_named

#: Limits of CUDA on the dimensions of a grid and of a block.
_GRID_LIMITS = (2**31 - 1, 65535, 65535)
_BLOCK_LIMITS = (1024, 1024, 64)
_Shape = tuple[int, int, int]


class LaunchRecord(NamedTuple):
    """A launch of the program.

    Parameters
    ----------
    kernel : str
        Name in the PTX.
    grid, block : (int, int, int)
        Blocks, and threads of each.
    stream : int
        Stream.
    call : int
        Program counter of the call, in the trace.
    traced : bool
        Whether it is traced.
    stats : LaunchStats, optional
        Its counts, if it ended by itself.
    fault : str
        What ended it, if it did not.
    hangs : bool
        Whether that was that it would not end.
    blocks, checked_blocks : int
        Blocks that were placed, and those whose ordinary accesses are traced.
    """

    kernel: str
    grid: _Shape
    block: _Shape
    stream: int
    call: int
    traced: bool
    stats: LaunchStats | None
    fault: str
    hangs: bool
    blocks: int
    checked_blocks: int


def _fits(shape: _Shape, limits: _Shape) -> bool:
    return all(1 <= size <= limit for size, limit in zip(shape, limits, strict=True))


class LaunchRequests:
    """Serves the requests of a context to launch kernels.

    Attributes
    ----------
    records : list of LaunchRecord
        Launches so far.
    """

    def __init__(self, context: Context):
        self._context = context
        self.records: list[LaunchRecord] = []

    def launch(self, request: Any) -> None:
        """Run a kernel; after a fault the program learns of it with its next request."""
        context = self._context
        context.streams.check_stream(request.stream)
        kernel = context.modules.kernel(request.kernel)
        grid = request.grid_x, request.grid_y, request.grid_z
        block = request.block_x, request.block_y, request.block_z
        cluster = request.cluster_x, request.cluster_y, request.cluster_z
        if not (_fits(grid, _GRID_LIMITS) and _fits(block, _BLOCK_LIMITS)):
            raise RequestError(CudaError.INVALID_CONFIGURATION)
        try:
            launch = context.device.prepare(
                kernel.module, kernel.name, grid, block, request.tail, request.shared_bytes,
                bool(request.cooperative), cluster if any(cluster) else None,
            )  # fmt: skip
        except ClusterError as error:
            raise RequestError(CudaError.INVALID_CLUSTER_SIZE, str(error)) from None
        except PtxError as error:
            raise RequestError(CudaError.INVALID_PTX, str(error)) from None
        except ValueError:
            raise RequestError(CudaError.INVALID_CONFIGURATION) from None
        except ExecutionError as error:
            too_large = request.cooperative and "Cooperative" in str(error)
            raise RequestError(
                CudaError.COOPERATIVE_LAUNCH_TOO_LARGE
                if too_large
                else CudaError.LAUNCH_OUT_OF_RESOURCES,
                str(error),
            ) from None
        traced = self._is_selected(kernel.name)
        operation = context.operation(request.stream, request.site) if traced else None
        stats, fault, hangs, before = None, "", False, context.device.sampled_blocks
        try:
            stats = context.device.run(launch, operation)
        except KernelFault as error:
            fault, context.fault = str(error), FAULT_ERRORS[error.fault]
            hangs = error.fault is Fault.NO_END
        self.records.append(
            LaunchRecord(
                kernel.name, grid, block, request.stream, context.sites.pc(request.site),
                traced, stats, fault, hangs, launch.stats.blocks,
                context.device.sampled_blocks - before,
            )
        )  # fmt: skip

    def _is_selected(self, kernel: str) -> bool:
        """Whether the next launch, of a kernel, is to be traced."""
        wanted, numbers = self._context.settings.kernel, self._context.settings.launches
        named = not wanted or is_named(kernel, wanted)
        return named and (numbers is None or len(self.records) in numbers)
