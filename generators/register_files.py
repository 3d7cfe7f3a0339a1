"""Files made from the register description: C header and manual."""

from __future__ import annotations

from pathlib import Path

from peakrdl_cheader.exporter import CHeaderExporter
from peakrdl_markdown import MarkdownExporter

from racetrap.rtl.scord.registers import compile_registers

__all__ = ["write_header", "write_manual"]


def write_header(path: Path) -> None:
    """Write the C header of the registers to ``path``."""
    CHeaderExporter().export(compile_registers(), str(path))


def write_manual(path: Path) -> None:
    """Write the register manual (Markdown) to ``path``."""
    MarkdownExporter().export(compile_registers(), str(path))
