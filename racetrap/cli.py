"""Command line `racetrap`: a group whose commands are imported only when called.

Exit status: 0 no race, 1 races found, 2 bad input or usage, 3 hardware and golden model
disagree or a tool failed.
"""

from __future__ import annotations

from typing import Any

import click

from racetrap.commands.shared.lazy_group import LazyGroup
from racetrap.commands.shared.terminal import ExitStatus, fail
from racetrap.sim.failure import Failure

__all__ = ["cli", "main"]

_LINES = {
    "bench": "Measure throughput and simulation speed.",
    "campaign": "Compare hardware and golden model on random volume.",
    "check": "Check a trace or a kernel for races with the golden model.",
    "cost": "Measure the hardware of presets.",
    "coverage": "Merge the functional coverage of several runs.",
    "doctor": "List missing tools.",
    "evaluate": "Make the papers' tables from runs on this machine.",
    "fpga": "Build bitstreams and run traces on boards.",
    "generate": "Write the Verilog of a preset and its companion files.",
    "litmus": "Judge litmus tests by PTX's memory model.",
    "presets": "List the presets, or show one.",
    "run": "Run a CUDA program without a GPU and check its kernels for races.",
    "simulate": "Run hardware and golden model together.",
    "sweep": "Measure cost and detection quality over a grid of parameters.",
    "trace": "Record, inspect and convert trace files.",
}


class _Cli(LazyGroup):
    """The group of all commands, which turns what stops a run into one sentence."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except Failure as error:
            from racetrap.sim.cosim.comparison.mismatch import Mismatch

            heading = "Hardware and golden model disagree: " * isinstance(error, Mismatch)
            fail(f"{heading}{error}", ExitStatus.FAILED)
        except ModuleNotFoundError as error:
            from racetrap.sim.tools import not_found

            fail(not_found(error.name or str(error)), ExitStatus.FAILED)


@click.group(
    cls=_Cli, prefix="racetrap.commands.", lines=_LINES,
    context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip
@click.version_option(package_name="racetrap")
def cli() -> None:
    """Hardware race detectors: generate, simulate and check them.

    Exit status: 0 no race, 1 races found, 2 bad input or usage, 3 hardware and golden model
    disagree or a tool failed.
    """


def main() -> None:
    """Entry point of the installed command."""
    cli(prog_name="racetrap")
