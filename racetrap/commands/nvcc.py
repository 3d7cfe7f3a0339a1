"""`racetrap nvcc`: compiler of CUDA programs that `racetrap run` can check."""

from __future__ import annotations

import os

import click

from racetrap.commands.shared.terminal import input_errors


def _show_toolkit(context: click.Context, parameter: click.Parameter, is_on: bool) -> None:
    if is_on and not context.resilient_parsing:
        from racetrap.sim.gpu.cuda.runtime_library import runtime_library

        with input_errors():
            click.echo(runtime_library().parent)
        context.exit()


@click.command(
    "nvcc",
    context_settings={
        "ignore_unknown_options": True, "allow_interspersed_args": False,
        "help_option_names": ["--help"],
    },
)  # fmt: skip
@click.option(
    "--toolkit", is_flag=True, is_eager=True, expose_value=False, callback=_show_toolkit,
    help="Print the folder of a CUDA toolkit whose bin/nvcc this is, and exit.",
)  # fmt: skip
@click.argument("arguments", metavar="OPTION|FILE ...", nargs=-1, type=click.UNPROCESSED)
def command(arguments: tuple[str, ...]) -> None:
    """Compile and link CUDA as nvcc does, for `racetrap run ./PROGRAM`.

    It takes all options of nvcc and can replace it in a build: `make NVCC='racetrap nvcc'`, or
    where a toolkit is looked for, `make CUDA_HOME="$(racetrap nvcc --toolkit)"`.  See
    docs/cuda-programs.md for CMake.
    """
    from racetrap.sim.gpu.cuda.runtime_library import runtime_library
    from racetrap.sim.gpu.cuda.toolkit import driver_command

    with input_errors():
        line = driver_command(arguments, runtime_library())
    os.execv(line[0], line)
