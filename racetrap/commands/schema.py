"""`racetrap schema`: JSON Schema of a command's `--json` output."""

from __future__ import annotations

import json

import click

from racetrap.commands.shared.terminal import input_errors


@click.command("schema")
@click.argument("words", metavar="[COMMAND]", nargs=-1)
def command(words: tuple[str, ...]) -> None:
    """Print the JSON Schema (draft 2020-12) of COMMAND's --json output.

    COMMAND is given without `racetrap`, such as `trace info`.  Without COMMAND, list the commands.
    """
    from racetrap.schemas.json_schema import DOCUMENTS, schema_of

    if not words:
        click.echo("\n".join(DOCUMENTS))
        return
    with input_errors():
        schema = schema_of(" ".join(words))
    click.echo(json.dumps(schema, indent=2))
