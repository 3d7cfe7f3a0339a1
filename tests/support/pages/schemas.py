"""JSON of the commands against their schemas."""

from __future__ import annotations

from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from racetrap.schemas.json_schema import schema_of


@cache
def _validator(command: str) -> Draft202012Validator:
    return Draft202012Validator(schema_of(command))


def check_document(command: str, document: Any) -> None:
    """Assert that a document is what the schema of a command says.

    Parameters
    ----------
    command : str
        The command without ``racetrap``.
    document : object
        What it has written, read again.
    """
    error = best_match(_validator(command).iter_errors(document))
    assert error is None, f"racetrap {command}: {error.json_path}: {error.message}"
