"""`racetrap litmus`: what PTX's memory model says of litmus tests."""

from __future__ import annotations

import click

from racetrap.commands.shared.options import result_options
from racetrap.commands.shared.terminal import (
    exit_on,
    input_errors,
    report_console,
    write_json,
)
from racetrap.golden_model.ptx_memory_model.candidates import DEFAULT_LIMIT, judge
from racetrap.golden_model.ptx_memory_model.litmus import read_litmus
from racetrap.presenters.litmus_judgement import judgement_to_dict, print_judgement

__all__ = ["command"]


@click.command("litmus")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option(
    "--limit", type=click.IntRange(min=1), default=DEFAULT_LIMIT, show_default=True,
    help="Most candidate executions to look at, a test.",
)  # fmt: skip
@result_options
def command(files: tuple[str, ...], limit: int, json_file: str | None) -> None:
    """Judge the litmus tests in FILE... by the axioms of PTX's memory model.

    Prints whether each outcome is allowed or forbidden; of a single FILE, and of every test that
    is not as its file expects, also the final states, the data races and one execution that
    shows why.  Exit status: 0 all as expected, 1 not, 2 bad input.
    """
    console = report_console(json_file)
    with input_errors():
        tests = [read_litmus(file) for file in files]
    judgements = []
    for test in tests:
        with input_errors():
            judgement = judge(test, limit)
        print_judgement(console, judgement, len(tests) == 1 or not judgement.as_expected)
        judgements.append(judgement)
    unexpected = sum(not judgement.as_expected for judgement in judgements)
    if len(tests) > 1:
        console.print(f"{len(tests)} tests, {unexpected} not as expected.")
    write_json(json_file, {"tests": list(map(judgement_to_dict, judgements))})
    exit_on(unexpected)
