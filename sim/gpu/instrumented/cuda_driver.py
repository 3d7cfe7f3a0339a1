"""A GPU by NVIDIA's driver, through its C interface.

Ref: CUDA Driver API (CUDA 13.0), "Virtual Memory Management", "Module Management" and
"Execution Control".
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence
from ctypes import byref, c_int, c_size_t, c_ubyte, c_uint, c_uint64, c_ushort, c_void_p
from typing import Any

import numpy as np

from racetrap.golden_model.events import WARP_SIZE, Geometry
from racetrap.sim.gpu.executor.machine.errors import ExecutionError, Fault, KernelFault
from racetrap.sim.gpu.executor.machine.memory import HEAP_BASE, HEAP_END
from racetrap.sim.gpu.instrumented.gpu import KernelCall

_LIBRARY = "libcuda.so.1"
#: Bytes of the executor's addresses that the GPU is given at once.
_CHUNK = 1 << 28
#: Seconds after which a kernel is given up.
MOST_SECONDS = 60.0
#: Registers of an SM, which the threads of a block share.
_SM_REGISTERS, _MOST_REGISTERS = 1 << 16, 255
_LOG_BYTES = 1 << 14
#: Dynamic shared memory that a kernel gets without being allowed more.
_USUAL_SHARED = 48 * 1024

# Names and numbers of cuda.h.
_SM_COUNT, _THREADS_PER_SM, _BLOCKS_PER_SM = 16, 39, 106
_MAX_REGISTERS, _ERROR_LOG, _ERROR_LOG_BYTES = 0, 5, 6
_INPUT_PTX, _MOST_DYNAMIC_SHARED = 1, 8
_NOT_READY = 600
_FAULTS = {
    700: Fault.ILLEGAL_ADDRESS, 716: Fault.MISALIGNED_ADDRESS, 710: Fault.ASSERTION,
    715: Fault.TRAP, 719: Fault.TRAP, 718: Fault.ILLEGAL_ADDRESS, 717: Fault.ILLEGAL_ADDRESS,
}  # fmt: skip


class _Place(ctypes.Structure):
    _fields_ = (("type", c_int), ("device", c_int))


class _Kind(ctypes.Structure):
    """``CUmemAllocationProp``."""

    _fields_ = (
        ("type", c_int), ("handles", c_int), ("place", _Place), ("windows", c_void_p),
        ("compression", c_ubyte), ("rdma", c_ubyte), ("usage", c_ushort), ("rest", c_ubyte * 4),
    )  # fmt: skip


class _Access(ctypes.Structure):
    """``CUmemAccessDesc``."""

    _fields_ = (("place", _Place), ("flags", c_int))


class NoGpuError(ValueError):
    """A machine without a GPU that can be used."""


class CudaDriver:
    """The first GPU of this machine.

    Parameters
    ----------
    seconds : float
        Seconds after which a kernel is given up.

    Attributes
    ----------
    microseconds : float
        Time of the last kernel on the GPU.

    Raises
    ------
    NoGpuError
        If there is no driver or no GPU.
    """

    def __init__(self, seconds: float = MOST_SECONDS) -> None:
        self._seconds, self.microseconds = seconds, 0.0
        try:
            self._library = ctypes.CDLL(_LIBRARY)
        except OSError:
            raise NoGpuError(
                f"Driver of a GPU ({_LIBRARY}) was not found: run without --on-gpu, on the executor"
            ) from None
        self._device = c_int()
        try:
            self._call("cuInit", c_uint(0))
            self._call("cuDeviceGet", byref(self._device), c_int(0))
        except ExecutionError as error:
            raise NoGpuError(
                f"GPU cannot be used ({error}): run without --on-gpu, on the executor"
            ) from None
        context = c_void_p()
        self._call("cuDevicePrimaryCtxRetain", byref(context), self._device)
        self._call("cuCtxSetCurrent", context)
        threads = self._attribute(_THREADS_PER_SM)
        self.geometry = Geometry(
            sm_count=self._attribute(_SM_COUNT), blocks_per_sm=self._attribute(_BLOCKS_PER_SM),
            warps_per_sm=threads // WARP_SIZE,
        )  # fmt: skip
        self._reserved, self._end = self._reserve(), HEAP_BASE
        self._marks = [c_void_p(), c_void_p()]
        for mark in self._marks:
            self._call("cuEventCreate", byref(mark), c_uint(0))

    def _call(self, name: str, *arguments: Any) -> None:
        status = getattr(self._library, name)(*arguments)
        if status:
            raise ExecutionError(f"{name} of the GPU's driver failed: {self._error(status)}")

    def _error(self, status: int) -> str:
        text = ctypes.c_char_p()
        self._library.cuGetErrorName(c_int(status), byref(text))
        return (text.value or b"unknown error").decode() + f" ({status})"

    def _attribute(self, number: int) -> int:
        value = c_int()
        self._call("cuDeviceGetAttribute", byref(value), c_int(number), self._device)
        return value.value

    # Modules

    def load(self, texts: Sequence[str], threads: int) -> int:
        """PTX, linked, with as many registers as so many threads can have.

        Raises
        ------
        ExecutionError
            If it cannot be assembled.
        """
        per_thread = _SM_REGISTERS // (-(-threads // WARP_SIZE) * WARP_SIZE) // 8 * 8
        log = ctypes.create_string_buffer(_LOG_BYTES)
        options = {
            _MAX_REGISTERS: min(per_thread, _MOST_REGISTERS),
            _ERROR_LOG: ctypes.addressof(log), _ERROR_LOG_BYTES: _LOG_BYTES,
        }  # fmt: skip
        keys = (c_int * len(options))(*options)
        values = (c_void_p * len(options))(*options.values())
        state, image, module = c_void_p(), c_void_p(), c_void_p()
        try:
            self._call("cuLinkCreate_v2", c_uint(len(options)), keys, values, byref(state))
            for text in texts:
                data = text.encode() + b"\0"
                self._call(
                    "cuLinkAddData_v2", state, c_int(_INPUT_PTX), data, c_size_t(len(data)),
                    b"kernels.ptx", c_uint(0), None, None,
                )  # fmt: skip
            self._call("cuLinkComplete", state, byref(image), byref(c_size_t()))
            self._call("cuModuleLoadData", byref(module), image)
        except ExecutionError as error:
            words = log.value.decode(errors="replace").strip()
            raise ExecutionError(f"{error}: {words}" if words else str(error)) from None
        finally:
            if state:
                self._library.cuLinkDestroy(state)
        return module.value or 0

    def symbol(self, image: int, name: str) -> int:
        """Address of a variable of a module."""
        address = c_uint64()
        self._call(
            "cuModuleGetGlobal_v2", byref(address), byref(c_size_t()), c_void_p(image),
            name.encode(),
        )  # fmt: skip
        return address.value

    # Memory

    def allocate(self, size: int) -> int:
        """Address of memory where the driver chooses."""
        address = c_uint64()
        self._call("cuMemAlloc_v2", byref(address), c_size_t(size))
        return address.value

    def _reserve(self) -> int:
        """Take the executor's addresses before the driver takes them for anything else; the end of
        those that were free."""
        for start in range(HEAP_BASE, HEAP_END, _CHUNK):
            address = c_uint64()
            self._call(
                "cuMemAddressReserve", byref(address), c_size_t(_CHUNK), c_size_t(0),
                c_uint64(start), c_uint64(0),
            )  # fmt: skip
            if address.value != start:
                self._call("cuMemAddressFree", address, c_size_t(_CHUNK))
                return start
        return HEAP_END

    def _reach(self, end: int) -> None:
        """Put memory at the executor's addresses up to one.

        Raises
        ------
        ExecutionError
            If the driver could not have them.
        """
        if end > self._reserved:
            raise ExecutionError(
                f"Memory of a program must be at most {self._reserved - HEAP_BASE} bytes on this "
                f"GPU, not {end - HEAP_BASE}"
            )
        while self._end < end:
            address, handle, size = c_uint64(self._end), c_uint64(), c_size_t(_CHUNK)
            place = _Place(1, self._device.value)
            kind, access = _Kind(type=1, place=place), _Access(place, 3)
            self._call("cuMemCreate", byref(handle), size, byref(kind), c_uint64(0))
            self._call("cuMemMap", address, size, c_size_t(0), handle, c_uint64(0))
            self._call("cuMemSetAccess", address, size, byref(access), c_size_t(1))
            self._end += _CHUNK

    def write(self, address: int, data: np.ndarray) -> None:
        """Copy bytes to the GPU."""
        if HEAP_BASE <= address < HEAP_END:
            self._reach(address + len(data))
        source = np.ascontiguousarray(data)
        self._call(
            "cuMemcpyHtoD_v2", c_uint64(address), c_void_p(source.ctypes.data), c_size_t(len(data))
        )

    def read(self, address: int, size: int) -> np.ndarray:
        """Copy bytes from the GPU."""
        data = np.empty(size, np.uint8)
        if size:
            self._call(
                "cuMemcpyDtoH_v2", c_void_p(data.ctypes.data), c_uint64(address), c_size_t(size)
            )
        return data

    # Launches

    def launch(self, image: int, call: KernelCall) -> None:
        """Run a kernel to its end.

        Raises
        ------
        KernelFault
            If a thread does something illegal, or the kernel does not end.
        """
        function = c_void_p()
        self._call("cuModuleGetFunction", byref(function), c_void_p(image), call.kernel.encode())
        if call.shared > _USUAL_SHARED:
            self._call(
                "cuFuncSetAttribute", function, c_int(_MOST_DYNAMIC_SHARED),
                c_int(call.shared),
            )  # fmt: skip
        values = [ctypes.create_string_buffer(each, max(len(each), 1)) for each in call.parameters]
        pointers = (c_void_p * max(len(values), 1))(*map(ctypes.addressof, values))
        shape = [c_uint(size) for size in (*call.grid, *call.block)]
        shared = c_uint(call.shared)
        self._call("cuEventRecord", self._marks[0], None)
        if call.is_cooperative:
            self._call("cuLaunchCooperativeKernel", function, *shape, shared, None, pointers)
        else:
            self._call("cuLaunchKernel", function, *shape, shared, None, pointers, None)
        self._call("cuEventRecord", self._marks[1], None)
        self._wait(call.kernel)
        milliseconds = ctypes.c_float()
        self._call("cuEventElapsedTime", byref(milliseconds), *self._marks)
        self.microseconds = 1000 * milliseconds.value

    def _wait(self, kernel: str) -> None:
        deadline, pause = time.monotonic() + self._seconds, 0.0
        while (status := self._library.cuStreamQuery(None)) == _NOT_READY:
            if time.monotonic() > deadline:
                raise KernelFault(
                    Fault.NO_END,
                    f"Kernel {kernel} has not ended on the GPU after {self._seconds:g} s",
                )
            time.sleep(pause)
            pause = min(pause + 1e-5, 1e-2)
        if status:
            raise KernelFault(
                _FAULTS.get(status, Fault.TRAP),
                f"Kernel {kernel} was ended by the GPU: {self._error(status)}; where, "
                "the executor says",
            )
