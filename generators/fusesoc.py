"""A FuseSoC core description of generated Verilog.

Ref: FuseSoC, CAPI2 (version 2 of its core description format).
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata

from racetrap.generators.presets import module_name, package_name

#: Vendor and library in names of the form vendor:library:name:version.
VENDOR = "racetrap"
LIBRARY = "detectors"
#: Fileset of the whole system; that of a part has its name.
_WHOLE = "rtl"

_HEAD = """\
CAPI=2:

name: {name}
description: Hardware race detector, preset {preset}

filesets:
  waivers:
    files: [{file}.vlt]
    file_type: vlt
  package:
    files: [{package}.sv]
    file_type: systemVerilogSource
"""
_FILESET = """\
  {fileset}:
    files: [{file}]
    file_type: verilogSource
"""
_DEFAULT = """\

targets:
  default:
    filesets: [package, {fileset}, waivers]
    toplevel: {module}
"""
_TARGETS = """\

  lint{suffix}:
    description: Verilator finds nothing beyond the waivers
    filesets: [package, {fileset}, waivers]
    toplevel: {module}
    flow: lint
    flow_options:
      tool: verilator
      verilator_options: [-Wall]

  synth{suffix}:
    description: Yosys, for ECP5; a whole system has more ports than a package has pins
    filesets: [{fileset}]
    toplevel: {module}
    flow: generic
    flow_options:
      tool: yosys
      arch: ecp5
      output_format: json
"""


def core_name(name: str) -> str:
    """Name of the core of a configuration, with the version of this package."""
    return f"{VENDOR}:{LIBRARY}:{name}:{metadata.version('racetrap')}"


def core_description(name: str, preset: str, tops: Sequence[str]) -> str:
    """Text of a core description beside the generated files.

    Target ``default`` is for a core that depends on this one; ``lint`` (Verilator) and ``synth``
    (Yosys) stand alone, and there is a pair of them for each part: ``lint-rdm``, ``synth-rdm``.

    Parameters
    ----------
    name : str
        Name of the files.
    preset : str
        Preset that the configuration comes from.
    tops : sequence of str
        Tops with their own file: the whole system under the empty name, and parts.  Other cores
        depend on the first.
    """
    text = _HEAD.format(name=core_name(name), preset=preset, file=name, package=package_name(name))
    for part in tops:
        file = f"{name}-{part}.v" if part else f"{name}.v"
        text += _FILESET.format(fileset=part or _WHOLE, file=file)
    first = tops[0]
    text += _DEFAULT.format(fileset=first or _WHOLE, module=module_name(name, first))
    for part in tops:
        suffix, module = f"-{part}" if part else "", module_name(name, part)
        text += _TARGETS.format(suffix=suffix, fileset=part or _WHOLE, module=module)
    return text
