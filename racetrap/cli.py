"""Command line `racetrap`: a group whose commands are imported only when called.

Exit status: 0 no race, 1 races found, 2 bad input or usage, 3 hardware and golden model
disagree or a tool failed, 70 a defect of racetrap, 74 a result cannot be written, 130 interrupted.
"""

from __future__ import annotations

import atexit
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from racetrap.commands.shared import options
from racetrap.commands.shared.configuration import DEFAULTS_FILE, JOBS_KEY, read_defaults
from racetrap.commands.shared.ending import crash, ends, open_standard_streams, watch_for_interrupts
from racetrap.commands.shared.lazy_group import LazyGroup
from racetrap.commands.shared.terminal import fail, input_errors, quiet

_LINES = {
    "bench": "Measure throughput and simulation speed.",
    "c++": "Compile C++ for recording, as g++ does.",
    "cache": "Show or clear the cache of builds and measurements.",
    "campaign": "Compare hardware and golden model on many random tests.",
    "cc": "Compile C for recording, as gcc does.",
    "check": "Check a trace or a kernel for races.",
    "cost": "Measure the hardware cost of presets.",
    "coverage": "Merge the functional coverage of several runs.",
    "doctor": "List missing tools.",
    "evaluate": "Reproduce the papers' tables on this machine.",
    "explain": "Explain the code of a finding: what is wrong, why, and the cure.",
    "fpga": "Build bitstreams and run traces on boards.",
    "fuzz": "Fuzz the file readers with mutated files.",
    "generate": "Write the Verilog of a preset and its companion files.",
    "litmus": "Judge litmus tests by PTX's memory model.",
    "mutants": "Count the changes of a preset's Verilog that the campaign finds.",
    "nvcc": "Compile CUDA for `racetrap run`, as nvcc does.",
    "presets": "List the presets, or show one.",
    "run": "Run a CUDA program without a GPU and check its kernels for races.",
    "schema": "Print the JSON Schema of a command's --json output.",
    "simulate": "Run hardware and golden model together.",
    "soc": "Run firmware on an example system with the bus monitor.",
    "stress": "Run a kernel under weak memory until it fails, and name the missing fence.",
    "sweep": "Measure cost and detection quality over a grid of parameters.",
    "trace": "Record, inspect and convert trace files.",
    "vortex": "Run kernels on an open GPU's Verilog with a detector beside it.",
}


class _Cli(LazyGroup):
    """Group of all commands; reports each error that ends one in one sentence."""

    def make_context(self, *arguments: Any, **extra: Any) -> click.Context:
        with ends():
            return super().make_context(*arguments, **extra)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in self.lines or (args[0].startswith("-") and args[0] != "-"):
            return super().resolve_command(ctx, args)
        from racetrap.commands.shared.front_door import RECORD_AND_CHECK, command_of

        with input_errors():
            words = command_of(args, self.lines)
        if words is None:
            return super().resolve_command(ctx, args)
        if words[0] == RECORD_AND_CHECK:
            from racetrap.commands.record_and_check import command

            return words[1], command, words[1:]
        return super().resolve_command(ctx, words)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from racetrap.commands.shared.front_door import TABLE

        with formatter.section("racetrap FILE, by what FILE is"):
            formatter.write_dl(
                [(row.file, f"{row.command}: {row.which} (status {row.status})") for row in TABLE]
            )
        super().format_commands(ctx, formatter)

    def invoke(self, ctx: click.Context) -> Any:
        with ends():
            with input_errors():
                found = read_defaults(_working_folder())
            if found is not None:
                path, ctx.default_map = found
                if JOBS_KEY in ctx.default_map:
                    options.set_default_jobs(ctx, ctx.default_map.pop(JOBS_KEY))
                ctx.meta[DEFAULTS_FILE] = [str(path)]
                if unknown := set(ctx.default_map) - set(self.lines):
                    fail(f"{path}: Table must be a command, not {min(unknown)}")
            return super().invoke(ctx)


def _working_folder() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise ValueError(
            "Working folder must exist, but it was deleted: change to another"
        ) from None


def share_cache() -> None:
    """Give tools a writable folder for their own caches if the user's home has none.

    The WebAssembly runtime of the synthesis tools needs one.  It is in our cache or, if that is not
    writable, temporary.
    """
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    if os.access(next(place for place in (home, *home.parents) if place.exists()), os.W_OK):
        return
    # Seldom needed.
    from racetrap.sim.content_cache import CacheError, cache_base, cache_folder, make_folder

    os.environ["RACETRAP_CACHE"] = str(cache_base())  # which follows from the same variable
    folder = cache_folder() / "tools" / str(os.getuid())
    try:
        make_folder(folder)
        folder.chmod(0o700)  # what is in it is run
    except (CacheError, OSError):
        temporary = TemporaryDirectory()
        atexit.register(temporary.cleanup)
        folder = Path(temporary.name)
    os.environ["XDG_CACHE_HOME"] = str(folder)


@click.group(
    cls=_Cli, prefix="racetrap.commands.", lines=_LINES, extras={"cost": "fpga", "mutants": "fpga"},
    context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip
@click.option(
    "-q", "--quiet", is_flag=True, expose_value=False, callback=quiet,
    help="Print only errors, and what an option of the command sends to standard output.",
)  # fmt: skip
@options.jobs
@click.version_option(package_name="racetrap")
def cli() -> None:
    """Hardware race detectors: generate, simulate and check them.

    `racetrap FILE ...` runs the command that suits FILE (see the table below) with the options and
    arguments that follow it.

    Exit status: 0 no race, 1 races found, 2 bad input or usage, 3 hardware and golden model
    disagree or a tool failed, 70 a defect of racetrap, 74 a result cannot be written,
    130 interrupted.
    """


def main() -> None:
    """Entry point of the installed command."""
    open_standard_streams()
    watch_for_interrupts()
    share_cache()
    try:
        cli(prog_name="racetrap")
    except Exception as error:
        crash(error)
