"""Plug-in of pytest: a race fails the test that runs the program."""

import tomllib
from contextlib import nullcontext
from importlib import import_module
from types import SimpleNamespace

import pytest

from racetrap.pytest_plugin import racetrap_run  # noqa: F401, a fixture of this module
from tests.support import REPOSITORY
from tests.support.gpu.cuda_programs import needs_compiler

pytest_plugins = ["pytester"]

_TEST = """
def test_racy(racetrap_run):
    racetrap_run("sum.cu", schedules=1)

def test_races_are_expected(racetrap_run):
    result = racetrap_run("sum.cu", schedules=1, may_race=True)
    assert [each.code for each in result.races] == ["RT103"]

def test_no_file(racetrap_run):
    racetrap_run("no.cu")
"""


@pytest.mark.parametrize("may_race", [False, True])
def test_findings_fail_the_test_unless_they_may_be(may_race, request, monkeypatch):
    run = request.getfixturevalue("racetrap_run")
    result = SimpleNamespace(has_findings=True, text="sum.cu:7: race")
    calls = []
    monkeypatch.setattr(
        "racetrap.calls.run.run", lambda *given, **options: calls.append((given, options)) or result
    )
    failed = nullcontext() if may_race else pytest.raises(pytest.fail.Exception, match=r"sum\.cu:7")
    with failed:
        assert run("sum.cu", ["64"], may_race=may_race, seed=2) is result
    assert calls == [(("sum.cu", ["64"]), {"seed": 2})]


@pytest.mark.campaign
@needs_compiler
def test_a_race_fails_the_test(pytester):
    pytester.makefile(".cu", sum="""
        __global__ void add(int *sum) { *sum += 1; }
        int main() {
          int *sum;
          cudaMalloc(&sum, 4);
          add<<<2, 1>>>(sum);
          return cudaDeviceSynchronize();
        }
    """)  # fmt: skip
    pytester.makepyfile(_TEST)
    result = pytester.runpytest_subprocess("-p", "no:racetrap", "-p", "racetrap.pytest_plugin")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["*sum.cu:1: race: *", "*Program must be a file, not no.cu"])


def test_pytest_finds_the_plug_in():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    module = import_module(project["entry-points"]["pytest11"]["racetrap"])
    assert hasattr(module, "racetrap_run")
