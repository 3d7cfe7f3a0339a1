"""SigRace's part of the fast co-simulation."""

from __future__ import annotations

from pathlib import Path

from racetrap.golden_model.sigrace.packets import RdmStepKind
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.sim.cosim.fast.folding import fold_registers
from racetrap.sim.cosim.fast.harness import Harness
from racetrap.sim.cosim.fast.ports import LITE, Instances, Internals, PortGroup, words_of_bits
from racetrap.sim.cosim.fast.simulation import simulation_twins
from racetrap.sim.cosim.sigrace.fast_simulation import PROGRAM_TWINS, SimStats, Timing
from racetrap.sim.cosim.sigrace.unit_clocks import gate_units, unit_gates, unit_memories

_STREAM = ("valid", "ready", "payload")
_TRACE = ("valid", "payload")
_PLACE = ("kind", "core", "context")


def _ports(params: SigraceParams) -> list[PortGroup]:
    units = params.cores * params.contexts
    rdm_trace = "trace_rdm__{}__" if params.scanners > 1 else "trace_rdm__"
    return [
        PortGroup("EventPort", "event", "i_event__{}__", _STREAM, units),
        PortGroup("TrapPort", "trap", "o_trap__{}__", _STREAM, units),
        PortGroup("CoreTracePort", "trace_core", "trace_core__{}__", _TRACE, units),
        PortGroup("RdmTracePort", "trace_rdm", rdm_trace, _TRACE, params.scanners),
        LITE,
    ]


def _constants(params: SigraceParams) -> dict[str, int]:
    step = params.rdm_step_layout
    widths = {name: width for name, _, width in step.flat()}
    return {
        "UNITS": params.cores * params.contexts,
        "CONTEXTS": params.contexts,
        "SCANNERS": params.scanners,
        "DECOMPRESSORS": params.decompressors,
        "EVENT_WORDS": words_of_bits(params.event_layout.width),
        "TRAP_WORDS": words_of_bits(params.trap_layout.width),
        "CORE_STEP_WORDS": words_of_bits(params.core_step_layout.width),
        "RDM_STEP_WORDS": words_of_bits(step.width),
        # All three lie in a step's first word.
        **{f"{name}_OFFSET".upper(): step.offset(name) for name in _PLACE},
        **{f"{name}_MASK".upper(): (1 << widths[name]) - 1 for name in _PLACE},
        "KIND_COMPARE": int(RdmStepKind.COMPARE),
    }


def _internals(params: SigraceParams) -> list[Internals]:
    idle, waits = {"idle": ("o_idle", 1)}, {"valid": ("i__valid", 1), "ready": ("i__ready", 1)}
    return [
        unit_gates(params.cores * params.contexts),
        Internals("Controller", "controller", "rdm.controller", idle, 1),
        Internals(
            "Decompressor", "decompressor", "rdm.decompressor_{}", idle, params.decompressors
        ),
        Internals("Link", "link", "rdm.link_{}", waits, params.cores),
    ]


def _instances(params: SigraceParams) -> list[Instances]:
    return [unit_memories(params.cores * params.contexts)]


def _rewrite_least(verilog: str, params: SigraceParams) -> str:
    return gate_units(verilog, params.cores * params.contexts)


def _rewrite(verilog: str, params: SigraceParams) -> str:
    return _rewrite_least(fold_registers(verilog), params)


HARNESS = Harness(
    Path(__file__).parent, _ports, _constants, ("fast_harness.py", "unit_clocks.py"),
    (*simulation_twins(Timing, SimStats), *PROGRAM_TWINS), _internals, _instances, _rewrite,
    _rewrite_least,
)  # fmt: skip
