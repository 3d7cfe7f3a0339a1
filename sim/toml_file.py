"""TOML files checked against a schema: an error is one sentence with file, key, rule and value.

A schema is a subclass of `TomlFile`, and of `Table` for each table in it: the fields are the keys,
their types and limits the rules.  A validator reports a broken rule by ``ValueError(rule)``, or by
`rule_error` for another key or value.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from racetrap.golden_model.checks import nearest_name, with_nearest

#: Of a value in an error.
_MOST_CHARACTERS = 200
_Schema = TypeVar("_Schema", bound="TomlFile")


class TomlError(ValueError):
    """A file that breaks a rule of its format: one sentence with file, key, rule and value."""


class Table(BaseModel):
    """A table: keys that are no fields are refused, values are not converted."""

    model_config = ConfigDict(strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            raise ValueError("a table")
        for key in data:
            if key not in cls.model_fields:
                known = ", ".join(cls.model_fields)
                given = with_nearest(key, cls.model_fields)
                raise PydanticCustomError("key", "one of {known}", {"known": known, "key": given})
        return data


class TomlFile(Table):
    """The tables and keys of a file, which it remembers for later errors."""

    _path: Path | None = None

    def model_post_init(self, context: Any) -> None:
        self._path = context

    def error(self, key: str, rule: str, value: object) -> TomlError:
        """Error of a key that breaks a rule which the schema does not know."""
        return _error(self._path, key, rule, value)


def one_of(known: Collection[str]) -> AfterValidator:
    """Rule that a word must be a known one."""

    def check(word: str) -> str:
        if word not in known:
            near = nearest_name(word, known)
            raise ValueError(f"one of {', '.join(known)}" + f" ({near})" * bool(near))
        return word

    return AfterValidator(check)


def rule_error(key: str, rule: str, value: object) -> ValidationError:
    """Error for a validator of a table to raise: a key of the table must be something else."""
    reason = PydanticCustomError("rule", "{rule}", {"rule": rule})
    return ValidationError.from_exception_data(
        key, [{"type": reason, "loc": (key,) if key else (), "input": value}]
    )


def _error(path: Path | None, key: str, rule: str, value: object) -> TomlError:
    return TomlError(f"{path}: {key} must be {rule}, not {_shortened(str, value)}")


def _shortened(write: Callable[[object], str], value: object) -> str:
    """A value as text; Python does not write the longest of numbers."""
    try:
        text = write(value)
    except ValueError:
        return "a number of thousands of digits"
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."


def _first_error(path: Path, error: ErrorDetails) -> TomlError:
    key = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in error["loc"]).lstrip(".")
    match error["type"]:
        case "missing":
            return _error(path, key, "given", "missing")
        case "key":
            key = f"Key of {key}" if key else "Key"
            return _error(path, key, error["msg"], error["ctx"]["key"])
        case "value_error":
            rule = str(error["ctx"]["error"])
        case _:
            rule = error["msg"].removeprefix("Input should be ")
    return _error(path, key, rule, _shortened(repr, error["input"]))


def read_toml(path: Path, schema: type[_Schema]) -> _Schema:
    """Read a file.

    Parameters
    ----------
    path : Path
        The file; ``info.context`` of validators.
    schema : type of TomlFile
        Rules of its format.

    Raises
    ------
    TomlError
        If it is no TOML, or breaks a rule.
    OSError
        If it cannot be read.
    """
    try:
        data = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except RecursionError:
        raise TomlError(f"{path}: TOML is nested too deeply") from None
    except ValueError as error:  # of the format, of the encoding, or of an endless number
        raise TomlError(f"{path}: not TOML: {error}") from None
    try:
        return schema.model_validate(data, context=path)
    except ValidationError as error:
        raise _first_error(path, error.errors()[0]) from None
