"""Options that several commands have, one spelling each: ``@options.seed`` and its like."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from racetrap.commands.shared.input_files import InputFile
from racetrap.commands.shared.output_files import OutputFile, OutputFolder
from racetrap.golden_model.checks import nearest_name
from racetrap.presenters.race_choice import RaceChoice

if TYPE_CHECKING:
    from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions, NvccOption

#: End of the names of traces in their text form.
TEXT_SUFFIX = ".txt"
#: Key of ``--jobs`` in the context's ``meta``.
_JOBS = "racetrap.jobs"


class Choice(click.Choice):
    """One of some words; the error for another names the nearest."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            near = nearest_name(value, self.choices)
            text = f"{error.message.rstrip('.')}: {near}" if near else error.message
            raise click.BadParameter(text, ctx, param) from None


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


def result(command: Callable[..., Any]) -> Callable[..., Any]:
    """Result for programs, as ``json_file``."""
    return click.option(
        "--json", "json_file", metavar="FILE", type=OutputFile(to_standard_output=True),
        help="Write the result as JSON to FILE.  If FILE is -, print it instead of the text.",
    )(command)  # fmt: skip


#: Repeatable, as tuple ``settings``.
setting = click.option(
    "--set", "settings", metavar="NAME=VALUE", multiple=True,
    help="Change one parameter; may be repeated.",
)  # fmt: skip
size = click.option(
    "--size", type=Choice(("tiny", "small", "paper")), default="tiny", show_default=True,
    help="Size of the applications' inputs.",
)  # fmt: skip
seed = click.option(
    "--seed", default=1, show_default=True, type=click.IntRange(0),
    help="Seed for all random choices.",
)  # fmt: skip


def budget(what: str, default: int | None, least: int = 1, **attributes: Any) -> _Decorator:
    """Limit, a number, of work that would otherwise never end, as ``budget``."""
    return click.option(
        "--budget", metavar="N", type=click.IntRange(min=least), default=default,
        show_default=default is not None, help=what, **attributes,
    )  # fmt: skip


class _Workers(click.ParamType):
    """Number of processes, or address of a scheduler."""

    name = "workers"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str:
        text = str(value)
        number: int | str = text if "://" in text else click.IntRange(1, 64)(text, param, ctx)
        return number


def _keep_jobs(context: click.Context, parameter: click.Parameter, value: int | str) -> None:
    context.meta[_JOBS] = value


#: Of the root command, for all below it.
jobs = click.option(
    "--jobs", metavar="N|ADDRESS", default="2", show_default=True, type=_Workers(),
    expose_value=False, callback=_keep_jobs,
    help="Worker processes of a command with many runs; of sweep also the address of a Dask "
    "scheduler, such as tcp://HOST:8786.",
)  # fmt: skip


def set_default_jobs(context: click.Context, value: Any) -> None:
    """Take the number of processes from a file, unless the command line has one."""
    option = next(each for each in context.command.params if each.name == "jobs")
    if context.get_parameter_source("jobs") is click.core.ParameterSource.DEFAULT:
        _keep_jobs(context, option, _Workers()(value, option, context))


def scheduler_address() -> str | None:
    """Address of a scheduler that the command line gives instead of a number of processes."""
    given = click.get_current_context().meta.get(_JOBS)
    return given if isinstance(given, str) else None


def worker_count() -> int:
    """Worker processes of this command line."""
    context = click.get_current_context()
    if (address := scheduler_address()) is not None:
        raise click.UsageError(
            f"Only `racetrap sweep` runs on a cluster: give a number to --jobs, not {address}",
            context,
        )
    count: int = context.meta.get(_JOBS, 2)
    return count


def limit(command: Callable[..., Any]) -> Callable[..., Any]:
    """Which races are shown, as ``choice``, a ``RaceChoice``."""
    return click.option(
        "--limit", "choice", metavar="N|all", type=_Limit(), default=RaceChoice(),
        help="Print and write at most N races; with all, also print races that are similar to "
        "others.  [default: print 20, write all]",
    )(command)  # fmt: skip


notes = click.option(
    "--notes", is_flag=True,
    help="Also print what is not a finding: unordered pairs that are not races, pairs that only "
    "lockstep orders, and what was not checked.",
)  # fmt: skip


#: Whether edits that end races are looked for, as ``no_cures``.
no_cures = click.option(
    "--no-cures", is_flag=True,
    help="Do not look for the edits that end the races of CUDA sources.",
)  # fmt: skip


def own_code(command: Callable[..., Any]) -> Callable[..., Any]:
    """Whether library frames are folded, in ``choice``."""

    @wraps(command)
    def choosing(*, own_code: bool, choice: RaceChoice, **others: Any) -> Any:
        return command(choice=replace(choice, own_code=own_code), **others)

    return click.option(
        "--own-code", is_flag=True,
        help="Fold functions of system and library headers: show the place in the program's own "
        "code that calls them.",
    )(choosing)  # fmt: skip


class _Limit(click.ParamType):
    name = "limit"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> RaceChoice:
        if isinstance(value, RaceChoice):
            return value
        if value == "all":
            return RaceChoice(shows_all=True)
        if not str(value).isdecimal():
            self.fail(f"Limit must be a number or all, not {value}", param, ctx)
        return RaceChoice(limit=int(value))


@dataclass(frozen=True)
class Budget:
    """Bounds of open-ended work; ``None`` is no bound."""

    count: int | None = None
    seconds: float | None = None


