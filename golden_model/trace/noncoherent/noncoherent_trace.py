"""Trace of a CPU and its accelerators in memory, always valid; made from operations or a file."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from racetrap.golden_model.trace.container.rules import RuleViolation
from racetrap.golden_model.trace.container.trace import BaseTrace
from racetrap.golden_model.trace.noncoherent.operations import NoncoherentTraceHeader, Operation
from racetrap.golden_model.trace.noncoherent.rules import rule_violations
from racetrap.golden_model.trace.noncoherent.schema import OPERATION_SCHEMA

__all__ = ["NoncoherentTrace"]

#: Operations checked at a time: what the check needs does not grow with the trace.
_BLOCK = 1 << 18


class NoncoherentTrace(BaseTrace[NoncoherentTraceHeader, Operation]):
    """Header and operations of a run of a CPU and its accelerators.

    Iterating gives ``Operation`` tuples, made block by block from the records.

    Parameters
    ----------
    header : NoncoherentTraceHeader
        What the trace says about itself.
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

    def _violations(self) -> Iterator[RuleViolation]:
        for start in range(0, max(len(self), 1), _BLOCK):
            block = self.events[start : start + _BLOCK]
            for found in rule_violations(self.header, block):
                yield _moved(found, start)


def _moved(found: RuleViolation, start: int) -> RuleViolation:
    """A violation in a block as one of the trace, in which the block begins at ``start``."""
    rows: np.ndarray = found.rows + start
    return RuleViolation(found.rule, rows, lambda row: found.describe(row - start))
