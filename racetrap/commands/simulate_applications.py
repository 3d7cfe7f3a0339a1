"""The suite ``scor-apps`` of ``racetrap simulate``: applications on the fast co-simulation.

They make far more accesses than the bench can drive in reasonable time; the hardware is the
same, and every step is compared all the same.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import NoReturn

from racetrap.commands.worker_pool import worker_pool
from racetrap.evaluation.scord.applications import application_verdicts
from racetrap.evaluation.scord.programs import GEOMETRY, applications
from racetrap.golden_model.scord.params import ScordParams
from racetrap.presenters.output import (
    ExitStatus,
    fail,
    input_errors,
    print_table,
    report_console,
    write_json,
)
from racetrap.presenters.scord_races import check_geometry
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.systems import build_fast
from racetrap.sim.cosim.verilator.cocotb_build import BuildError
from racetrap.sim.cosim.verilator.tools import missing_tools

__all__ = ["run_applications"]

_WORKERS = 2


def run_applications(
    preset: str, params: ScordParams, size: str, schedules: int, seed: int, json_file: str | None
) -> NoReturn:
    """Run every build of every application, print the verdicts and leave.

    Exit status 0 if every verdict is as expected, 2 if the preset is too small for the
    applications, 3 if hardware and golden model disagree, a verdict is wrong or a tool fails.
    """
    if missing := missing_tools():
        fail(missing[0], ExitStatus.FAILED)
    with input_errors():
        check_geometry(GEOMETRY, params)
    try:
        model = build_fast(preset, params)
        total = schedules * len(list(applications()))
        with worker_pool(_WORKERS, "Simulating", total) as (pool, done):
            verdicts = application_verdicts(model, size, schedules, seed, pool, done)
    except (BuildError, Mismatch) as error:
        fail(error, ExitStatus.FAILED)
    columns = [
        "application", "build", "expected", "runs", "oracle", "golden", "RTL", "kinds", "steps",
        "cycles",
    ]  # fmt: skip
    rows = [
        [
            verdict.build.program, verdict.build.label, verdict.expected, verdict.runs,
            verdict.oracle, verdict.golden, verdict.rtl, ", ".join(sorted(verdict.kinds)),
            verdict.steps, verdict.cycles,
        ]
        for verdict in verdicts
    ]  # fmt: skip
    console = report_console(json_file)
    title = f"ScoR applications, {size}, on {preset}, seed {seed}: runs in which a race was found"
    print_table(console, title, columns, rows)
    right = sum(verdict.is_right for verdict in verdicts)
    console.print(f"Right: {right} of {len(verdicts)} builds.")
    write_json(json_file, {
        "preset": preset, "parameters": asdict(params), "size": size, "seed": seed,
        "builds": [verdict.to_json() for verdict in verdicts],
    })  # fmt: skip
    if right != len(verdicts):
        wrong = next(verdict for verdict in verdicts if not verdict.is_right)
        fail(
            f"Verdict on {wrong.build.program} ({wrong.build.label}) must be {wrong.expected}: "
            f"run again with --seed {seed}",
            ExitStatus.FAILED,
        )
    raise SystemExit(ExitStatus.NO_RACE)
