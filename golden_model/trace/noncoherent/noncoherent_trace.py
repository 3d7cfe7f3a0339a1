"""Trace of a CPU and its accelerators in memory, always valid; made from operations or a file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from racetrap.golden_model.trace.container.event_rules import violations_by_block
from racetrap.golden_model.trace.container.rules import RuleViolation
from racetrap.golden_model.trace.container.trace import BaseTrace
from racetrap.golden_model.trace.noncoherent.operations import (
    MAINTENANCE,
    RANGE_KINDS,
    SYNCS,
    NoncoherentTraceHeader,
    Operation,
)
from racetrap.golden_model.trace.noncoherent.rules import rule_violations
from racetrap.golden_model.trace.noncoherent.schema import OPERATION_SCHEMA


class NoncoherentTrace(BaseTrace[NoncoherentTraceHeader, Operation]):
    """Header and operations of a run of a CPU and its accelerators.

    Iterating gives ``Operation`` tuples, made block by block from the records.

    Parameters
    ----------
    header : NoncoherentTraceHeader
        Header of the trace.
    events : numpy.ndarray
        Records of ``OPERATION_DTYPE``; may be mapped from a file.
    where : callable, optional
        Place of an operation, from its number, for error messages.

    Raises
    ------
    TraceError
        If a rule is broken.
    """

    schema = OPERATION_SCHEMA
    kind = "a trace of a CPU and its accelerators"
    accesses = "ranges", "ranges"

    @property
    def addresses(self) -> np.ndarray:
        """First addresses of all operations that have a range of bytes."""
        return self.events["address"][np.isin(self.events["kind"], list(RANGE_KINDS))]

    @property
    def maintenance_places(self) -> dict[int, np.ndarray]:
        """Numbers of the cache operations and waits at each PC that has some, in the order of the
        first; without those whose PC is not known."""
        events = self.events
        is_meant = np.isin(events["kind"], list(MAINTENANCE | SYNCS)) & (events["pc"] != 0)
        numbers = np.flatnonzero(is_meant)
        places: dict[int, np.ndarray] = {}
        for pc in dict.fromkeys(events["pc"][numbers].tolist()):
            places[pc] = numbers[events["pc"][numbers] == pc]
        return places

    def _violations(self) -> Iterator[RuleViolation]:
        return violations_by_block(self.events, partial(rule_violations, self.header))
