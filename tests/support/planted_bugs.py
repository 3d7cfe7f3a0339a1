"""Choice of the planted bugs that `make test` has time for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

__all__ = ["one_for_each_file"]


def one_for_each_file(bugs: Mapping[str, Any]) -> Iterator[Any]:
    """Names of bugs as parameters: the first in each file of the RTL, the others as a campaign."""
    seen = set()
    for name, bug in bugs.items():
        is_first = bug.patch.file not in seen
        seen.add(bug.patch.file)
        yield name if is_first else pytest.param(name, marks=pytest.mark.campaign)
