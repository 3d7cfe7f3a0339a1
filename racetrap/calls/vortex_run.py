"""Run of a C kernel on simulated cores of Vortex, beside a detector's hardware."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from racetrap.calls.check import check
from racetrap.calls.report import Report
from racetrap.calls.results import VortexResult
from racetrap.commands.shared.input_files import given_name
from racetrap.commands.shared.terminal import input_errors
from racetrap.generators.presets import chosen_params
from racetrap.golden_model.trace import Trace
from racetrap.presenters.vortex_run import print_run, report_rows

#: Preset unless another is named.
DETECTOR = "scord-nocache"


def vortex_run(
    kernel: str | Path, macros: Sequence[str] = (), *, detector: str | None = None,
    settings: Sequence[str] = (), seed: int = 1, trace: str | Path | None = None,
    waves: str | Path | None = None, report: Report | None = None,
) -> VortexResult:  # fmt: skip
    """Run a kernel on simulated Vortex cores beside a detector, compare, and judge its trace.

    Parameters
    ----------
    kernel : str or Path
        C source.
    macros : sequence of str
        Macros for the compiler, as ``NAME`` or ``NAME=value``.
    detector : str, optional
        Preset of the detector.
    settings : sequence of str
        Changed parameters of the detector and of the machine, as ``name=value``.
    seed : int
        Seed for all random choices.
    trace : str or Path, optional
        File for the trace of the run.
    waves : str or Path, optional
        File for waves of detector, front ends and adapters in the first launch, in FST.
    report : Report, optional
        Where findings are printed; by default the result has the text.

    Raises
    ------
    ValueError
        If an argument is wrong.
    Failure
        If hardware and golden models disagree, the kernel does not end, or a tool fails.
    """
    # Imported late: they need the extra for hardware.
    from racetrap.sim.cosim.vortex.kernel_image import compile_kernel
    from racetrap.sim.cosim.vortex.session import run_alone, run_beside
    from racetrap.sim.cosim.vortex.simulation import Machine, params_beside

    report, preset = report or Report(), detector or DETECTOR
    with input_errors():
        params, machine = chosen_params(preset, settings, Trace, Machine())
        params = params_beside(params, machine.cores)
    image = compile_kernel(Path(kernel), macros)
    alone = run_alone(preset, params, image, machine, seed)
    with TemporaryDirectory() as folder:
        written = None if waves is None else Path(folder) / "waves.fst"
        done = run_beside(preset, params, image, machine, seed, written)
        if written is not None and waves is not None:
            shutil.copy(written, waves)
        rows = report_rows(done)
        print_run(report.console, done, alone, rows)
        path = Path(trace) if trace is not None else Path(folder) / "vortex.trace"
        done.trace.write_binary(path)
        judged = check(path, report=report, cures=False)
    document = {
        "kernel": given_name(str(kernel)), "macros": list(macros), "preset": preset,
        "parameters": asdict(params), "seed": seed, "machine": asdict(machine),
        "cycles": done.cycles, "cycles_without": alone.cycles, "waits": done.waits,
        "console": done.console,
        "result": done.result, "result_without": alone.result,
        "instructions": done.instructions, "transactions": done.transactions,
        "counters": done.counters, "reports": rows,
        "exact": {**judged.to_dict(), "trace": given_name(str(trace or kernel))},
    }  # fmt: skip
    return VortexResult(
        document=document, text=report.text, kernel=given_name(str(kernel)), reports=rows,
        has_findings=bool(rows) or judged.has_findings,
    )  # fmt: skip
