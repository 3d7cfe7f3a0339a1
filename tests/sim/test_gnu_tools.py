"""GNU tools as processes: their output, and errors that name them."""

import pytest

from racetrap.sim.cpu.thread_sanitizer import SanitizerError
from racetrap.sim.failure import Failure
from racetrap.sim.gnu_tools import run_tool


def test_standard_output_only():
    assert run_tool(["sh", "-c", "cat; echo warning >&2"], "Failed", given="text") == "text"


def test_failure_comes_with_the_output():
    with pytest.raises(Failure, match=r"^It must work:\nout\nbecause$"):
        run_tool(["sh", "-c", "echo out; echo because >&2; exit 3"], "It must work")


def test_long_output_is_cut():
    with pytest.raises(Failure) as caught:
        run_tool(["sh", "-c", "seq 10000; exit 1"], "It must work")
    assert len(str(caught.value)) < 5000


def test_missing_tool():
    with pytest.raises(SanitizerError, match="`no-such-tool` was not found: install"):
        run_tool(["no-such-tool"], "It must work", error=SanitizerError)
