"""Public Python interface: what is listed here stays; everything else may change in any version.

A name keeps its meaning, its parameters and their order as long as the first number of the
version is the same.  All are typed.
"""

from racetrap.calls.check import check
from racetrap.calls.cost import cost
from racetrap.calls.evaluate import evaluate
from racetrap.calls.results import (
    CheckResult,
    CostResult,
    EvaluationResult,
    Result,
    RunResult,
    SimulateResult,
    StressResult,
)
from racetrap.calls.run import run
from racetrap.calls.simulate import simulate
from racetrap.calls.stress import stress
from racetrap.generators.artefacts import generate
from racetrap.generators.presets import PRESETS, Preset, find_preset, with_settings
from racetrap.golden_model.barracuda import Barracuda, ScopedOracle
from racetrap.golden_model.events import Event, EventKind, Geometry, Scope, Space, TraceHeader
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.report import RaceReport
from racetrap.golden_model.scord.scord import Scord
from racetrap.golden_model.sigrace.environment import Environment
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace import (
    NoncoherentTrace,
    ThreadTrace,
    Trace,
    TraceError,
    read_trace,
)
from racetrap.sim.accelerator.recorder import record_accelerator
from racetrap.sim.cpu.recorder import Recording, RunOptions, record
from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions
from racetrap.sim.gpu.executor.device import Device, LaunchStats
from racetrap.sim.gpu.launch.capture import Capture, capture
from racetrap.sim.gpu.launch.kernel_source import read_kernel_file
from racetrap.sim.gpu.launch.launch_file import LaunchSpec, read_launch
from racetrap.verdict.gpu.findings import Finding
from racetrap.verdict.gpu.fit import region_of
from racetrap.verdict.scord.findings import find_races

__all__ = [
    "PRESETS",
    "Barracuda",
    "Capture",
    "CheckResult",
    "CompilerOptions",
    "CostResult",
    "Device",
    "Environment",
    "EvaluationResult",
    "Event",
    "EventKind",
    "Finding",
    "Geometry",
    "LaunchSpec",
    "LaunchStats",
    "NoncoherentParams",
    "NoncoherentTrace",
    "Preset",
    "RaceReport",
    "Recording",
    "Region",
    "Result",
    "RunOptions",
    "RunResult",
    "Scope",
    "ScopedOracle",
    "Scord",
    "ScordParams",
    "Sigrace",
    "SigraceParams",
    "SimulateResult",
    "Space",
    "StressResult",
    "ThreadTrace",
    "Trace",
    "TraceError",
    "TraceHeader",
    "capture",
    "check",
    "cost",
    "evaluate",
    "find_preset",
    "find_races",
    "generate",
    "read_kernel_file",
    "read_launch",
    "read_trace",
    "record",
    "record_accelerator",
    "region_of",
    "run",
    "simulate",
    "stress",
    "with_settings",
]
