"""Record schema of a trace of threads.

Ref: ``docs/trace-format.md``, sections on the events of threads and on both forms.
"""

from __future__ import annotations

import numpy as np

from racetrap.golden_model.trace.container.schema import EventSchema, Number, Word, words_of
from racetrap.golden_model.trace.threads.events import (
    BOUNDED,
    ORDER_BITS,
    MemoryOrder,
    SyncClass,
    ThreadEvent,
    ThreadEventKind,
    ThreadTraceHeader,
)

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

_THREAD = (
    Number("thread"),
    Number("pc", is_hexadecimal=True, is_optional=True),
    Number("instructions", is_optional=True),
)
_OBJECT = (*_THREAD, Number("address", is_hexadecimal=True))
_ACCESS = (*_OBJECT, Number("size"))
_FRAME = Number("value", "frame", is_optional=True)
_ATOMIC = (
    *_ACCESS,
    Word("value", "order", words_of(MemoryOrder), bits=ORDER_BITS),
    Number("value", "frame", is_optional=True, first_bit=ORDER_BITS),
)
_LOCK = (*_OBJECT, Word("value", "class", words_of(SyncClass)))
_BARRIER = (*_OBJECT, Number("value", "width"))
_CHILD = (*_THREAD, Number("value", "child"))

THREAD_SCHEMA = EventSchema(
    ThreadTraceHeader,
    ThreadEvent,
    ThreadEventKind,
    (THREAD_DTYPE,),
    {
        ThreadEventKind.LOAD: (*_ACCESS, _FRAME),
        ThreadEventKind.STORE: (*_ACCESS, _FRAME),
        ThreadEventKind.ATOMIC_LOAD: _ATOMIC,
        ThreadEventKind.ATOMIC_STORE: _ATOMIC,
        ThreadEventKind.ATOMIC_UPDATE: _ATOMIC,
        ThreadEventKind.ACQUIRE: (*_LOCK, Word("size", "wait", {"bounded": BOUNDED})),
        ThreadEventKind.RELEASE: _LOCK,
        ThreadEventKind.BARRIER_ARRIVE: _BARRIER,
        ThreadEventKind.BARRIER_LEAVE: _BARRIER,
        ThreadEventKind.CREATE: _CHILD,
        ThreadEventKind.BEGIN: _THREAD,
        ThreadEventKind.END: _THREAD,
        ThreadEventKind.JOIN: _CHILD,
        ThreadEventKind.ALLOCATE: (*_OBJECT, Number("value", "bytes")),
        ThreadEventKind.FREE: _OBJECT,
        ThreadEventKind.COLLECT_OFF: _THREAD,
        ThreadEventKind.COLLECT_ON: _THREAD,
    },
)
