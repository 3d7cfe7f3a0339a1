"""Trace of threads in memory, always valid; made from events or from a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Self

import numpy as np

from racetrap.golden_model.trace.container.container import Container
from racetrap.golden_model.trace.container.header import header_from_dict
from racetrap.golden_model.trace.container.rules import RuleViolation
from racetrap.golden_model.trace.container.trace import BaseTrace
from racetrap.golden_model.trace.threads.compression import compressed, decompressed
from racetrap.golden_model.trace.threads.events import (
    ACCESS_KINDS,
    ATOMIC_KINDS,
    ThreadEvent,
    ThreadTraceHeader,
)
from racetrap.golden_model.trace.threads.rules import rule_violations
from racetrap.golden_model.trace.threads.schema import THREAD_SCHEMA


class ThreadTrace(BaseTrace[ThreadTraceHeader, ThreadEvent]):
    """Header and events of a run of threads.

    Iterating gives ``ThreadEvent`` tuples, made block by block from the records.

    Parameters
    ----------
    header : ThreadTraceHeader
        Header of the trace.
    events : numpy.ndarray
        Records of ``THREAD_DTYPE``; may be mapped from a file.
    where : callable, optional
        Place of an event, from its number, for error messages.

    Raises
    ------
    TraceError
        If a rule is broken.
    """

    schema = THREAD_SCHEMA
    kind = "a trace of threads"
    accesses = "accesses", "accesses"

    @property
    def addresses(self) -> np.ndarray:
        """Addresses of all accesses, plain and atomic."""
        accessing = np.isin(self.events["kind"], list(ACCESS_KINDS | ATOMIC_KINDS))
        return self.events["address"][accessing]

    @property
    def totals(self) -> dict[str, int]:
        """Instructions committed."""
        return {"instructions": int(self.events["instructions"].sum(dtype=np.uint64))}

    def _violations(self) -> Iterator[RuleViolation]:
        return rule_violations(self.header, self.events)

    @classmethod
    def from_container(cls, container: Container) -> Self:
        """Trace in a binary file; its records are mapped unless they are compressed.

        Raises
        ------
        TraceError
            If the file breaks a rule of the format.
        """
        packed_bytes = container.counts[1]
        if not packed_bytes:
            return super().from_container(container)
        container.check_length(packed_bytes)
        header = header_from_dict(ThreadTraceHeader, container.header, container.place)
        return cls(header, decompressed(container), where=container.place_of_record)

    def write_binary(self, path: str | os.PathLike[str], compress: bool = False) -> None:
        """Write the binary form; a compressed one is smaller, but cannot be mapped for reading."""
        if not compress:
            super().write_binary(path)
            return
        blocks = list(compressed(self.events))
        self._write_container(path, (len(self), sum(map(len, blocks))), blocks)
