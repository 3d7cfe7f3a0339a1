"""`racetrap litmus`: what PTX's memory model says of litmus tests."""

from __future__ import annotations

import click

from racetrap.commands.shared.input_files import InputFile
from racetrap.commands.shared.options import result_options
from racetrap.commands.shared.terminal import (
    exit_on,
    input_errors,
    report_console,
    write_json,
)
from racetrap.golden_model.ptx_memory_model.candidates import DEFAULT_LIMIT, judge
from racetrap.golden_model.ptx_memory_model.litmus import read_litmus
from racetrap.golden_model.ptx_memory_model.operational.exploration import MODELS, compare
from racetrap.presenters.litmus_judgement import judgement_to_dict, print_judgement
from racetrap.presenters.litmus_runs import comparison_to_dict, print_comparison

__all__ = ["command"]


@click.command("litmus")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=InputFile())
@click.option(
    "--limit", type=click.IntRange(min=1), default=DEFAULT_LIMIT, show_default=True,
    help="Most candidate executions to look at, a test.",
)  # fmt: skip
@click.option(
    "--memory", type=click.Choice(list(MODELS)),
    help="Also run each test by an operational model, with all choices, and compare.",
)  # fmt: skip
@result_options
def command(files: tuple[str, ...], limit: int, memory: str | None, json_file: str | None) -> None:
    """Judge the litmus tests in FILE... by the axioms of PTX's memory model.

    Prints whether each outcome is allowed or forbidden; of a single FILE, and of every test that
    is not as its file expects, also the final states, the data races and one execution that
    shows why.  With --memory, an outcome of the model that the axioms forbid is not as expected.
    Exit status: 0 all as expected, 1 not, 2 bad input.
    """
    console = report_console(json_file)
    with input_errors():
        tests = [read_litmus(file) for file in files]
    documents, unexpected = [], 0
    for test in tests:
        with input_errors():
            judgement = judge(test, limit)
        print_judgement(console, judgement, len(tests) == 1 or not judgement.as_expected)
        document, as_expected = judgement_to_dict(judgement), judgement.as_expected
        if memory is not None:
            comparison = compare(judgement, MODELS[memory])
            print_comparison(console, judgement, memory, comparison)
            document["runs"] = comparison_to_dict(judgement, memory, comparison)
            as_expected = as_expected and not (comparison and comparison.forbidden)
        documents.append(document)
        unexpected += not as_expected
    if len(tests) > 1:
        console.print(f"{len(tests)} tests, {unexpected} not as expected.")
    write_json(json_file, {"tests": documents})
    exit_on(unexpected)
