"""`racetrap explain`: meaning of a finding's code."""

from __future__ import annotations

import click

from racetrap.commands.shared.terminal import input_errors


@click.command("explain")
@click.argument("code", required=False)
def command(code: str | None) -> None:
    """Explain CODE, the code of a finding such as RT101: what it is, why it is wrong, an example
    and the cure.

    Without CODE, list the codes.
    """
    from racetrap.presenters.explanations import code_list, explanation
    from racetrap.verdict.codes import find_code

    if code is None:
        click.echo(code_list(), nl=False)
        return
    with input_errors():
        found = find_code(code)
    click.echo(explanation(found), nl=False)
