"""SigRace for the generator.

Ref: SigRace (ISCA'09) Section 5.5.
"""

from __future__ import annotations

from amaranth.lib import wiring
from systemrdl.node import AddrmapNode

from racetrap.generators.system import System
from racetrap.golden_model.layout import Layout
from racetrap.golden_model.sigrace.params import SigraceParams

__all__ = ["SIGRACE"]


def _top(params: SigraceParams) -> wiring.Component:
    from racetrap.rtl.sigrace.system import SigraceSystem

    return SigraceSystem(params)


def _core_unit(params: SigraceParams) -> wiring.Component:
    from racetrap.rtl.sigrace.core_unit import CoreUnit

    return CoreUnit(params)


def _rdm(params: SigraceParams) -> wiring.Component:
    from racetrap.rtl.sigrace.rdm import Rdm

    return Rdm(params)


def _registers() -> AddrmapNode:
    from racetrap.rtl.sigrace.registers import compile_registers

    return compile_registers()


def _method_bits(params: SigraceParams) -> dict[str, int]:
    from racetrap.golden_model.sigrace.state import state_bits

    return state_bits(params)


def _layouts(params: SigraceParams) -> dict[str, Layout]:
    return {
        "event": params.event_layout,
        "core_step": params.core_step_layout,
        "trap": params.trap_layout,
        "flit": params.flit_layout,
        "header": params.header_layout,
        "rdm_step": params.rdm_step_layout,
        "log": params.log_layout,
    }


def _trace_ports(params: SigraceParams) -> dict[str, list[str]]:
    if not params.trace_port:
        return {"core_step": [], "rdm_step": []}
    units = range(params.cores * params.contexts)
    return {"core_step": [f"trace_core__{unit}" for unit in units], "rdm_step": ["trace_rdm"]}


SIGRACE = System(
    name="sigrace",
    params=SigraceParams,
    top=_top,
    parts={"core-unit": _core_unit, "rdm": _rdm},
    layouts=_layouts,
    trace_ports=_trace_ports,
    registers=_registers,
    state_kinds={},
    method_bits=_method_bits,
)
