"""`racetrap simulate`: run hardware and golden model together and compare every step."""

from __future__ import annotations

import click

from racetrap.commands.stimulus_options import GPU_TRACE, THREAD_TRACE, check_options, kind_of
from racetrap.generators.presets import find_preset, with_settings
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.sigrace.environment import ENVIRONMENTS
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.trace import ThreadTrace, Trace, read_trace
from racetrap.presenters.output import input_errors, json_option, set_option, size_option

__all__ = ["command"]

#: Suites, with the system that each is for.
_SUITES = {"scor-micro": "scord", "scor-apps": "scord", "threads": "sigrace"}
_MICRO, _APPLICATIONS, _PROGRAMS = (f"the suite {name}" for name in _SUITES)
#: Options that are not for every stimulus.
_STIMULI = {
    "schedules": [_MICRO, _APPLICATIONS],
    "size": [_APPLICATIONS, _PROGRAMS],
    "environment": [_PROGRAMS, THREAD_TRACE],
    "waves": [_MICRO, GPU_TRACE, THREAD_TRACE],
    "junit_file": [_MICRO],
}


def _check(
    params: ScordParams | SigraceParams, trace: Trace | ThreadTrace | None, suite: str | None
) -> None:
    """Refuse a preset of one detector, and options, for the stimulus of the other."""
    if not params.trace_port:
        raise ValueError("Parameter trace_port must be true to compare steps, not false")
    wanted = _SUITES[suite] if suite is not None else trace.header.system if trace else ""
    if isinstance(params, SigraceParams) != (wanted == "sigrace"):
        raise ValueError(f"Preset must be one of {wanted} for {suite or 'this trace'}")
    check_options(_STIMULI, f"the suite {suite}" if trace is None else kind_of(trace))


@click.command("simulate")
@click.argument("preset_name", metavar="PRESET")
@click.argument("trace_file", metavar="[TRACE]", required=False)
@click.option("--suite", type=click.Choice(list(_SUITES)), help="Run a suite instead of a trace.")
@click.option("--seed", default=1, show_default=True, help="Seed of everything random.")
@click.option(
    "--schedules", type=click.IntRange(min=0), default=4, show_default=True,
    help="Random schedules of each micro-benchmark, besides the fixed ones; or all schedules "
    "of each application.",
)  # fmt: skip
@size_option
@click.option(
    "--environment", type=click.Choice(ENVIRONMENTS), default="fixed", show_default=True,
    help="How threads are put on cores.",
)  # fmt: skip
@click.option("--waves", is_flag=True, help="Write waves as a VCD file.")
@click.option("--junit", "junit_file", metavar="FILE", help="Write the suite's verdicts as JUnit.")
@set_option
@json_option
def command(
    preset_name: str, trace_file: str | None, suite: str | None, seed: int, schedules: int,
    size: str, environment: str, waves: bool, junit_file: str | None, settings: tuple[str, ...],
    json_file: str | None,
) -> None:  # fmt: skip
    """Simulate PRESET with the trace file TRACE, or with a suite, and compare every step.

    Exit status with a trace: 0 no race, 1 races found.  With a suite: 0 if every verdict is as
    expected.  Always: 2 bad input, 3 hardware and golden model disagree or a tool failed.
    """
    if (trace_file is None) == (suite is None):
        raise click.UsageError("Give either a TRACE or --suite.")
    with input_errors():
        params = with_settings(find_preset(preset_name).params, settings)
        trace = None if trace_file is None else read_trace(trace_file)
        _check(params, trace, suite)
        if suite == "threads" and size == "paper":
            raise ValueError("Option --size must be tiny or small for threads, not paper")
        if suite == "scor-apps" and schedules < 1:
            raise ValueError("Option --schedules must be at least 1 for scor-apps, not 0")
    if isinstance(params, SigraceParams):
        _simulate_threads(preset_name, params, trace_file, trace, size, environment, seed, waves,
                          json_file)  # fmt: skip
    elif suite == "scor-apps":
        from racetrap.commands.simulate_applications import (
            run_applications,  # the executor: slow to import
        )

        run_applications(preset_name, params, size, schedules, seed, json_file)
    else:
        from racetrap.commands.simulate_gpu import run_gpu_trace, run_micro_benchmarks

        if isinstance(trace, Trace):
            run_gpu_trace(preset_name, params, trace_file or "", trace, seed, waves, json_file)
        run_micro_benchmarks(preset_name, params, schedules, seed, waves, json_file, junit_file)


def _simulate_threads(
    preset: str, params: SigraceParams, trace_file: str | None, trace: Trace | ThreadTrace | None,
    size: str, environment: str, seed: int, waves: bool, json_file: str | None,
) -> None:  # fmt: skip
    from racetrap.commands.simulate_threads import run_programs, run_thread_trace

    if isinstance(trace, ThreadTrace):
        run_thread_trace(
            preset, params, trace_file or "", trace, environment, seed, waves, json_file
        )
    run_programs(preset, params, size, environment, seed, json_file)
