"""Places in a source."""

from __future__ import annotations

from collections.abc import Mapping


def pc_text(pc: int, locations: Mapping[int, str]) -> str:
    """A program counter, with its line if that is known."""
    return f"pc {pc:#x} ({locations[pc]})" if pc in locations else f"pc {pc:#x}"
