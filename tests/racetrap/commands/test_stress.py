"""`racetrap stress`: exit status, what people read, replay, JSON."""

import json
import subprocess

import numpy as np

from tests.support import REPOSITORY
from tests.support.gpu.cuda_programs import compile_text, needs_compiler

_FOLDER = REPOSITORY / "docs" / "examples"
_KERNEL = (str(_FOLDER / "handover.ptx"), "--launch", str(_FOLDER / "handover.toml"))


def test_a_failure_has_a_witness_that_replays(racetrap, tmp_path):
    file = tmp_path / "run.replay"
    result = racetrap("stress", *_KERNEL, "--budget", "20", "--output", file)
    assert result.exit_code == 1
    assert "of 20 runs fail, memory views, seeds 1 to 20, the first of them seed " in result.stdout
    for part in (
        "wrong result: Buffer 2: contents that no sequentially consistent run gives",
        "Witness: 1 deviation",
        "1. block (1, 0, 0) warp 0's load at handover.cu:12 took 0, from before block (0, 0, 0)",
        "handover.cu:6  *data = value;",
    ):
        assert part in result.stdout
    again = racetrap("stress", *_KERNEL, "--replay", file)
    assert again.exit_code == 1
    assert "Exposed: 1 of 1 runs fail, memory views." in again.stdout


def test_right_by_another_memory(racetrap):
    result = racetrap("stress", *_KERNEL, "--budget", "9", "--memory", "write-buffers:0")
    assert result.exit_code == 0
    assert "Exposed: 0 of 9 runs fail" in result.stdout


def test_systematic_search_and_json(racetrap):
    result = racetrap("stress", *_KERNEL, "--deviations", "1", "--json", "-")
    document = json.loads(result.stdout)
    assert document["failing"] == 1
    assert document["failures"] == {"wrong result": 1}
    assert document["witness"]["of_memory"] == 1


def test_advice_is_printed_and_given(racetrap, tmp_path):
    patch, file = tmp_path / "fence.patch", tmp_path / "out.json"
    result = racetrap(
        "stress", *_KERNEL, "--budget", "20,0.01s", "--output", patch,
        "--json", file,
    )  # fmt: skip
    assert "widen to fence.acq_rel.gpu at handover.cu:7" in result.stdout
    assert "handover.cu:7  __threadfence_block();" in result.stdout
    text = patch.read_text()
    assert "-        __threadfence_block();  // too narrow" in text
    assert "+        __threadfence();  // too narrow" in text
    assert json.loads(file.read_text())["advice"] == {
        "cured": True, "runs": 40, "memories": ["views"], "instead": [], "patch": text,
        "not_executed": [], "races": False,
        "changes": [
            {"action": "widen", "place": "handover.cu:7", "what": "fence.acq_rel.gpu"}
        ],
    }  # fmt: skip


def test_options_that_do_not_go_together(racetrap, tmp_path):
    for options, rule in (
        ((*_KERNEL, "--budget", "0s"), "Budget must be N, or Ts in seconds, or both as N,Ts"),
        ((*_KERNEL, "--budget", "3,4"), "Budget must be N, or Ts in seconds, or both as N,Ts"),
        ((*_KERNEL, "--memory", "views:0.5"), "Memory views holds back no store"),
        ((*_KERNEL, "-D", "X"), "Option -D is for a CUDA source, not for a kernel in PTX"),
        (("program", "-I", "x"), "Option -I is for a CUDA source, not for a program that is built"),
        ((*_KERNEL, "--", "4"), "A kernel with a launch file must have no arguments of a program"),
        (("missing.cu",), "Program must be a file, not missing.cu"),
    ):
        result = racetrap("stress", *options)
        assert (result.exit_code, rule in result.stderr) == (2, True)


@needs_compiler
def test_a_whole_program(racetrap, tmp_path, monkeypatch):
    kernel = (_FOLDER / "handover.cu").read_text()
    text = (
        kernel
        + """int main(int count, char **) {
      int *memory, out[2];
      cudaMalloc(&memory, 1024);
      cudaMemset(memory, 0, 1024);
      handover<<<2, 32>>>(memory, memory + 64, memory + 128, 42);
      cudaMemcpy(out, memory + 128, 8, cudaMemcpyDeviceToHost);
      return out[1] == 42 || count > 1 ? 0 : 1;
    }"""
    )
    program, file = compile_text(text, tmp_path), tmp_path / "run.replay"
    result = racetrap("stress", program, "--budget", "8", "--output", file)
    assert result.exit_code == 1
    assert "Exit status of the program must be 0, not 1" in result.stdout
    assert "program.cu:12  out[blockIdx.x] = *data;" in result.stdout
    # Its compiler names the source by the whole path.
    monkeypatch.chdir(tmp_path)
    racetrap("stress", program, "--budget", "8", "--output", "fence.patch")
    subprocess.run(["patch", "-p1", "-i", "fence.patch"], check=True)
    assert (tmp_path / "program.cu").read_text() == text.replace("_block()", "()")
    assert racetrap("stress", program, "--replay", file).exit_code == 1
    assert racetrap("stress", program, "--budget", "4", "--", "count").exit_code == 0


def test_expected_contents(racetrap, tmp_path):
    np.save(tmp_path / "out.npy", np.array([0, 42], np.int32))
    text = (_FOLDER / "handover.toml").read_text()
    expected = text.replace("count = 2\n", 'count = 2\nexpected = "out.npy"\n')
    (tmp_path / "h.toml").write_text(expected)
    result = racetrap(
        "stress", _FOLDER / "handover.ptx", "--launch", tmp_path / "h.toml", "--budget", "20"
    )
    assert "Buffer 2 must have 42 at element 1, not 0 (1 differ)" in result.stdout
