"""Options of nvcc by what becomes of them, for the page on CUDA programs."""

from __future__ import annotations

from docs.site.markdown import table
from racetrap.sim.gpu.cuda.nvcc_options import NVCC_OPTIONS, Use


def nvcc_options_table() -> str:
    """A row for each use, with its options by their usual spellings."""
    options = dict.fromkeys(NVCC_OPTIONS.values())
    rows = [
        (use.value, " ".join(f"`{each.name}`" for each in options if each.use is use))
        for use in Use
    ]
    return table(("use", "options of nvcc"), rows)
