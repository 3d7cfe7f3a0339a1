"""Error of every comparison of hardware with a golden model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from racetrap.sim.failure import Failure


class Mismatch(Failure, AssertionError):
    """The hardware differs from the golden model."""


def difference(what: str, seen: Any, golden: Any) -> str:
    """Names and values of the fields in which two named tuples differ."""
    fields = [
        f"{name} must be {right}, not {left}"
        for name, left, right in zip(golden._fields, seen, golden, strict=True)
        if left != right
    ]
    return f"{what} differs: {'; '.join(fields)}; golden {golden}"


def compare_counters(seen: Mapping[str, int], due: Mapping[str, int]) -> None:
    """Compare the hardware's event counters with the expected ones.

    Raises
    ------
    Mismatch
        If one differs.
    """
    for name, value in due.items():
        if seen[name] != value:
            raise Mismatch(f"Counter {name} must be {value}, not {seen[name]}")
