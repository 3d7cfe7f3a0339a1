"""Records of a binary trace of threads."""

from __future__ import annotations

import numpy as np

from racetrap.golden_model.trace.threads.events import ACCESS_KINDS, ATOMIC_KINDS, ThreadEventKind

__all__ = ["SIZED_KINDS", "THREAD_DTYPE", "USED_FIELDS"]

#: One event; see ``ThreadEvent``.
THREAD_DTYPE = np.dtype([
    ("address", "<u8"),
    ("pc", "<u4"),
    ("value", "<u4"),
    ("instructions", "<u4"),
    ("thread", "<u2"),
    ("kind", "u1"),
    ("size", "u1"),
])  # fmt: skip

#: Accesses, plain or atomic.
SIZED_KINDS = ACCESS_KINDS | ATOMIC_KINDS

_OBJECT = ("address", "value")

#: Fields that each kind uses besides thread, pc and instructions; all others are 0.
USED_FIELDS: dict[ThreadEventKind, tuple[str, ...]] = {
    ThreadEventKind.LOAD: ("address", "size"),
    ThreadEventKind.STORE: ("address", "size"),
    ThreadEventKind.ATOMIC_LOAD: (*_OBJECT, "size"),
    ThreadEventKind.ATOMIC_STORE: (*_OBJECT, "size"),
    ThreadEventKind.ATOMIC_UPDATE: (*_OBJECT, "size"),
    ThreadEventKind.ACQUIRE: _OBJECT,
    ThreadEventKind.RELEASE: _OBJECT,
    ThreadEventKind.BARRIER_ARRIVE: _OBJECT,
    ThreadEventKind.BARRIER_LEAVE: _OBJECT,
    ThreadEventKind.CREATE: ("value",),
    ThreadEventKind.BEGIN: (),
    ThreadEventKind.END: (),
    ThreadEventKind.JOIN: ("value",),
    ThreadEventKind.ALLOCATE: _OBJECT,
    ThreadEventKind.FREE: ("address",),
    ThreadEventKind.COLLECT_OFF: (),
    ThreadEventKind.COLLECT_ON: (),
}
