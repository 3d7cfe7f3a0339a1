"""Options that several commands have, one spelling each."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from racetrap.commands.shared.input_files import InputFile
from racetrap.commands.shared.output_files import OutputFile, OutputFolder

if TYPE_CHECKING:
    from racetrap.sim.gpu.cuda.toolkit import CompilerOptions


_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def numbers_from(what: str, text: str | None) -> range | None:
    """Numbers of an option ``A:B``; ``ValueError`` unless A is below B."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d{1,18}):(\d{1,18})", text)
    if match is None or int(match[1]) >= int(match[2]):
        raise ValueError(f"{what} must be A:B with A below B, not {text}")
    return range(int(match[1]), int(match[2]))


def complete_preset(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Names of presets for the shell's completion."""
    from racetrap.generators.systems import SYSTEMS

    return [
        name
        for system in SYSTEMS
        for name in (*system.presets, *system.large_presets)
        if name.startswith(begun)
    ]


def waves_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """File of waves, as ``waves``: a ``Path`` or None; and ``all_signals``."""
    file = click.option(
        "--waves", metavar="FILE", callback=_wave_file,
        type=OutputFile(Path, companions=(".gtkw", ".sucl", ".log")),
        help="Also play it on the testbench, and write waves to FILE, of which the name ends in "
        ".fst or .vcd; FILE.gtkw and FILE.sucl open it in GTKWave and Surfer.",
    )  # fmt: skip
    every = click.option(
        "--all-signals", is_flag=True,
        help="Waves of every signal, not only of ports, events and steps.",
    )  # fmt: skip
    return file(every(command))


def _wave_file(
    context: click.Context, parameter: click.Parameter, file: Path | None
) -> Path | None:
    if file is not None and file.suffix not in (".fst", ".vcd"):
        raise click.BadParameter(f"File of waves must end in .fst or .vcd, not {file}")
    return file


def result_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Result for programs, as ``json_file``."""
    return click.option(
        "--json", "json_file", metavar="FILE", type=OutputFile(to_standard_output=True),
        help="Write the result as JSON to FILE; - is standard output, which then has nothing else.",
    )(command)  # fmt: skip


#: Repeatable, as tuple ``settings``.
set_option = click.option(
    "--set", "settings", metavar="NAME=VALUE", multiple=True,
    help="Change one parameter; may be repeated.",
)  # fmt: skip
size_option = click.option(
    "--size", type=click.Choice(("tiny", "small", "paper")), default="tiny", show_default=True,
    help="Size of the applications' inputs.",
)  # fmt: skip
seed_option = click.option(
    "--seed", default=1, show_default=True, type=click.IntRange(0), help="Seed of all randomness."
)


def budget_option(what: str, default: int | None, least: int = 1, **attributes: Any) -> _Decorator:
    """How much is done of what could go on for ever, a number, as ``budget``."""
    return click.option(
        "--budget", metavar="N", type=click.IntRange(min=least), default=default,
        show_default=default is not None, help=what, **attributes,
    )  # fmt: skip


jobs_option = click.option(
    "--jobs", default=2, show_default=True, type=click.IntRange(1, 64), help="Worker processes."
)


def race_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Which races are shown, as ``shows_all`` and ``limit``."""
    shows_all = click.option(
        "--all", "shows_all", is_flag=True,
        help="Print every race, not only the first of those that are alike, and without a limit.",
    )  # fmt: skip
    limit = click.option(
        "--limit", metavar="N", type=click.IntRange(min=0),
        help="Print N at most, and write N races at most.  [default: print 20, write all]",
    )  # fmt: skip
    return shows_all(limit(command))


def environment_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """How threads are put on cores, by name."""
    # Not imported with this module: `racetrap doctor` has to run without any package.
    from racetrap.golden_model.sigrace.environment import ENVIRONMENTS

    return click.option(
        "--environment", type=click.Choice(ENVIRONMENTS), default="fixed", show_default=True,
        help="Mapping of threads to cores.",
    )(command)  # fmt: skip


def instruction_limit_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Instructions of a program, as ``instruction_limit``."""
    from racetrap.golden_model.sigrace.sigrace import MOST_INSTRUCTIONS

    return click.option(
        "--instruction-limit", metavar="N", type=click.IntRange(min=1), default=MOST_INSTRUCTIONS,
        show_default=True, help="Instructions that the program of a trace may have.",
    )(command)  # fmt: skip


def launch_option(required: bool) -> _Decorator:
    """The launch file of a kernel, as ``launch_file``."""
    return click.option(
        "--launch", "launch_file", metavar="FILE", required=required, type=InputFile(),
        help="Launch file (TOML): kernel, grid, block and arguments; see docs/kernels.md.",
    )  # fmt: skip


def memory_model_option(help: str, default: str | None = None) -> _Decorator:
    """Weak memory model of the executor, as ``memory``."""
    return click.option(
        "--memory", type=click.Choice(("views", "write-buffers")), default=default,
        show_default=default is not None,
        help=f"{help}: views (PTX's), or write-buffers (the Bugaroo paper's).",
    )  # fmt: skip


def oracle_option(help: str, **attributes: Any) -> _Decorator:
    """Rule of the oracle for GPUs, as ``oracle``; the option alone stands for the first."""
    # Not imported with this module: `racetrap doctor` has to run without any package.
    from racetrap.verdict.gpu.oracle import ORACLE_RULES

    return click.option(
        "--oracle", type=click.Choice(ORACLE_RULES), metavar="RULE", is_flag=False,
        flag_value=ORACLE_RULES[0], help=help, **attributes,
    )  # fmt: skip


def form_option(help: str, **attributes: Any) -> _Decorator:
    """Form of a trace file to be written, as ``form``."""
    return click.option(
        "--to", "form", type=click.Choice(["binary", "text"]), help=help, **attributes
    )


def compile_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How a CUDA source is compiled, as ``include``, ``define``, ``arch`` and ``std``."""
    for option in (
        click.option(
            "--std", metavar="NAME", help="Version of C++, such as c++20."
        ),
        click.option(
            "--arch", metavar="CAPABILITY", default=75, show_default=True,
            type=click.IntRange(75, 121), help="Compute capability, such as 90.",
        ),
        click.option(
            "-D", "define", metavar="NAME[=VALUE]", multiple=True, help="Define a macro."
        ),
        click.option(
            "-I", "include", metavar="DIR", multiple=True, help="Look for headers in DIR."
        ),
    ):  # fmt: skip
        command = option(command)
    return command


def compiler_options(
    include: tuple[str, ...], define: tuple[str, ...], arch: int, std: str | None
) -> CompilerOptions:
    """The same as one value."""
    from racetrap.sim.gpu.cuda.toolkit import CompilerOptions

    return CompilerOptions(include, define, arch, std or "")


def output_option(metavar: str, help: str, **attributes: Any) -> _Decorator:
    """File or folder of what is made, as ``output``: a ``Path``, or None without default."""
    attributes.setdefault("type", OutputFolder() if metavar == "DIR" else OutputFile(Path))
    return click.option("-o", "--output", "output", metavar=metavar, help=help, **attributes)
