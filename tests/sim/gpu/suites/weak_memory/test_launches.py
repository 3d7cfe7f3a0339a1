"""Launch files of the programs: what is written is what is run, at every size."""

import subprocess
import sys

import numpy as np
import pytest

from racetrap.sim.gpu.launch.kernel_files import load_kernels
from racetrap.sim.gpu.launch.launch_file import fitting_kernel, read_launch
from racetrap.sim.gpu.suites.weak_memory.launch_tables import scattered
from racetrap.sim.gpu.suites.weak_memory.launches import (
    LAUNCHES,
    launch_of,
    main,
    write_launches,
)
from racetrap.sim.gpu.suites.weak_memory.programs import PROGRAMS
from racetrap.sim.gpu.suites.weak_memory.runner import run_variant

PACKAGE = "racetrap.sim.gpu.suites.weak_memory"


@pytest.mark.parametrize("threads", [None, 64])
def test_written_files_are_what_is_run(tmp_path, threads):
    written = write_launches(tmp_path / "new", threads=threads)
    launches = [
        launch_of(program, variant, threads=threads)
        for program in PROGRAMS.values()
        for variant in program.variants
    ]
    assert [dict(read_launch(path)) for path in written] == [dict(launch) for launch in launches]


@pytest.mark.parametrize("name", PROGRAMS)
def test_launches_are_small_fit_their_kernels_and_expect_a_result(name):
    assert 2 <= LAUNCHES[name].blocks <= 4
    assert LAUNCHES[name].threads in (32, 64)
    launch = launch_of(PROGRAMS[name], PROGRAMS[name].variants[0])
    for number in range(len(launch.launches)):
        fitting_kernel(launch, load_kernels(PACKAGE, name), number)
    buffers = [*launch.arguments, *launch.buffers]
    expected = [each.expected for each in buffers if getattr(each, "expected", None)]
    assert [values for values in expected if any(values)]


def test_size_is_a_parameter():
    program = PROGRAMS["scan"]
    launch = launch_of(program, program.variants[0], blocks=4, threads=128)
    assert (launch.grid, launch.block) == ((4, 1, 1), (128, 1, 1))
    assert launch.arguments[1].expected[-1] == 511 * 512 // 2


def test_input_is_scattered_like_the_kernels():
    assert scattered(np.arange(3)).tolist() == [0x9E3779B1, 0x3C6EF362, 0xDAA66D13]


def test_command_writes_one_file_a_variant(tmp_path):
    command = [sys.executable, "-m", "racetrap.sim.gpu.suites.weak_memory.launches"]
    done = subprocess.run(
        [*command, str(tmp_path), "--blocks", "2"], capture_output=True, text=True, check=True
    )
    names = {f"{program.kernel(each)}.toml" for program in PROGRAMS.values()
             for each in program.variants}  # fmt: skip
    assert {path.name for path in tmp_path.iterdir()} == names
    assert len(done.stdout.splitlines()) == len(names)
    assert read_launch(tmp_path / "dot_product_full.toml").grid == (2, 1, 1)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ({"blocks": 1}, "Blocks must be from 2 to 15, not 1"),
        ({"blocks": 16}, "Blocks must be from 2 to 15, not 16"),
        ({"threads": 16}, "Threads must be a power of two from 32 to 1024, not 16"),
        ({"threads": 96}, "Threads must be a power of two from 32 to 1024, not 96"),
    ],
)
def test_shape_that_no_program_has_is_refused_before_anything_is_written(tmp_path, shape, message):
    with pytest.raises(ValueError, match=message):
        write_launches(tmp_path / "new", **shape)
    assert not (tmp_path / "new").exists()


def test_command_refuses_a_shape_in_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["launches", str(tmp_path / "new"), "--blocks", "1"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert capsys.readouterr().err.endswith("error: Blocks must be from 2 to 15, not 1\n")


@pytest.mark.campaign
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(("blocks", "threads"), [(2, 32), (5, 64), (15, 32), (4, 256)])
def test_results_are_right_at_other_sizes(name, blocks, threads):
    captured = run_variant(PROGRAMS[name], PROGRAMS[name].variants[0], 1, blocks, threads)
    assert not captured.fault
    assert not captured.differences
