"""Planted bugs: those that `make test` has time for, and modules with a bug in them."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import pytest

from tests.support import REPOSITORY

__all__ = ["module_with", "one_for_each_file"]


def one_for_each_file(files: Mapping[str, str]) -> list[Any]:
    """Bugs, given with the file of each, as parameters: the first of each file, the others as a
    campaign."""
    first = {file: name for name, file in reversed(files.items())}
    return [
        name if first[file] == name else pytest.param(name, marks=pytest.mark.campaign)
        for name, file in files.items()
    ]


def module_with(file: str, bug: tuple[str, str] | None) -> ModuleType:
    """A module of the RTL made anew: ``bug`` is what stands in its source, and what instead."""
    path = REPOSITORY / "rtl" / file
    text = path.read_text(encoding="utf-8")
    if bug is not None:
        assert text.count(bug[0]) == 1, f"{bug[0]!r} must be in {path.name} once"
        text = text.replace(*bug)
    module = ModuleType(".".join(("racetrap.rtl", *path.relative_to(REPOSITORY / "rtl").parts)))
    exec(compile(text, path.name, "exec"), vars(module))
    return module
