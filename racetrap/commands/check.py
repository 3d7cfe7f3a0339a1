"""`racetrap check`: look for races in a trace or a kernel with the golden model alone."""

from __future__ import annotations

from typing import Any

import click

from racetrap.commands.check_gpu import check_gpu_trace
from racetrap.commands.check_threads import check_thread_trace
from racetrap.commands.kernel_options import capture_kernel, launch_option, run_to_dict
from racetrap.commands.stimulus_options import THREAD_TRACE, check_options, kind_of
from racetrap.generators.presets import find_preset, with_settings
from racetrap.generators.system import Params
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.sigrace.environment import ENVIRONMENTS, Environment
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace import ThreadTrace, Trace, read_trace
from racetrap.presenters.output import ExitStatus, input_errors, json_option, set_option, write_json
from racetrap.sim.gpu.launch.kernel_source import is_kernel_file

__all__ = ["command"]

#: Options that are not for every trace.
_STIMULI = {name: [THREAD_TRACE] for name in ("environment", "interval", "ideal")}


def _trace_of(path: str, launch_file: str | None) -> tuple[Trace | ThreadTrace, dict[str, Any]]:
    """Trace to be checked, and what JSON says of the run that it was taken from."""
    with input_errors():
        if launch_file is None:
            if is_kernel_file(path):
                raise ValueError(f"Check of a kernel must have --launch FILE, not only {path}")
            return read_trace(path), {}
    captured = capture_kernel(path, launch_file)
    return captured.trace, {"launch": launch_file, "run": run_to_dict(captured)}


def _params_for(trace: Trace | ThreadTrace, preset: str, settings: tuple[str, ...]) -> Params:
    """Configuration asked for; ``ValueError`` if it is one of the other detector."""
    params = with_settings(find_preset(preset).params, settings)
    if isinstance(params, SigraceParams) != isinstance(trace, ThreadTrace):
        detector = trace.header.system
        raise ValueError(f"Preset must be one of {detector} for this trace, not {preset}")
    return params


@click.command("check")
@click.argument("path", metavar="TRACE|KERNEL")
@launch_option(required=False)
@click.option(
    "--preset", "preset_name",
    help="Detector to check with.  [default: scord or sigrace, as the trace says]",
)  # fmt: skip
@set_option
@click.option(
    "--unique", is_flag=True,
    help="Print only the first race of each PC and kind (threads: always so).",
)  # fmt: skip
@click.option(
    "--environment", type=click.Choice(ENVIRONMENTS), default="fixed", show_default=True,
    help="How threads are put on cores.",
)  # fmt: skip
@click.option(
    "--checkpoint", "interval", type=click.IntRange(min=1), default=1_000_000, show_default=True,
    help="Instructions of a thread from one checkpoint to the next.",
)  # fmt: skip
@click.option("--ideal", is_flag=True, help="SigRace with queues and conflict log without limit.")
@click.option(
    "--oracle", is_flag=True,
    help="Find out, too, which races are really there, and what the detector made of each.",
)  # fmt: skip
@json_option
def command(
    path: str, launch_file: str | None, preset_name: str | None, settings: tuple[str, ...],
    unique: bool, environment: str, interval: int, ideal: bool, oracle: bool,
    json_file: str | None,
) -> None:  # fmt: skip
    """Check the trace file TRACE, or a run of KERNEL, for races with the golden model.

    KERNEL is a .cu or .ptx file, run as the launch file says.  Prints every race with its
    address, PCs and both accesses.  Exit status: 0 no race, 1 races found, 2 bad input.
    """
    trace, run = _trace_of(path, launch_file)
    preset = preset_name or trace.header.system
    with input_errors():
        params = _params_for(trace, preset, settings)
        check_options(_STIMULI, kind_of(trace))
    if isinstance(trace, ThreadTrace):
        assert isinstance(params, SigraceParams)
        sigrace = Sigrace(params, Environment(environment), interval, unbounded=ideal)
        result = check_thread_trace(path, trace, sigrace, oracle, json_file)
    else:
        assert isinstance(params, ScordParams)
        result = check_gpu_trace(path, trace, params, unique, oracle, json_file)
    write_json(json_file, {"trace": path, "preset": preset, **result, **run})
    raise SystemExit(ExitStatus.RACES if result["races"] else ExitStatus.NO_RACE)
