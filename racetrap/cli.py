"""The command line `racetrap`: a group whose sub-commands are imported only when used.

Exit status: 0 no race, 1 races found, 2 bad input or usage, 3 hardware and golden model
disagree or a tool failed.
"""

from __future__ import annotations

import importlib

import click

from racetrap.presenters.output import ExitStatus, fail

__all__ = ["cli", "main"]

#: Sub-commands with the line that `--help` shows, so that it need not import them.
_COMMANDS = {
    "bench": "Measure throughput and simulation speed.",
    "campaign": "Compare hardware and golden model on random volume.",
    "check": "Check a trace for races with the golden model.",
    "cost": "Say what a preset costs in hardware, beside its paper.",
    "coverage": "Merge the functional coverage of several runs.",
    "doctor": "Say which tools are missing.",
    "evaluate": "Make the papers' tables from runs on this machine.",
    "fpga": "Build bitstreams and run traces on boards.",
    "generate": "Write the Verilog of a preset and what goes with it.",
    "presets": "List the presets, or show one.",
    "simulate": "Run hardware and golden model together.",
    "sweep": "Measure cost against detection quality over a grid of parameters.",
    "trace": "Look at trace files and convert them.",
}


class _LazyGroup(click.Group):
    """Group that imports ``racetrap.commands.<name>`` when that command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        try:
            module = importlib.import_module(f"racetrap.commands.{cmd_name}")
        except ModuleNotFoundError as error:
            fail(f"Command {cmd_name!r} cannot be loaded: {error}", ExitStatus.FAILED)
        return module.command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="racetrap")
def cli() -> None:
    """Hardware race detectors: generate, simulate and check them.

    Exit status: 0 no race, 1 races found, 2 bad input or usage, 3 hardware and golden model
    disagree or a tool failed.
    """


def main() -> None:
    """Entry point of the installed command."""
    cli(prog_name="racetrap")