class BudgetType(click.ParamType):
    """Budget as ``N``, ``Ts`` of seconds, or both with a comma between."""

    name = "budget"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Budget:
        if isinstance(value, Budget):
            return value
        found: dict[str, float] = {}
        for word in str(value).split(","):
            match = re.fullmatch(r"(\d{1,18})|(\d{1,9}(?:\.\d{1,9})?)s", word)
            kind = "count" if match and match[1] else "seconds"
            if match is None or kind in found or not float(word.rstrip("s")):
                self.fail(
                    f"Budget must be N, or Ts in seconds, or both as N,Ts, not {value}", param, ctx
                )
            found[kind] = int(match[1]) if match[1] else float(match[2])
        return Budget(**found)  # type: ignore[arg-type]


def launch(required: bool) -> _Decorator:
    """The launch file of a kernel, as ``launch_file``."""
    return click.option(
        "--launch", "launch_file", metavar="FILE", required=required, type=InputFile(),
        help="Launch file (TOML): kernel, grid, block and arguments; see docs/kernels.md.",
    )  # fmt: skip


#: Whether the lanes of a warp run in lockstep, as ``lockstep``.
lockstep = click.option(
    "--lockstep", is_flag=True,
    help="Run the lanes of a warp together, as GPUs before Volta do; the output begins with what "
    "this hides.",
)  # fmt: skip

#: The same, or ``False`` for a GPU in the executor's place; by default neither.
lockstep_or_gpu = click.option(
    "--lockstep/--on-gpu", default=None,
    help="Run the lanes of a warp together, as GPUs before Volta do; the output begins with what "
    "this hides.  Or run the kernels on this machine's GPU, where they log their own accesses.",
)  # fmt: skip

#: Weak memory models of the executor: PTX's, and the Bugaroo paper's.
MEMORY_MODELS = ("views", "write-buffers")


#: Rules of the oracle, the judge's first and that of ScoRD's tables last; what knows them is
#: slow to import.
ORACLE_RULES = ("causality", "ptx", "barracuda", "scoped")
#: Word for no rule: the verdict is the detector's.
NO_RULE = "none"


def oracle(default: str = ORACLE_RULES[0], *, others: tuple[str, ...] = ()) -> _Decorator:
    """Rule of the oracle for GPUs, as ``oracle``."""
    none = "; none: show only the detector's verdict, with every report" * (NO_RULE in others)
    return click.option(
        "--oracle", type=Choice((*ORACLE_RULES, *others)), default=default,
        show_default=True, metavar="RULE",
        help="Rule of the exact analysis: causality (PTX's memory model; volatile accesses must be "
        "ordered), ptx (the same, read literally: volatile accesses need no order), barracuda (its "
        "paper's: a store behind a fence releases, a load before one acquires), scoped (the ScoRD "
        f"paper's: weak accesses need barriers){none}.  See docs/oracle.md.",
    )  # fmt: skip


def detector(help: str) -> _Decorator:
    """Preset of a detector, as ``detector``."""
    return click.option("--detector", metavar="PRESET", shell_complete=complete_preset, help=help)


@cache
def _nvcc_options() -> dict[str, tuple[NvccOption, click.Option]]:
    """All options of nvcc as click parses them, by the names under which it keeps their values."""
    from racetrap.sim.gpu.cuda.nvcc_options import NVCC_OPTIONS

    options = dict.fromkeys(NVCC_OPTIONS.values())
    return {
        f"nvcc_{number}": (each, click.Option(
            # Click would find -e in a mistyped -extended-lambda.
            [f"nvcc_{number}", *(spelling for spelling in each.spellings if spelling != "-e")],
            multiple=each.has_value, count=not each.has_value,
        ))
        for number, each in enumerate(options)
    }  # fmt: skip


class _Compiler(click.Argument):
    """Options of nvcc, wherever they are on the command line, as ``CompilerOptions``."""

    #: Key of the file of defaults.
    key = "nvcc"

    def __init__(self, *declarations: Any, **attributes: Any) -> None:
        super().__init__(
            *declarations, nargs=-1, metavar="[NVCC OPTION]...", callback=self._options,
            **attributes,
        )  # fmt: skip

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        for _, option in _nvcc_options().values():
            option.add_to_parser(parser, ctx)

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> tuple[Any, Any]:
        known = _nvcc_options()
        words = [
            word
            for name, given in opts.items()
            if name in known
            for value in (given if isinstance(given, list) else [""] * given)
            for word in known[name][0].words(value)
        ]
        return super().consume_value(ctx, {self.name or "": words} if words else {})

    def _options(
        self, ctx: click.Context, parameter: click.Parameter, words: tuple[str, ...] | None
    ) -> CompilerOptions:
        from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions

        try:
            return CompilerOptions(() if ctx.resilient_parsing else tuple(words or ()))
        except ValueError as error:
            raise click.UsageError(str(error), ctx) from None

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        return "NVCC OPTION", (
            "Options of nvcc for a CUDA source, as nvcc takes them, such as -I DIR, -D NAME, "
            "-include FILE, -std=c++20, -arch=sm_90, -O3, -lNAME, -L DIR, -Xcompiler WORDS.  See "
            "docs/cuda-programs.md."
        )

    def completions(self, begun: str) -> list[CompletionItem]:
        """Options of nvcc that begin so, for the shell."""
        return [
            CompletionItem(spelling)
            for each, _ in _nvcc_options().values()
            if each.is_accepted
            for spelling in each.spellings
            if spelling.startswith(begun)
        ]


#: How a CUDA source is compiled, as ``compiler``, its ``CompilerOptions``.
compiler = click.argument("compiler", cls=_Compiler)


def output(metavar: str, help: str, **attributes: Any) -> _Decorator:
    """File or folder of what is made, as ``output``: a ``Path``, or None without default."""
    attributes.setdefault("type", OutputFolder() if metavar == "DIR" else OutputFile(Path))
    return click.option("-o", "--output", "output", metavar=metavar, help=help, **attributes)
