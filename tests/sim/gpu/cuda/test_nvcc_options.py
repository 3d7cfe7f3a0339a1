"""Options of nvcc: all that there are, read as nvcc reads them."""

import re
import subprocess

import pytest

from racetrap.sim.gpu.cuda.nvcc_options import NVCC_OPTIONS, CompilerOptions
from racetrap.sim.gpu.cuda.toolkit import toolkit_folder
from tests.support.gpu.cuda_programs import needs_compiler

#: Options that `racetrap` has itself.
_OURS = {"-h", "--help", "-o"}


@needs_compiler
def test_all_options_of_the_compiler_are_listed():
    nvcc = toolkit_folder() / "bin" / "nvcc"
    text = subprocess.run([nvcc, "--help"], capture_output=True, text=True, check=True).stdout
    found = {}
    for line in re.findall(r"(?m)^--.*-.*", text):
        long, *value, short = line.split()
        found |= dict.fromkeys((long, short.strip("()")), bool(value))
    assert len(found) > 200
    found |= dict.fromkeys(
        ("-MF", "--dependency-output"), True
    )  # a file, which the help leaves out
    listed = {name: each.has_value for name, each in NVCC_OPTIONS.items() if name != "--arch"}
    assert listed == {name: value for name, value in found.items() if name not in _OURS}


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ("", ["-gencode", "arch=compute_75,code=compute_75", "-lineinfo"]),
        ("-DA=1 -D B -Ix -I=y", ["-D", "A=1", "-D", "B", "-I", "x", "-I", "y"]),
        ("-O3 -lz --std c++20", ["-O", "3", "-l", "z", "-std", "c++20"]),
        ("-Xcompiler -Wall,-g -rdc=true", ["-Xcompiler", "-Wall,-g", "-rdc", "true"]),
        ("-g -G -lineinfo -cudart static -Xptxas -v --expt-relaxed-constexpr",
         ["-expt-relaxed-constexpr"]),
    ],
)  # fmt: skip
def test_what_is_taken_is_passed_on(words, arguments):
    given = CompilerOptions(tuple(words.split())).arguments()
    assert given[-len(arguments) :] == arguments
    assert len(given) == len(arguments) + 3 * bool(words)


@pytest.mark.parametrize(
    ("words", "architecture"),
    [
        ("", "75"),
        ("-arch=sm_80", "80"),
        ("--arch 90", "90"),
        ("-arch=native", "75"),
        ("-arch=sm_90a", "90a"),
        ("-gencode arch=compute_80,code=sm_80 -gencode=arch=compute_86,code=[sm_86]", "86"),
    ],
)
def test_the_newest_architecture_counts(words, architecture):
    options = CompilerOptions(tuple(words.split()))
    assert options.capability == int(architecture.rstrip("a"))
    assert options.arguments()[1] == f"arch=compute_{architecture},code=compute_{architecture}"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("-arch=sm_60", "Architecture must be from sm_75 to sm_121, as in -arch=sm_90, not sm_60"),
        ("-arch fermi", "Architecture must be from sm_75 to sm_121, as in -arch=sm_90, not fermi"),
        ("-D", "Option -D of nvcc must have a value, as in -D VALUE"),
        ("-lineinfo=1", "Option -lineinfo of nvcc has no value: leave out =1"),
        ("-c", "Option -c of nvcc chooses what a build makes or keeps: leave it out, or "),
        ("-stdd=c++17", "Unknown option of nvcc '-stdd': did you mean '-std'?"),
        ("-zebra", "Unknown option of nvcc '-zebra': `nvcc --help` lists them"),
    ],
)
def test_a_wrong_option_is_refused(words, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
        CompilerOptions(tuple(words.split()))
