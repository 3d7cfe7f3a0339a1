"""Arguments of a launch as the bytes of parameter memory.

Ref: PTX ISA 9.0, Section 5.1.6 (param).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from racetrap.sim.gpu.executor.arithmetic.scalars import scalar
from racetrap.sim.gpu.executor.machine.errors import ExecutionError
from racetrap.sim.gpu.ptx.module import TYPE_BYTES, Variable, parameter_layout


def parameter_bytes(
    kernel: str, formals: Sequence[Variable], arguments: Sequence[int | float | bytes] | bytes
) -> tuple[np.ndarray, int]:
    """Bytes of a kernel's parameters, padded to a multiple of 16, and their number unpadded.

    Parameters
    ----------
    kernel : str
        Name of the kernel.
    formals : sequence of Variable
        Its parameters.
    arguments : sequence of int, float or bytes, or bytes
        A value for each, bytes for a structure; or the bytes of all.

    Raises
    ------
    ExecutionError
        If there are more or fewer, or one does not fit.
    """
    offsets, size = parameter_layout(formals)
    raw = np.zeros(-(-size // 16) * 16, np.uint8)
    if isinstance(arguments, bytes):
        if len(arguments) != size:
            raise ExecutionError(
                f"Arguments of {kernel} must be {size} bytes, not {len(arguments)}"
            )
        raw[:size] = np.frombuffer(arguments, np.uint8)
        return raw, size
    if len(arguments) != len(formals):
        raise ExecutionError(f"Arguments of {kernel} must be {len(formals)}, not {len(arguments)}")
    for formal, offset, value in zip(formals, offsets, arguments, strict=True):
        raw[offset : offset + formal.size] = np.frombuffer(_argument(formal, value), np.uint8)
    return raw, size


def _argument(formal: Variable, value: int | float | bytes) -> bytes:
    if isinstance(value, bytes):
        if len(value) != formal.size:
            raise ExecutionError(
                f"Argument {formal.name} must be {formal.size} bytes, not {len(value)}"
            )
        return value
    if formal.size != TYPE_BYTES.get(formal.type):
        raise ExecutionError(f"Argument {formal.name} must be {formal.size} bytes, not {value!r}")
    dtype = scalar(formal.type).dtype
    if dtype.kind == "f" or isinstance(value, float | np.floating):
        return np.array(value, f"f{formal.size}").tobytes()
    return (int(value) & (1 << 8 * formal.size) - 1).to_bytes(formal.size, "little")
