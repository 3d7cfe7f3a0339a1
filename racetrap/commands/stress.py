"""`racetrap stress`: failures of a kernel or program, exposed, shrunk, replayed and cured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from racetrap.calls.report import Report
from racetrap.calls.stress import PROGRAM, SOURCE, stress
from racetrap.commands.shared import options
from racetrap.commands.shared.input_files import InputFile, NamedFiles
from racetrap.commands.shared.result_forms import Form, form_files
from racetrap.commands.shared.subjects import Subject, SubjectCommand, require_suitable
from racetrap.commands.shared.terminal import (
    exit_on,
    report_console,
    write_json,
)

if TYPE_CHECKING:
    from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions


_SOURCE = Subject(SOURCE, ("compiler",))
_PROGRAM = Subject(PROGRAM, ("-arch",))


class _Model(click.ParamType):
    """Memory model, and the probability that it holds back a store."""

    name = "model"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, float]:
        if isinstance(value, tuple):
            return value
        name, colon, hold = value.partition(":")
        memory: str = options.Choice(options.MEMORY_MODELS)(name, param, ctx)
        if colon and name != "write-buffers":
            self.fail(f"Memory {name} holds back no store: leave out :{hold}", param, ctx)
        return memory, click.FloatRange(0, 1)(hold, param, ctx) if colon else 1.0


@click.command("stress", cls=SubjectCommand, subjects=(_SOURCE, _PROGRAM))
@options.compiler
@click.argument("kernel", metavar="KERNEL|PROGRAM", type=NamedFiles())
@click.argument("arguments", metavar="[-- ARGUMENTS]", nargs=-1, type=click.UNPROCESSED)
@options.launch(required=False)
@click.option(
    "--memory", "model", metavar="MODEL", type=_Model(), default="views", show_default=True,
    help="Memory model: views (PTX's), or write-buffers (the Bugaroo paper's), which delay each "
    "store; write-buffers:P delays each with probability P.",
)  # fmt: skip
@click.option(
    "--budget", metavar="N|Ts", type=options.BudgetType(), default="100", show_default=True,
    help="Stop after N runs, T seconds as in 30s, or whichever comes first, as in 100,30s.",
)  # fmt: skip
@click.option(
    "--deviations", type=click.IntRange(min=0),
    help="Search systematically, not at random, with at most N deviations from a sequentially "
    "consistent run.",
)  # fmt: skip
@options.seed
@click.option(
    "--replay", "replay_file", metavar="FILE", type=InputFile(),
    help="Replay the run that --output FILE.replay wrote.",
)  # fmt: skip
@click.option(
    "--advise", is_flag=True,
    help="Say which fences are missing; if nothing fails, which are redundant or too wide.",
)  # fmt: skip
@form_files(
    Form(".replay", "the shrunk failing run, for --replay", to_standard_output=False),
    Form(".patch", "the advice of --advise as a unified diff of the source"),
)
@options.result
def command(
    kernel: str, arguments: tuple[str, ...], launch_file: str | None, compiler: CompilerOptions,
    model: tuple[str, float], budget: options.Budget, deviations: int | None, seed: int,
    replay_file: str | None, advise: bool, output: dict[str, str], json_file: str | None,
) -> None:  # fmt: skip
    """Run KERNEL or PROGRAM under a weak memory model until it fails.

    KERNEL is a .cu or .ptx file with a launch file.  Without one, PROGRAM is a whole CUDA program
    as for `racetrap run`: a .cu file or a program built by `racetrap nvcc`.  It fails if its
    exit status is not 0 or its output differs from that on sequentially consistent memory.

    Reports each failure and how many runs had it, and shrinks a failing run to the deviations from
    sequentially consistent memory that cause it.  Exit status: 0 no failure, 1 failures, 2 bad
    input.
    """
    memory, hold = model
    result = stress(
        kernel, arguments, launch=launch_file, compiler=compiler, memory=memory, hold=hold,
        runs=budget.count, seconds=budget.seconds, deviations=deviations, seed=seed,
        replay=replay_file, advise=advise, witness=output.get(".replay"),
        patch=output.get(".patch"), report=Report(report_console(), suits=require_suitable),
    )  # fmt: skip
    write_json(json_file, result.document)
    exit_on(result.has_findings)
