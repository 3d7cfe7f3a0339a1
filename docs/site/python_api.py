"""Reference of the public Python interface, by topics, for Sphinx's autodoc."""

from __future__ import annotations

import inspect

from racetrap import api

TOPICS = {
    "Commands": (
        "run", "check", "stress", "simulate", "cost", "evaluate", "RunResult", "CheckResult",
        "StressResult", "SimulateResult", "CostResult", "EvaluationResult", "Result",
        "CompilerOptions",
    ),
    "Traces": (
        "read_trace", "Trace", "ThreadTrace", "NoncoherentTrace", "TraceError", "TraceHeader",
        "Geometry", "Event", "EventKind", "Scope", "Space",
    ),
    "Kernels and programs": (
        "read_kernel_file", "read_launch", "LaunchSpec", "capture", "Capture", "Device",
        "LaunchStats", "record", "Recording", "RunOptions", "record_accelerator",
    ),
    "Configurations": (
        "PRESETS", "Preset", "find_preset", "with_settings", "ScordParams", "SigraceParams",
        "NoncoherentParams", "Region", "region_of",
    ),
    "Detectors and oracles": (
        "find_races", "Finding", "RaceReport", "Scord", "Sigrace", "Environment", "Barracuda",
        "ScopedOracle",
    ),
    "Hardware": ("generate",),
}  # fmt: skip


def _directive(name: str) -> str:
    value = getattr(api, name)
    if inspect.isclass(value):
        kind, options = "class", "\n   :members:"
    else:
        kind, options = ("function" if callable(value) else "data"), ""
    return f"```{{eval-rst}}\n.. auto{kind}:: racetrap.api.{name}{options}\n```\n"


def api_reference() -> str:
    """All public names."""
    return "\n".join(
        part
        for topic, names in TOPICS.items()
        for part in (f"## {topic}\n", *map(_directive, names))
    )
