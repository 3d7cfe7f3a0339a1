"""Sweeps for tests: the text of a small one, and how it becomes a file."""

from pathlib import Path

from racetrap.evaluation.sweep.spec import Spec, read_spec

#: Four cheap points, one of them refused: its metadata entry would not fit.
SMALL = """\
name = "small"
preset = "scord"

[grid]
ratio = [1, 16]
barrier_id_bits = [4, 16]

[quality]
workloads = ["1DC"]
schedules = 1
seed = 5
"""


def write(folder: Path, text: str = SMALL) -> Path:
    path = folder / "spec.toml"
    path.write_text(text)
    return path


def read(folder: Path, text: str = SMALL) -> Spec:
    return read_spec(write(folder, text))
