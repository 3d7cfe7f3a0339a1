"""A board with causality.

Ref: ScoRD (ISCA'20) Section VI.
"""

from __future__ import annotations

from racetrap.fpga.gpu.board import GpuBoard
from racetrap.golden_model.causality.report import RaceReport
from racetrap.golden_model.causality.word_splitter import split_words


class CausalityBoard(GpuBoard):
    """As ``GpuBoard``."""

    split, report = split_words, RaceReport
