"""Files made from a register description: C header, manual, IP-XACT, and its own source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

from peakrdl_cheader.exporter import CHeaderExporter
from peakrdl_ipxact import IPXACTExporter
from peakrdl_markdown import MarkdownExporter

from racetrap.generators.fusesoc import LIBRARY, VENDOR
from racetrap.generators.system import Params, System
from racetrap.generators.systems import system_of
from racetrap.golden_model.atomic_write import atomic_write_text
from racetrap.rtl.common.register_description import description_text

_INCLUDE = "#include <assert.h>\n"
_PACKED = "__attribute__ ((__packed__))"
_SIZE_CHECK = re.compile(r"^static_assert\(.*\);$", re.MULTILINE)

_MEMORY_MAPS = "</ipxact:memoryMaps>\n"
#: What stands behind the memory maps in a component.
_IPXACT_FILES = """\
  <ipxact:fileSets>
    <ipxact:fileSet>
      <ipxact:name>rtl</ipxact:name>
{files}    </ipxact:fileSet>
  </ipxact:fileSets>
"""
_IPXACT_FILE = """\
      <ipxact:file>
        <ipxact:name>{name}</ipxact:name>
        <ipxact:fileType>{kind}</ipxact:fileType>
      </ipxact:file>
"""
_KINDS = {".sv": "systemVerilogSource", ".v": "verilogSource"}
_SUFFIXES = {"header": "h", "manual": "md", "ipxact": "xml", "systemrdl": "rdl"}


def register_manual(system: System, params: Params | None = None) -> str:
    """The register manual of a system, or of an instance, whose first heading is of level two."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "manual.md"
        MarkdownExporter().export(system.registers(params), str(path))
        return path.read_text("utf-8")


def write_register_files(
    params: Params, component: str, folder: Path, stem: str, sources: Sequence[str] = ()
) -> dict[str, Path]:
    """Write all files on the registers of an instance.

    Ref: IEEE 1685-2014 (IP-XACT).

    Parameters
    ----------
    params : Params
        Parameters of the instance.
    component : str
        Name of the IP-XACT component.
    folder : Path
        Folder of the files.
    stem : str
        Their name before the suffix.
    sources : sequence of str
        Names of the Verilog and SystemVerilog files of the component, which IP-XACT lists.

    Returns
    -------
    dict of str to Path
        ``header`` (C), ``manual`` (Markdown), ``ipxact``, and ``systemrdl``: the description that
        the hardware's registers are made from.
    """
    paths = {kind: folder / f"{stem}.{suffix}" for kind, suffix in _SUFFIXES.items()}
    system = system_of(params)
    _write_header(system, params, paths["header"])
    manual = f"# Registers of {system.name}\n\n{register_manual(system, params)}"
    atomic_write_text(paths["manual"], manual)
    _write_ipxact(system, params, component, paths["ipxact"], sources)
    source = description_text(system.register_source, **system.register_parameters(params))
    atomic_write_text(paths["systemrdl"], source)
    return paths


def _write_ipxact(
    system: System, params: Params, component: str, path: Path, sources: Sequence[str]
) -> None:
    """Write the IP-XACT component, to which the exporter gives no files."""
    ipxact = IPXACTExporter(vendor=VENDOR, library=LIBRARY, version=metadata.version("racetrap"))
    ipxact.export(system.registers(params), str(path), component_name=component)
    text = path.read_text(encoding="utf-8")
    if text.count(_MEMORY_MAPS) != 1:
        raise ValueError(f"IP-XACT has {_MEMORY_MAPS} {text.count(_MEMORY_MAPS)} times, not once")
    files = "".join(
        _IPXACT_FILE.format(name=name, kind=_KINDS[Path(name).suffix]) for name in sources
    )
    text = text.replace(_MEMORY_MAPS, _MEMORY_MAPS + _IPXACT_FILES.format(files=files))
    path.write_text(text, encoding="utf-8")


def _write_header(system: System, params: Params, path: Path) -> None:
    """Write a C header whose macros are named after registers, not after types they share."""
    CHeaderExporter().export(system.registers(params), str(path), reuse_typedefs=False)
    text = path.read_text(encoding="utf-8")
    for once in (_INCLUDE, _PACKED):
        if text.count(once) != 1:
            raise ValueError(f"Header has {once.strip()} {text.count(once)} times, not once")
    # A freestanding compiler has no <assert.h>.
    text = text.replace(_INCLUDE, "")
    # Members of a packed structure may be unaligned: compilers would read their words bytewise.
    text = text.replace(_PACKED, "__attribute__ ((__packed__, __aligned__(4)))")
    text = _SIZE_CHECK.sub(
        lambda check: f"#ifdef __cplusplus\n{check[0]}\n#else\n_S{check[0][1:]}\n#endif", text
    )
    path.write_text(text, encoding="utf-8")
