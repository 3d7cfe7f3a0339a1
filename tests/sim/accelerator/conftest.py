"""Recording of programs in text."""

import os

import pytest

from racetrap.sim.accelerator.recorder import record_accelerator


@pytest.fixture
def record(tmp_path):
    """Records a C program, given as text, with its arguments; the trace."""

    def _record(text, *arguments, **options):
        source = tmp_path / "case.c"
        source.write_text(text)
        with open(os.devnull, "w") as nowhere:
            return record_accelerator([source], arguments, output=nowhere, **options).trace

    return _record
