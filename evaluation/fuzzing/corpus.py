"""Correct files, one or more of each kind: the starting points of mutation."""

from __future__ import annotations

import io
import json
import tempfile
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np

from racetrap.golden_model.trace import ThreadTrace, read_trace

_RIGHT_FILES = files(__package__) / "right_files"


def right_file(name: str) -> bytes:
    """One of the files that were written for the corpus."""
    return (_RIGHT_FILES / name).read_bytes()


def array() -> bytes:
    """An array file as long as the buffer of the launch file."""
    stream = io.BytesIO()
    np.save(stream, np.zeros(64, dtype="<u4"))
    return stream.getvalue()


def kernels() -> list[bytes]:
    """PTX texts: one of a compiler, and one that has more of the language."""
    compiled = files("racetrap.sim.gpu.suites.concurrency") / "words.ptx"
    return [right_file("kernel.ptx"), compiled.read_bytes()]


def coverage_files() -> list[bytes]:
    """Coverage of a run, as a JSON object and as notes."""
    from racetrap.sim.cosim.scord.coverage_bins import BINS

    counts = dict.fromkeys(list(BINS)[:6], 3)
    notes = [{"system": "scord"}, {"coverage": counts}]
    return [json.dumps(counts).encode(), "\n".join(map(json.dumps, notes)).encode()]


def binary_form(name: str) -> list[bytes]:
    """Binary forms of a trace in text form."""
    with as_file(_RIGHT_FILES / name) as source, tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "target")
        trace = read_trace(source)
        trace.write_binary(target)
        forms = [target.read_bytes()]
        if isinstance(trace, ThreadTrace):
            trace.write_binary(target, compress=True)
            forms.append(target.read_bytes())
    return forms


def sweeps() -> list[bytes]:
    """Descriptions of sweeps, of two detectors."""
    return [right_file("scord_sweep.toml"), right_file("sigrace_sweep.toml")]
