"""Choice of the planted bugs that `make test` has time for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

__all__ = ["one_for_each_file"]


def one_for_each_file(files: Mapping[str, str]) -> list[Any]:
    """Bugs, given with the file of each, as parameters: the first of each file, the others as a
    campaign."""
    first = {file: name for name, file in reversed(files.items())}
    return [
        name if first[file] == name else pytest.param(name, marks=pytest.mark.campaign)
        for name, file in files.items()
    ]
