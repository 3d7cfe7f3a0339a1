"""Patches that end races, of `racetrap run` and `racetrap check`."""

import json
import subprocess
from pathlib import Path

import pytest

from racetrap.verdict.gpu.cure.cure import CureSearch
from tests.support.gpu.cuda_programs import needs_compiler
from tests.support.gpu.cures.programs import FOLDER, PROGRAMS

_EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
#: A machine may be busy with other tests.
_PATIENT = ("--budget", "600s")
_RIGHT = [program for programs in PROGRAMS.values() for program in programs if not program.text]
_PROGRAM = """__global__ void k(int *a) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  a[threadIdx.x] = s[63 - threadIdx.x];
}
int main() {
  int *p;
  cudaMalloc(&p, 1024);
  k<<<1, 64>>>(p);
  cudaDeviceSynchronize();
}
"""


@needs_compiler
def test_kernel_gets_a_patch_that_git_takes_and_that_ends_its_race(racetrap, tmp_path):
    for name in ("handover.cu", "handover.toml"):
        (tmp_path / name).write_bytes((_EXAMPLES / name).read_bytes())
    patch, report = tmp_path / "cure.patch", tmp_path / "report.json"
    kernel = str(tmp_path / "handover.cu")
    result = racetrap("check", kernel, *_PATIENT, "-o", str(patch), "--json", str(report))
    edit = f"change `__threadfence_block` to `__threadfence` at {kernel}:7"
    assert f"  help: {edit}\n" in result.output
    (finding,) = json.loads(report.read_text())["findings"]
    cure = finding["cure"]
    assert (cure["edits"], cure["reason"], cure["diff"]) == ([edit], None, patch.read_text())
    (part,) = cure["replacements"]
    assert (Path(part["file"]), part["text"]) == (tmp_path / "handover.cu", "__threadfence")
    assert (part["line"], part["column"], part["end_line"], part["end_column"]) == (7, 9, 7, 28)
    subprocess.run(["git", "apply", patch], cwd=tmp_path, check=True)
    assert racetrap("check", kernel).exit_code == 0


@needs_compiler
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--no-cures",), ""), (("--oracle", "none"), ""),
        (("--budget", "0.001s"), "Time of --budget over before the search for a cure ended: "),
    ],
)  # fmt: skip
def test_no_edit_is_tried(racetrap, monkeypatch, options, said):
    monkeypatch.setattr(CureSearch, "cure", None)
    result = racetrap("check", str(_EXAMPLES / "handover.cu"), *options)
    assert result.exit_code == 1
    (*_, last) = result.output.splitlines()
    assert ("  help: " in result.output) == bool(said)
    assert last.startswith(said) if said else "cure" not in result.output.lower()


@needs_compiler
def test_program_that_runs_once_is_not_run_again(racetrap, tmp_path, monkeypatch):
    monkeypatch.setattr(CureSearch, "__init__", None)
    program = tmp_path / "prog.cu"
    program.write_text(_PROGRAM)
    assert "help: " not in racetrap("run", str(program), "--schedules", "1").output


@pytest.mark.campaign
@needs_compiler
def test_program_gets_a_patch_that_ends_its_race(racetrap, tmp_path):
    program = tmp_path / "prog.cu"
    program.write_text(_PROGRAM)
    result = racetrap("run", str(program), *_PATIENT, "-o", str(tmp_path / "cure.patch"))
    assert f"help: insert `__syncthreads();` before {program}:4\n" in result.output
    subprocess.run(["git", "apply", "cure.patch"], cwd=tmp_path, check=True)
    assert racetrap("run", str(program)).exit_code == 0


@pytest.mark.campaign
@needs_compiler
@pytest.mark.parametrize("program", _RIGHT, ids=[program.name for program in _RIGHT])
def test_right_program_has_one_line(racetrap, program):
    result = racetrap("run", str(FOLDER / program.source))
    (line,) = result.output.splitlines()
    assert line.startswith("Races: none (exact, by rule causality). Checked: ")
    assert result.exit_code == 0


@pytest.mark.parametrize(
    "words",
    [("check", "handover.ptx", "-o", "cure.patch"), ("run", "app", "-o", "cure.patch")],
)
def test_only_sources_are_edited(racetrap, tmp_path, words):
    command, name, *options = words
    (tmp_path / name).write_text("")
    result = racetrap(command, str(tmp_path / name), *options)
    assert result.exit_code == 2
    assert ".cu" in result.stderr
