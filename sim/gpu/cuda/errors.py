"""CUDA errors that the runtime library receives.

Ref: CUDA Runtime API (CUDA 13.0), ``cudaError``.
"""

from __future__ import annotations

from enum import IntEnum

from racetrap.sim.gpu.executor.machine.errors import Fault


class CudaError(IntEnum):
    """Numbers of errors."""

    SUCCESS = 0
    INVALID_VALUE = 1
    MEMORY_ALLOCATION = 2
    INVALID_CONFIGURATION = 9
    INVALID_MEMCPY_DIRECTION = 21
    INVALID_DEVICE_FUNCTION = 98
    INVALID_PTX = 218
    NO_KERNEL_IMAGE = 209
    INVALID_RESOURCE_HANDLE = 400
    SYMBOL_NOT_FOUND = 500
    ILLEGAL_ADDRESS = 700
    LAUNCH_OUT_OF_RESOURCES = 701
    LAUNCH_TIMEOUT = 702
    ASSERT = 710
    MISALIGNED_ADDRESS = 716
    LAUNCH_FAILURE = 719
    COOPERATIVE_LAUNCH_TOO_LARGE = 720
    INVALID_CLUSTER_SIZE = 912


#: Error of the program's context after a fault.
FAULT_ERRORS = {
    Fault.ILLEGAL_ADDRESS: CudaError.ILLEGAL_ADDRESS,
    Fault.MISALIGNED_ADDRESS: CudaError.MISALIGNED_ADDRESS,
    Fault.ASSERTION: CudaError.ASSERT,
    Fault.TRAP: CudaError.LAUNCH_FAILURE,
    Fault.NO_END: CudaError.LAUNCH_TIMEOUT,
}


class RequestError(ValueError):
    """A request that cannot be served.

    Parameters
    ----------
    error : CudaError
        What the program gets.
    sentence : str
        Reason, for users; empty if the program's own error handling says enough.
    """

    def __init__(self, error: CudaError, sentence: str = ""):
        super().__init__(sentence)
        self.error = error
