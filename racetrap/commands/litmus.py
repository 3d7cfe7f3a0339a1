"""`racetrap litmus`: verdicts of PTX's memory model on litmus tests."""

from __future__ import annotations

import sys

import click

from racetrap.commands.shared import options
from racetrap.commands.shared.input_files import InputFile, given_name
from racetrap.commands.shared.terminal import (
    ExitStatus,
    complain,
    exit_on,
    problem_of,
    report_console,
    write_json,
)
from racetrap.golden_model.ptx_memory_model.candidates import DEFAULT_LIMIT, judge
from racetrap.golden_model.ptx_memory_model.litmus import read_litmus
from racetrap.golden_model.ptx_memory_model.operational.exploration import MODELS, compare
from racetrap.presenters.litmus_judgement import judgement_to_dict, print_judgement
from racetrap.presenters.litmus_runs import comparison_to_dict, print_comparison


@click.command("litmus")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=InputFile())
@options.budget("Maximum number of candidate executions per test.", DEFAULT_LIMIT)
@click.option(
    "--memory", type=options.Choice(list(MODELS)),
    help="Also run each test exhaustively on an operational model, and compare.",
)  # fmt: skip
@options.result
def command(files: tuple[str, ...], budget: int, memory: str | None, json_file: str | None) -> None:
    """Judge the litmus tests in FILE... by the axioms of PTX's memory model.

    Prints whether each outcome is allowed or forbidden; for a single FILE, and for every test that
    differs from what its file expects, also the final states, the data races and one execution that
    shows why.  With --memory, a test in which the operational model reaches an outcome that the
    axioms forbid counts as different.  A FILE that cannot be judged is named; the others are still
    judged.  Exit status: 0 all as expected, 1 some not, 2 some input was bad.
    """
    console = report_console()
    documents, refused, unexpected = [], [], 0
    for file in files:
        try:
            judgement = judge(read_litmus(file), budget)
        except (ValueError, OSError) as error:
            refused.append({"file": given_name(file), "reason": given_name(problem_of(error))})
            complain(problem_of(error))
            continue
        print_judgement(console, judgement, len(files) == 1 or not judgement.as_expected)
        document, as_expected = judgement_to_dict(judgement), judgement.as_expected
        document["file"] = given_name(file)
        if memory is not None:
            comparison = compare(judgement, MODELS[memory])
            print_comparison(console, judgement, memory, comparison)
            document["runs"] = comparison_to_dict(judgement, memory, comparison)
            as_expected = as_expected and not (comparison and comparison.forbidden)
        documents.append(document)
        unexpected += not as_expected
    if len(files) > 1:
        not_judged = f", {len(refused)} not judged" * bool(refused)
        console.print(f"{len(files)} tests, {unexpected} not as expected{not_judged}.")
    write_json(json_file, {"tests": documents, "refused": refused})
    if refused:
        sys.exit(ExitStatus.BAD_INPUT)
    exit_on(unexpected)
