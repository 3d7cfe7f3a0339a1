"""Files made from a register description: C header, manual, IP-XACT, and its own source."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

from peakrdl_cheader.exporter import CHeaderExporter
from peakrdl_ipxact import IPXACTExporter
from peakrdl_markdown import MarkdownExporter

from racetrap.generators.fusesoc import LIBRARY, VENDOR
from racetrap.generators.system import System

__all__ = ["write_manual", "write_register_files"]

_SUFFIXES = {"header": "h", "manual": "md", "ipxact": "xml", "systemrdl": "rdl"}


def write_manual(system: System, path: Path) -> None:
    """Write the register manual (Markdown) of a system to ``path``."""
    MarkdownExporter().export(system.registers(), str(path))
    # The exporter begins with a second-level heading.
    path.write_text(f"# Registers of {system.name}\n\n{path.read_text('utf-8')}", encoding="utf-8")


def write_register_files(
    system: System, component: str, folder: Path, stem: str
) -> dict[str, Path]:
    """Write all files on the registers of a system.

    Ref: IEEE 1685-2014 (IP-XACT).

    Parameters
    ----------
    system : System
        The system.
    component : str
        Name of the IP-XACT component.
    folder : Path
        Folder of the files.
    stem : str
        Their name before the suffix.

    Returns
    -------
    dict of str to Path
        ``header`` (C), ``manual`` (Markdown), ``ipxact``, and ``systemrdl``: the description that
        the hardware's registers are made from.
    """
    paths = {kind: folder / f"{stem}.{suffix}" for kind, suffix in _SUFFIXES.items()}
    CHeaderExporter().export(system.registers(), str(paths["header"]))
    write_manual(system, paths["manual"])
    ipxact = IPXACTExporter(vendor=VENDOR, library=LIBRARY, version=metadata.version("racetrap"))
    ipxact.export(system.registers(), str(paths["ipxact"]), component_name=component)
    paths["systemrdl"].write_bytes(system.register_source.read_bytes())
    return paths
