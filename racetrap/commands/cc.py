"""`racetrap cc` and `racetrap c++`: compilers of programs that can be recorded."""

from __future__ import annotations

import os

import click

from racetrap.commands.shared.terminal import ExitStatus, fail
from racetrap.sim.cpu.compiler import driver_command
from racetrap.sim.tools import not_found


def compiler_command(name: str, compiler: str, language: str, variable: str) -> click.Command:
    """A command that runs ``compiler``, with its options; ``variable`` is its name in makefiles."""

    @click.command(
        name,
        context_settings={
            "ignore_unknown_options": True, "allow_interspersed_args": False,
            # A short -h would be found in -shared.
            "help_option_names": ["--help"],
        },
        help=f"Compile and link {language} as {compiler} does, for `racetrap trace record`.\n\n"
        f"It takes all options of {compiler} (see `{compiler} --help`) and can replace it in a "
        f"build: `make {variable}='racetrap {name}'`.",
    )  # fmt: skip
    @click.argument("arguments", metavar="OPTION|FILE ...", nargs=-1, type=click.UNPROCESSED)
    def run(arguments: tuple[str, ...]) -> None:
        try:
            os.execvp(compiler, driver_command(compiler, arguments))
        except FileNotFoundError:
            fail(not_found(compiler), ExitStatus.FAILED)

    return run


command = compiler_command("cc", "gcc", "C", "CC")
