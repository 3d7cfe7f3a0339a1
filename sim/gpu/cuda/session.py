"""Session of one program: what each request of its runtime library does.

Operations run when they are asked for, one after the other; which of them need not have waited
for which is in the trace (`streams`).  After a fault every request has the fault's error, as the
context of a real program has.

Ref: CUDA Runtime API (CUDA 13.0).
"""

from __future__ import annotations

from typing import Any

from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.cuda.context import Context, Numbers, RunSettings
from racetrap.sim.gpu.cuda.errors import CudaError, RequestError
from racetrap.sim.gpu.cuda.launch_requests import LaunchRecord, LaunchRequests
from racetrap.sim.gpu.cuda.memory_requests import MemoryRequests
from racetrap.sim.gpu.cuda.module_requests import ModuleRequests
from racetrap.sim.gpu.cuda.protocol import MAGIC, VERSION, ProtocolError
from racetrap.sim.gpu.cuda.stream_requests import StreamRequests
from racetrap.sim.gpu.cuda.streams import StreamError
from racetrap.sim.gpu.executor.machine.block_scheduler import SHARED_BYTES_PER_SM
from racetrap.sim.gpu.executor.machine.event_log import Judge
from racetrap.sim.gpu.executor.machine.memory import HEAP_BASE, HEAP_END
from racetrap.sim.gpu.ptx.module import Function

#: Served even after a fault.
_ALWAYS = ("site", "not_supported")


class Session:
    """A program that uses the runtime library.

    Parameters
    ----------
    memory_file : int
        Descriptor of the file of ``HEAP_END`` bytes that holds device memory.
    settings : RunSettings
        How the program is run.
    """

    def __init__(self, memory_file: int, settings: RunSettings):
        self._context = Context(memory_file, settings)
        self._launches = LaunchRequests(self._context)
        self._servers = (
            self, self._launches, MemoryRequests(self._context), ModuleRequests(self._context),
            StreamRequests(self._context),
        )  # fmt: skip
        self._greeted = False

    @property
    def has_begun(self) -> bool:
        """Whether the program has called the runtime library."""
        return self._greeted

    @property
    def launches(self) -> list[LaunchRecord]:
        """Launches so far."""
        return self._launches.records

    @property
    def problems(self) -> list[str]:
        """Requests of the program that could not be served, a sentence each."""
        return self._context.problems

    def trace(self, source: str) -> Trace:
        """Trace of the program so far; ``source`` says what it was, in one line."""
        return self._context.device.trace(source, calls=self._context.sites.locations())

    @property
    def judge(self) -> Judge | None:
        """The judge of the run, if it was too long to be kept."""
        return self._context.device.judge

    def functions(self) -> tuple[Function, ...]:
        """Kernels and device functions of the modules that the program has loaded."""
        return self._context.modules.functions()

    def serve(self, name: str, request: Any) -> tuple[int, Numbers]:
        """Serve a request.

        Parameters
        ----------
        name : str
            Name of the message.
        request : named tuple
            Its numbers and tail.

        Returns
        -------
        (int, sequence of int)
            CUDA error, and numbers of the reply.

        Raises
        ------
        ProtocolError
            If ``hello`` is not the first request, or not ours.
        """
        if self._greeted == (name == "hello"):
            raise ProtocolError(f"Message hello must come first and once, not {name} now")
        context = self._context
        if context.fault and name not in _ALWAYS:
            return context.fault, ()
        (method,) = (getattr(each, name) for each in self._servers if hasattr(each, name))
        try:
            return CudaError.SUCCESS, method(request) or ()
        except StreamError:
            return CudaError.INVALID_RESOURCE_HANDLE, ()
        except RequestError as error:
            if str(error) and str(error) not in context.problems:
                context.problems.append(str(error))
            return error.error, ()

    # Requests that are about nothing else

    def hello(self, request: Any) -> Numbers:
        """The program makes itself known."""
        if (request.magic, request.version) != (MAGIC, VERSION):
            raise ProtocolError(
                f"Message hello must have {MAGIC:#x} and version {VERSION}, "
                f"not {request.magic:#x} and {request.version}"
            )
        self._greeted = True
        settings = self._context.settings
        return (
            HEAP_BASE, HEAP_END, settings.geometry.sm_count, settings.geometry.blocks_per_sm,
            settings.geometry.warps_per_sm, SHARED_BYTES_PER_SM, settings.capability,
        )  # fmt: skip

    def site(self, request: Any) -> Numbers:
        """Give a number to a place that calls the library."""
        path = request.tail.decode(errors="replace")
        return (self._context.sites.add(path, request.offset),)

    def not_supported(self, request: Any) -> None:
        """The program has called what the library does not have."""
        name, sites = request.tail.decode(errors="replace"), self._context.sites
        place = sites.locations().get(sites.pc(request.site))
        where = f" ({place})" if place else ""
        self._context.problems.append(f"{name} is not supported{where}")
