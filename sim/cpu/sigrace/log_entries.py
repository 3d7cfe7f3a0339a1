"""Conflict log of the compiled machine."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from racetrap.golden_model.sigrace.packets import LogEntry
from racetrap.golden_model.sigrace.params import SigraceParams

__all__ = ["log_entries"]


def log_entries(copy: Callable[..., int], handle: int, params: SigraceParams) -> list[LogEntry]:
    """Entries that a function of the library copies, oldest first.

    Parameters
    ----------
    copy : callable
        The function: gives the number of entries, and copies them if there is room for all.
    handle : int
        What it is called with.
    params : SigraceParams
        The machine.
    """
    count = copy(handle, None, None, None, 0)
    numbers = np.zeros((count, 3), np.uint32)
    stamps = np.zeros((count, 2, params.threads), np.uint32)
    signatures = np.zeros((count, -(-params.signature_bits // 64)), np.uint64)
    copy(handle, numbers.ctypes.data, stamps.ctypes.data, signatures.ctypes.data, count)
    return [
        LogEntry(
            thread, other, conflict, tuple(own), tuple(others),
            int.from_bytes(signature.tobytes(), "little"),
        )
        for (thread, other, conflict), (own, others), signature in zip(
            numbers.tolist(), stamps.tolist(), signatures, strict=True
        )
    ]  # fmt: skip
