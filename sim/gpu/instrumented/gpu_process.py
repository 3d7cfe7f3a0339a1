"""A GPU in a process of its own: a kernel that hangs or faults ends that process, and nothing else.

The process has its addresses where the linker puts them, so that those of the executor's memory are
free in it: a driver gives memory no address that the process has.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from socket import socketpair
from typing import Any

import numpy as np

from racetrap.golden_model.events import Geometry
from racetrap.sim.gpu.executor.machine.errors import ExecutionError, Fault, KernelFault
from racetrap.sim.gpu.instrumented.cuda_driver import MOST_SECONDS, CudaDriver, NoGpuError
from racetrap.sim.gpu.instrumented.gpu import KernelCall

#: ``ADDR_NO_RANDOMIZE`` of ``personality``.
_SAME_ADDRESSES = 0x0040000
_END_SECONDS = 5.0


def _keep_addresses() -> None:
    """Let the program that this process becomes have no random addresses."""
    ctypes.CDLL(None).personality(_SAME_ADDRESSES)


class GpuProcess:
    """The first GPU of this machine.

    Parameters
    ----------
    seconds : float
        Seconds after which a kernel is given up.

    Raises
    ------
    NoGpuError
        If there is no driver or no GPU.
    """

    def __init__(self, seconds: float = MOST_SECONDS) -> None:
        self._seconds, self.microseconds = seconds, 0.0
        self._process: subprocess.Popen[bytes] | None = None
        self.geometry: Geometry = self._ask("geometry")

    def _start(self) -> None:
        own, other = socketpair()
        with other:
            command = [sys.executable, "-m", __name__, str(other.fileno()), str(self._seconds)]
            self._process = subprocess.Popen(
                command, pass_fds=[other.fileno()], stdin=subprocess.DEVNULL,
                preexec_fn=_keep_addresses,
            )  # fmt: skip
        self._connection = Connection(own.detach())

    def _ask(self, name: str, *arguments: Any) -> Any:
        if self._process is None:
            self._start()
        try:
            self._connection.send((name, arguments))
            value, error, self.microseconds = self._connection.recv()
        except (EOFError, OSError):
            error = KernelFault(Fault.TRAP, f"Process of the GPU {self._ending()}")
        if error is None:
            return value
        if isinstance(error, KernelFault | NoGpuError):
            self.close()
        raise error

    def _ending(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            if self._process is not None:
                return f"ended with exit status {self._process.wait(_END_SECONDS)}"
        return "does not answer"

    def close(self) -> None:
        """End the process; the next request starts another."""
        if self._process is None:
            return
        self._connection.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)
        self._process.kill()
        self._process.wait()
        self._process = None

    def load(self, texts: Sequence[str], threads: int) -> Any:
        """As that of `CudaDriver`, like all that follow."""
        return self._ask("load", texts, threads)

    def symbol(self, image: Any, name: str) -> int:
        """Address of a variable of a module."""
        return self._ask("symbol", image, name)

    def allocate(self, size: int) -> int:
        """Address of memory where the driver chooses."""
        return self._ask("allocate", size)

    def write(self, address: int, data: np.ndarray) -> None:
        """Copy bytes to the GPU."""
        self._ask("write", address, data)

    def read(self, address: int, size: int) -> np.ndarray:
        """Copy bytes from the GPU."""
        return self._ask("read", address, size)

    def launch(self, image: Any, call: KernelCall) -> None:
        """Run a kernel to its end."""
        self._ask("launch", image, call)


def serve(connection: Connection, make: Callable[[], Any]) -> None:
    """Serve requests to a GPU until the other end closes."""
    gpu: Any = None
    while True:
        try:
            name, arguments = connection.recv()
        except EOFError:
            return
        value, error = None, None
        try:
            gpu = gpu or make()
            found = getattr(gpu, name)
            value = found(*arguments) if callable(found) else found
        except (ExecutionError, NoGpuError) as raised:
            error = raised
        connection.send((value, error, getattr(gpu, "microseconds", 0.0)))


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])), lambda: CudaDriver(float(sys.argv[2])))
