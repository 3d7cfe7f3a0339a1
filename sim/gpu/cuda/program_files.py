"""CUDA programs of our own, with host code: each has a race-free and a racy form.

Ref: ScoRD (ISCA'20) Table II, of the programs whose names begin with ``scor_``.
"""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parent / "programs"
#: Macro with which the racy form is compiled.
RACY = "RACY"
#: Names of all programs.
PROGRAMS = tuple(path.stem for path in sorted(_FOLDER.glob("*.cu")))


def program_file(name: str) -> Path:
    """Source of a program."""
    if name not in PROGRAMS:
        raise ValueError(f"Program must be one of {', '.join(PROGRAMS)}, not {name}")
    return _FOLDER / f"{name}.cu"
