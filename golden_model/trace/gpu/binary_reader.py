"""Binary form of a GPU trace, reading: its two arrays are mapped from the file."""

from __future__ import annotations

import numpy as np

from racetrap.golden_model.trace.container.container import Container
from racetrap.golden_model.trace.container.rules import Rule, TraceError
from racetrap.golden_model.trace.gpu.header import header_from_dict
from racetrap.golden_model.trace.gpu.records import EVENT_DTYPE, LANE_DTYPE
from racetrap.golden_model.trace.gpu.trace import Trace

__all__ = ["load_binary"]


def load_binary(container: Container) -> Trace:
    """Check a binary GPU trace; its arrays are mapped, not copied.

    Raises
    ------
    TraceError
        If the file breaks a rule of the format.
    """
    place, event_count, lane_count = container.place, *container.counts
    lanes_at = event_count * EVENT_DTYPE.itemsize
    end = lanes_at + lane_count * LANE_DTYPE.itemsize
    container.check_length(end)
    try:
        header = header_from_dict(container.header)
    except (TypeError, ValueError) as error:
        raise TraceError(f"{place}, header", Rule.HEADER, str(error)) from None
    return Trace(
        header,
        container.body[:lanes_at].view(EVENT_DTYPE).view(np.ndarray),
        container.body[lanes_at:end].view(LANE_DTYPE).view(np.ndarray),
        lambda row: f"{place}, event record {row}" if row >= 0 else place,
    )
