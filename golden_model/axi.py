"""Codes of AXI4 shared by models and hardware.

Ref: AMBA AXI and ACE Protocol Specification (IHI 0022), Section A3.4.1.
"""

from __future__ import annotations

from enum import IntEnum

#: No burst crosses a boundary of this many bytes.
PAGE_BYTES = 4096


class AxiBurst(IntEnum):
    """Codes of AWBURST and ARBURST."""

    FIXED = 0
    INCR = 1
    WRAP = 2
