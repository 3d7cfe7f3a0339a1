"""Files made from a register description: C header and manual."""

from __future__ import annotations

from pathlib import Path

from peakrdl_cheader.exporter import CHeaderExporter
from peakrdl_markdown import MarkdownExporter

from racetrap.generators.system import System

__all__ = ["write_header", "write_manual"]


def write_header(system: System, path: Path) -> None:
    """Write the C header of a system's registers to ``path``."""
    CHeaderExporter().export(system.registers(), str(path))


def write_manual(system: System, path: Path) -> None:
    """Write the register manual (Markdown) of a system to ``path``."""
    MarkdownExporter().export(system.registers(), str(path))
