"""Files made from a register description: C header, manual, IP-XACT, and its own source."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

from peakrdl_cheader.exporter import CHeaderExporter
from peakrdl_ipxact import IPXACTExporter
from peakrdl_markdown import MarkdownExporter

from racetrap.generators.fusesoc import LIBRARY, VENDOR
from racetrap.generators.system import System

__all__ = ["write_header", "write_ipxact", "write_manual", "write_source"]


def write_header(system: System, path: Path) -> None:
    """Write the C header of a system's registers to ``path``."""
    CHeaderExporter().export(system.registers(), str(path))


def write_manual(system: System, path: Path) -> None:
    """Write the register manual (Markdown) of a system to ``path``."""
    MarkdownExporter().export(system.registers(), str(path))


def write_ipxact(system: System, component: str, path: Path) -> None:
    """Write the registers of a system to ``path`` as the IP-XACT component ``component``.

    Ref: IEEE 1685-2014.
    """
    exporter = IPXACTExporter(vendor=VENDOR, library=LIBRARY, version=metadata.version("racetrap"))
    exporter.export(system.registers(), str(path), component_name=component)


def write_source(system: System, path: Path) -> None:
    """Write the SystemRDL description that the hardware's registers are made from to ``path``."""
    path.write_bytes(system.register_source.read_bytes())
