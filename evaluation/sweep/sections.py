"""Reading tables of a TOML file by rules; every error names file, key and rule."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

__all__ = ["Section", "SpecError"]

_WORD = re.compile(r"[a-z0-9][a-z0-9_-]*")


class SpecError(ValueError):
    """A file breaks a rule: one sentence with file, key and rule."""


class Section:
    """A table of the file.

    Parameters
    ----------
    file : str
        Name of the file.
    path : str
        Dotted path of the table; empty for the whole file.
    data : mapping
        The table.
    """

    def __init__(self, file: str, path: str, data: Mapping[str, Any]) -> None:
        self._file, self._path, self.data = file, path, data

    def where(self, key: str) -> str:
        """File and dotted path of a key."""
        path = ".".join(part for part in (self._path, key) if part)
        return f"{self._file}: {path}"

    def error(self, key: str, rule: str, value: object) -> SpecError:
        """What to raise for a value that breaks a rule."""
        shown = value if isinstance(value, str) else repr(value)
        return SpecError(f"{self.where(key)}: Value must be {rule}, not {shown}")

    def only(self, *keys: str) -> None:
        """No other keys than these."""
        for key in self.data:
            if key not in keys:
                raise SpecError(f"{self.where(key)}: Key must be one of {', '.join(keys)}")

    def section(self, key: str, required: bool = False) -> Section:
        """A table in this one; empty if it is absent and may be."""
        if required and key not in self.data:
            raise self.error(key, "a table", "absent")
        value = self.data.get(key, {})
        if not isinstance(value, dict):
            raise self.error(key, "a table", value)
        path = f"{self._path}.{key}" if self._path else key
        return Section(self._file, path, value)

    def word(self, key: str) -> str:
        """A name that may be part of a file's."""
        value = self.data.get(key, "absent")
        if not isinstance(value, str) or key not in self.data or not _WORD.fullmatch(value):
            raise self.error(key, "a word of lower-case letters, digits, - and _", value)
        return value

    def choice(self, key: str, known: Collection[str], default: str | None = None) -> str:
        """One of some words."""
        value = self.data.get(key, "absent" if default is None else default)
        if not isinstance(value, str) or value not in known:
            raise self.error(key, f"one of {', '.join(known)}", value)
        return value

    def choices(self, key: str, known: Collection[str]) -> tuple[str, ...]:
        """Several of some words, in the order given."""
        values = self.data.get(key, "absent")
        if not isinstance(values, list) or not values:
            raise self.error(key, f"a list of at least one of {', '.join(known)}", values)
        for value in values:
            if not isinstance(value, str) or value not in known:
                raise self.error(key, f"a list of {', '.join(known)}", value)
        if len(set(values)) != len(values):
            raise self.error(key, "a list of different words", values)
        return tuple(values)

    def number(self, key: str, low: int, high: int, default: int) -> int:
        """A whole number in a range."""
        value = self.data.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self.error(key, f"a whole number from {low} to {high}", value)
        return value

    def switch(self, key: str) -> bool:
        """True or false; false if absent."""
        value = self.data.get(key, False)
        if not isinstance(value, bool):
            raise self.error(key, "true or false", value)
        return value

    def scalar(self, key: str, value: Any) -> int | bool | str:
        """A value that a parameter can have."""
        if not isinstance(value, int | str):
            raise self.error(key, "a whole number, true, false or a word", value)
        return value
