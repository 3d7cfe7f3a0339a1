"""A board with HiRace.

Ref: HiRace (SC'24).
"""

from __future__ import annotations

from racetrap.fpga.gpu.board import GpuBoard
from racetrap.golden_model.hirace.lane_splitter import split_lanes
from racetrap.golden_model.hirace.report import RaceReport


class HiraceBoard(GpuBoard):
    """As ``GpuBoard``."""

    split, report = split_lanes, RaceReport
