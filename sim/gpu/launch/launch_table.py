"""A table of a launch file, read key by key with one sentence for each broken rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["LaunchError", "Table", "is_integer"]

_REQUIRED = object()


class LaunchError(ValueError):
    """A launch file that breaks a rule of the format, or does not fit its kernel."""


def is_integer(value: Any, low: int, high: int) -> bool:
    """Whether ``value`` is a whole number from ``low`` to ``high``; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


class Table:
    """One table.

    Parameters
    ----------
    path : Path
        The launch file, for messages.
    data : mapping
        Keys and values.
    prefix : str
        Name of the table, for messages; empty for the file itself.
    """

    def __init__(self, path: Path, data: Mapping[str, Any], prefix: str = ""):
        self.path = path
        self._data = data
        self._prefix = prefix

    def __contains__(self, key: str) -> bool:
        return key in self._data

    def error(self, key: str, rule: str, value: object) -> LaunchError:
        """The error that ``key`` must be ``rule``, not ``value``."""
        name = f"{self._prefix}.{key}" if self._prefix else key
        return LaunchError(f"{self.path}: {name} must be {rule}, not {value}")

    def check_keys(self, known: Iterable[str]) -> None:
        """Raise if the table has a key that is not ``known``."""
        for key in self._data:
            if key not in known:
                where = f"Key of {self._prefix}" if self._prefix else "Key"
                raise LaunchError(
                    f"{self.path}: {where} must be one of {', '.join(known)}, not {key}"
                )

    def take(
        self, key: str, fits: Callable[[Any], bool], rule: str, default: Any = _REQUIRED
    ) -> Any:
        """Value of ``key``, which must fit; ``default`` if it is not there."""
        if key not in self._data:
            if default is _REQUIRED:
                raise self.error(key, rule, "missing")
            return default
        value = self._data[key]
        if not fits(value):
            raise self.error(key, rule, repr(value))
        return value

    def integer(self, key: str, low: int, high: int, default: Any = _REQUIRED) -> int:
        """Whole number from ``low`` to ``high`` under ``key``."""
        rule = f"from {low} to {high}"
        return self.take(key, lambda value: is_integer(value, low, high), rule, default)
