"""Files to copy for continuous integration: their lines find races as they stand."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml  # comes with Dask

from tests.support import REPOSITORY
from tests.support.gpu.cuda_programs import compile_text, needs_compiler

_FILES = REPOSITORY / "docs" / "examples" / "continuous-integration"
_HANDOVER = REPOSITORY / "docs" / "examples" / "handover.ptx"
_PROGRAM = """\
#include <cstdlib>
__global__ void add(int *sum) { ADD; }
int main(int count, char **arguments) {
  int *sum;
  cudaMalloc(&sum, 4);
  if (count > 1) add<<<2, std::atoi(arguments[1])>>>(sum);
  return cudaDeviceSynchronize();
}
"""
_RACY, _RIGHT = _PROGRAM.replace("ADD", "*sum += 1"), _PROGRAM.replace("ADD", "atomicAdd(sum, 1)")


@pytest.fixture
def environment():
    """The environment of a user who has installed racetrap."""
    return os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


def _run(command, folder, environment):
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def _steps(environment, **inputs):
    """Steps of the action with a shell line, and their environment for some inputs."""
    action = yaml.safe_load((_FILES / "action.yml").read_text())
    values = {name: each.get("default", "") for name, each in action["inputs"].items()} | inputs
    for step in action["runs"]["steps"]:
        if "run" in step:
            own = {
                name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: values[found[1]], text)
                for name, text in step["env"].items()
            }
            assert "${{" not in "".join([step["run"], *own.values()])
            yield (
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                (environment | own),
            )


@pytest.mark.campaign
@needs_compiler
@pytest.mark.parametrize(("text", "status"), [(_RACY, 1), (_RIGHT, 0)], ids=["racy", "right"])
def test_the_action(text, status, tmp_path, environment):
    (tmp_path / "sum.cu").write_text(text)
    install, check = (
        _run(*(command, tmp_path, own))
        for command, own in _steps(
            environment, program="sum.cu", arguments="32", options="--schedules 1"
        )
    )
    installed = shutil.which("racetrap", path=environment["PATH"])
    assert (install.returncode, install.stdout) == (0, f"{installed}\n")
    assert check.returncode == status, check.stderr
    assert ("::error file=sum.cu,line=2" in check.stdout) is bool(status)
    assert (tmp_path / "racetrap.sarif").is_file()


def test_the_action_refuses_what_the_command_refuses(tmp_path, environment):
    """Cheap: the shell line itself runs, and its options reach the command."""
    *_, (command, own) = _steps(environment, program="no.cu", options="--schedules 1")
    done = _run(command, tmp_path, own)
    assert (done.returncode, done.stderr) == (2, "racetrap: Program must be a file, not no.cu.\n")


@pytest.fixture
def repository(tmp_path, environment):
    """A git repository with the hook, and a kernel whose fence is too narrow."""
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    for words in (
        ["init", "-q"], ["config", "core.hooksPath", ".githooks"],
        ["config", "user.name", "A"], ["config", "user.email", "a@example.com"],
    ):  # fmt: skip
        assert _run(["git", *words], tmp_path, environment).returncode == 0
    (tmp_path / ".githooks").mkdir()
    shutil.copy(_FILES / "pre-commit", tmp_path / ".githooks")
    shutil.copy(_HANDOVER.with_suffix(".toml"), tmp_path)
    shutil.copy(_HANDOVER, tmp_path)
    (tmp_path / "part.ptx").write_text("not a kernel by itself\n")

    def commit():
        assert _run(["git", "add", "."], tmp_path, environment).returncode == 0
        return _run(["git", "commit", "-q", "-m", "change"], tmp_path, environment)

    return tmp_path, commit


def test_the_hook(repository):
    folder, commit = repository
    racy = commit()
    assert racy.returncode == 1
    assert "handover.cu:12: race: " in racy.stdout + racy.stderr
    narrow, wide = "membar.cta", "membar.gl"
    (folder / "handover.ptx").write_text(_HANDOVER.read_text().replace(narrow, wide))
    right = commit()
    assert right.returncode == 0, right.stdout + right.stderr


def test_the_entry_for_pre_commit_calls_the_hook():
    config = yaml.safe_load((_FILES / "pre-commit-config.yaml").read_text())
    (hook,) = config["repos"][0]["hooks"]
    assert (hook["entry"], hook["language"]) == (".githooks/pre-commit", "script")
    names = ["src/a.cu", "b.ptx", "c.cuh", "d.c"]
    assert [bool(re.search(hook["files"], name)) for name in names] == [True, True, False, False]


_PROJECT = """\
cmake_minimum_required(VERSION 3.19)
project(sums LANGUAGES NONE)
enable_testing()
foreach(name racy right)
  add_executable(${{name}} IMPORTED)
  set_target_properties(
    ${{name}} PROPERTIES IMPORTED_LOCATION ${{CMAKE_SOURCE_DIR}}/${{name}}/program
  )
endforeach()
include({file})
racetrap_add_test(racy ARGUMENTS 32 OPTIONS --schedules 1)
racetrap_add_test(racy NAME "without a launch" OPTIONS --schedules 1)
racetrap_add_test(right ARGUMENTS 32)
{more}
"""


def _configure(folder, environment, more=""):
    text = _PROJECT.format(file=_FILES / "racetrap.cmake", more=more)
    (folder / "CMakeLists.txt").write_text(text)
    return _run(["cmake", "-S", ".", "-B", "build"], folder, environment)


needs_cmake = pytest.mark.skipif(
    shutil.which("cmake", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}") is None,
    reason="CMake is not installed (extra `dev`)",
)


@pytest.mark.campaign
@needs_cmake
@needs_compiler
def test_cmake(tmp_path, environment):
    for name, text in (("racy", _RACY), ("right", _RIGHT)):
        (tmp_path / name).mkdir()
        compile_text(text, tmp_path / name)
    configured = _configure(tmp_path, environment)
    assert configured.returncode == 0, configured.stderr
    tested = _run(["ctest", "--test-dir", "build", "--output-on-failure"], tmp_path, environment)
    found = dict(re.findall(r"Test +#\d+: (.+?) \.+ *(?:\*\*\*)?(Passed|Failed)", tested.stdout))
    assert found == {
        "racetrap.racy": "Failed", "without a launch": "Passed", "racetrap.right": "Passed",
    }  # fmt: skip
    assert ":2: race: " in tested.stdout


@needs_cmake
@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("racetrap_add_test(nothing)", "needs a target of this project, not\n  nothing"),
        ("racetrap_add_test(racy 32)", "takes NAME, ARGUMENTS and OPTIONS, not 32"),
    ],
)
def test_wrong_calls_of_cmake(line, sentence, tmp_path, environment):
    configured = _configure(tmp_path, environment, line)
    assert configured.returncode == 1
    assert sentence.replace("\n ", "") in re.sub(r"\n +", " ", configured.stderr)


def test_the_page_names_every_file():
    page = (REPOSITORY / "docs" / "how-to" / "continuous-integration.md").read_text()
    assert [path.name for path in _FILES.iterdir() if f"`{path.name}`" not in page] == []
