"""Trace files that other versions have written: read as before, and written byte for byte."""

import re
from pathlib import Path

import pytest

from racetrap.golden_model.trace import NoncoherentTrace, ThreadTrace, Trace, read_trace
from tests.support import REPOSITORY

_FILES = Path(__file__).parent / "files"
_SYSTEMS = {"gpu": Trace, "threads": ThreadTrace, "noncoherent": NoncoherentTrace}


@pytest.fixture(params=_SYSTEMS)
def system(request):
    return request.param


@pytest.fixture
def example(system, tmp_path):
    """The document's example, from which the kept files were made."""
    page = (REPOSITORY / "docs" / "trace-format.md").read_text(encoding="utf-8")
    name = _SYSTEMS[system].schema.system
    (text,) = re.findall(rf"```\n(racetrap-trace 2\nsystem {name}\n.*?)```", page, re.S)
    path = tmp_path / "example.txt"
    path.write_text(text, encoding="utf-8")
    return read_trace(path)


def test_kept_files_are_read(system, example):
    paths = sorted(_FILES.glob(f"{system}*"))
    assert len(paths) == {"gpu": 2, "threads": 3, "noncoherent": 2}[system]
    for path in paths:
        assert read_trace(path) == example
        assert list(read_trace(path)) == list(example)


def test_binary_form_is_that_of_the_kept_file(system, example, tmp_path):
    example.write_binary(tmp_path / "again.trace")
    kept = _FILES / f"{system}.trace"
    assert (tmp_path / "again.trace").read_bytes() == kept.read_bytes()


def test_text_form_is_that_of_the_kept_file(system, example, tmp_path):
    example.write_text(tmp_path / "again.txt")
    assert (tmp_path / "again.txt").read_bytes() == (_FILES / f"{system}.txt").read_bytes()


@pytest.mark.parametrize("name", ["kernel_only", "whole_barriers", "lone_blocks"])
def test_files_from_before_new_kinds_read_and_write_as_before(tmp_path, name):
    """The begin of the example, as it was before operations, partial barriers, or clusters."""
    kept = _FILES / f"{name}.trace"
    trace = read_trace(kept)
    whole = list(read_trace(_FILES / "gpu.trace"))
    assert list(trace) == list(read_trace(kept.with_suffix(".txt"))) == whole[: len(trace)]
    trace.write_binary(tmp_path / "again.trace")
    trace.write_text(tmp_path / "again.txt")
    assert (tmp_path / "again.trace").read_bytes() == kept.read_bytes()
    assert (tmp_path / "again.txt").read_bytes() == kept.with_suffix(".txt").read_bytes()
