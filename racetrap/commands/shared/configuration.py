"""Defaults of options in a file: ``racetrap.toml``, or ``[tool.racetrap]`` of ``pyproject.toml``.

Each table is a command and has options by their long names, as ``[trace.record]`` with ``seed =
3``; ``jobs`` stands before all tables.  The command line takes precedence.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from racetrap.golden_model.checks import unknown_name

#: Key of the file, in a list, in the context's ``meta``.
DEFAULTS_FILE = "racetrap.defaults"
#: Key of the file that is of all commands, and stands before its tables.
JOBS_KEY = "jobs"

_OWN, _SHARED = "racetrap.toml", "pyproject.toml"
_SCALARS = (str, int, float, bool)


def read_defaults(folder: Path) -> tuple[Path, dict[str, Any]] | None:
    """The file for a folder, in it or in the nearest folder above, and its tables.

    Raises
    ------
    ValueError
        If a file is not TOML, or has no table where one is expected.
    OSError
        If a file cannot be read.
    """
    for place in (folder, *folder.parents):
        if (own := place / _OWN).is_file():
            return own, _tables(own)
        shared = place / _SHARED
        # Most projects have no table of ours.
        if shared.is_file() and b"tool.racetrap" in shared.read_bytes():
            tables = _tables(shared).get("tool", {}).get("racetrap", {})
            if not isinstance(tables, dict):
                raise ValueError(f"{shared}: tool.racetrap must be a table, not {tables!r}")
            return shared, tables
    return None


def _tables(path: Path) -> dict[str, Any]:
    import tomllib  # seldom needed

    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except RecursionError:
        raise ValueError(f"{path}: TOML is nested too deeply") from None
    except ValueError as error:  # of the format, the encoding, or an overlong number
        raise ValueError(f"{path}: not TOML: {error}") from None


def command_defaults(command: click.Command, table: Any) -> Mapping[str, Any]:
    """Defaults of a command's options by the names of its parameters.

    Raises
    ------
    ValueError
        If a key is not an option of the command, or a value has the wrong type.
    """
    if not isinstance(table, dict):
        raise ValueError(f"Defaults of {command.name} must be a table, not {table!r}")
    options = {
        name.removeprefix("--"): each
        for each in command.params
        if isinstance(each, click.Option) and not each.is_eager
        for name in each.opts
        if name.startswith("--")
    } | {each.key: each for each in command.params if hasattr(each, "key")}
    defaults: dict[str, Any] = {}
    for key, value in table.items():
        if key not in options:
            from racetrap.commands.shared.former_names import successor

            instead = "a key before all tables" if key == JOBS_KEY else successor(f"--{key}")
            if instead is not None:
                raise ValueError(f"Key {key!r} of {command.name} is now {instead}")
            raise ValueError(unknown_name(f"key of {command.name}", key, options))
        option = options[key]
        is_list = option.multiple or option.nargs == -1
        values = value if is_list and isinstance(value, list) else [value]
        if not all(isinstance(each, _SCALARS) for each in values):
            rule = "a list of numbers or words" if is_list else "a number or a word"
            raise ValueError(f"{command.name}.{key} must be {rule}, not {str(value)[:80]}")
        defaults[option.name or key] = values if is_list else value
    return defaults
