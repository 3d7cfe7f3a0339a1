"""Schemas of the commands' JSON: each command has one, and a wrong document is seen."""

import json

import click
import pytest
from jsonschema import Draft202012Validator

from racetrap.cli import cli
from racetrap.schemas.json_schema import DOCUMENTS, schema_of
from tests.support.pages.schemas import check_document


def _commands(command, words=()):
    if not isinstance(command, click.Group):
        yield " ".join(words), command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        yield from _commands(command.get_command(context, name), (*words, name))


def test_every_command_with_json_has_a_schema_that_is_one():
    with_json = {
        name
        for name, command in _commands(cli)
        if any("--json" in parameter.opts for parameter in command.params)
    }
    assert with_json == set(DOCUMENTS)
    for name in DOCUMENTS:
        Draft202012Validator.check_schema(schema_of(name))


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"removed_bytes": 1, "removed": 1}, "'removed' was unexpected"),
        ({}, "'removed_bytes' is a required property"),
        ({"removed_bytes": "1"}, "removed_bytes: '1' is not of type 'integer'"),
    ],
)
def test_a_wrong_document_is_seen(document, message):
    check_document("cache clear", {"removed_bytes": 1})
    with pytest.raises(AssertionError, match=message):
        check_document("cache clear", document)


def test_what_a_command_writes_is_checked(racetrap, monkeypatch):
    """A key that the schema does not have, planted in the command."""
    from racetrap.commands import doctor

    write_json = doctor.write_json
    monkeypatch.setattr(doctor, "write_json", lambda file, data: write_json(file, data | {"x": 1}))
    with pytest.raises(AssertionError, match=r"racetrap doctor: .*'x' was unexpected"):
        racetrap("doctor", "--json", "-")


@pytest.mark.parametrize(
    ("command", "path", "key"),
    [
        # Of a typed dictionary, of a data class, inside of a list.
        ("check", ("GpuCheck",), "exposed_besides"),
        ("trace info", ("ThreadTraceHeader",), "threads"),
        ("litmus", ("LitmusJudgement",), "witness"),
    ],
)
def test_keys_are_required_and_explained(command, path, key):
    schema = schema_of(command)["$defs"][path[0]]
    assert key in schema["required"]
    assert schema["properties"][key]["description"]
    assert schema["additionalProperties"] is False


def test_every_key_is_explained():
    unexplained = {
        f"{name}.{key}"
        for command in DOCUMENTS
        for name, one in {"": schema_of(command), **schema_of(command).get("$defs", {})}.items()
        for key, value in one.get("properties", {}).items()
        if not value.get("description")
    }
    assert unexplained == set()


def test_schema_command(racetrap):
    assert json.loads(racetrap("schema", "trace", "info").stdout) == schema_of("trace info")
    assert racetrap("schema").stdout.split("\n")[:-1] == list(DOCUMENTS)
    done = racetrap("schema", "trace")
    assert done.exit_code == 2
    assert "Unknown command " in done.stderr
