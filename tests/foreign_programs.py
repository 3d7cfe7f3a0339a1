"""CUDA programs of others, from Debian and PyPI, fetched for the check and not kept.

``python -m tests.foreign_programs [PROGRAM...]`` (``make foreign-programs``) fetches each package
into a folder of its own, compiles its sources unmodified with a driver, runs and checks the
program, and prints a row for each.  It needs a network.

A driver is the package's own, or one of ``tests/support/gpu/foreign``, which calls the package's
host code and compares what comes back with a result known otherwise.
"""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from racetrap.sim.failure import Failure
from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions
from tests.support import REPOSITORY
from tests.support.gpu.foreign.packages import CudaPackage
from tests.support.gpu.measured_check import MeasuredCheck, measure_check

DRIVERS = REPOSITORY / "tests" / "support" / "gpu" / "foreign"
_THRUST = CudaPackage("libthrust-dev", "Debian", ())
_VIENNACL = CudaPackage("libviennacl-dev", "Debian", ("usr/include",))
#: One function that it calls was removed from CUDA 13.
_DARKNET = CudaPackage(
    "darknet", "Debian's sources", ("darknet/include", "darknet/src"),
    ("-DGPU", "-lcublas", "-lcurand", "-DcudaThreadSynchronize=cudaDeviceSynchronize"),
)  # fmt: skip
_AWKWARD = CudaPackage("awkward", "PyPI", ("awkward/_connect/cuda/cuda_kernels",), version="2.14.0")
_FLASHINFER = CudaPackage(
    "flashinfer-python", "PyPI", ("flashinfer/data/include",), ("-std=c++17",),
    version="0.7.2.post1",
)  # fmt: skip
_EXAMPLES = "usr/share/doc/libthrust-dev/examples"
_VECTOR = "usr/include/viennacl/vector.hpp"
_MATRIX = "usr/include/viennacl/matrix.hpp"
_COMMON = ("cuda.c", "blas.c", "list.c", "utils.c", "blas_kernels.cu")
_COLUMNS = (
    "activations.c", "activation_kernels.cu", "im2col.c", "im2col_kernels.cu", "col2im.c",
    "col2im_kernels.cu",
)  # fmt: skip


@dataclass(frozen=True)
class ForeignProgram:
    """A program of others.

    Parameters
    ----------
    package : CudaPackage
        Where its code comes from.
    sources : tuple of str
        Its sources in the package.
    host : tuple of str
        Further files there with its host code: headers without a kernel.
    wanted : str
        What it prints if its result is right.
    has_driver : bool
        Whether a driver of ours calls it.
    own_races : str
        Why it races by itself; empty if it does not.
    """

    package: CudaPackage
    sources: tuple[str, ...] = ()
    host: tuple[str, ...] = ()
    wanted: str = "0 wrong"
    has_driver: bool = True
    own_races: str = ""

    def host_lines(self, folder: Path) -> int:
        """Lines of host code: of all files without a kernel."""
        texts = [(folder / name).read_text("utf-8") for name in (*self.sources, *self.host)]
        return sum(text.count("\n") for text in texts if "__global__" not in text)

    def is_right(self, found: MeasuredCheck) -> bool:
        """Whether it ran to its end with the right result."""
        return not found.problem and not found.status and self.wanted in found.printed

    def is_as_expected(self, found: MeasuredCheck) -> bool:
        """Whether it is right, and races if it is known to."""
        return self.is_right(found) and bool(found.races) == bool(self.own_races)


def _darknet(*names: str) -> ForeignProgram:
    return ForeignProgram(_DARKNET, tuple(f"darknet/src/{name}" for name in (*_COMMON, *names)))


def _example(name: str, wanted: str) -> ForeignProgram:
    return ForeignProgram(_THRUST, (f"{_EXAMPLES}/{name}.cu",), (), wanted, has_driver=False)


#: All programs.  Of Thrust's, the numbers from 0 to 9 add up to 45, and (1, 2, 3, 4) is the square
#: root of 30 long; all asserts must hold as well.
FOREIGN_PROGRAMS = {
    "thrust_device_ptr": _example("device_ptr", "sum of values is 45"),
    "thrust_norm": _example("norm", "norm is 5.47723"),
    "thrust_uninitialized_vector": _example("uninitialized_vector", ""),
    "viennacl_vectors": ForeignProgram(_VIENNACL, host=(_VECTOR,)),
    "viennacl_solver": ForeignProgram(
        _VIENNACL, host=(
            _VECTOR, "usr/include/viennacl/compressed_matrix.hpp",
            "usr/include/viennacl/linalg/cg.hpp",
        ),
    ),
    "viennacl_fourier": ForeignProgram(
        _VIENNACL, host=(_VECTOR, _MATRIX, "usr/include/viennacl/fft.hpp")
    ),
    "darknet_pooling": _darknet(
        "image.c", "maxpool_layer.c", "maxpool_layer_kernels.cu", "avgpool_layer.c",
        "avgpool_layer_kernels.cu",
    ),
    "darknet_columns": _darknet(*_COLUMNS),
    "darknet_batchnorm": _darknet(
        "image.c", "batchnorm_layer.c", "convolutional_layer.c", "convolutional_kernels.cu",
        "gemm.c", *_COLUMNS,
    ),
    "awkward_combinations": ForeignProgram(
        _AWKWARD,
        own_races="All threads of all blocks store the number of pairs to one word; PTX ISA 8.7.1 "
        "(Data-Races) excepts no stores of equal values.",
    ),
    "awkward_ranges": ForeignProgram(_AWKWARD),
    "flashinfer_activation": ForeignProgram(_FLASHINFER),
}  # fmt: skip


def check_foreign_program(name: str, folder: Path) -> MeasuredCheck:
    """Compile a program of a package that is in a folder, run it and check it."""
    program = FOREIGN_PROGRAMS[name]
    sources = [folder / source for source in program.sources]
    if program.has_driver:
        sources.insert(0, DRIVERS / f"{name}.cu")
    includes = (f"-I{folder / each}" for each in program.package.includes)
    options = CompilerOptions((*includes, *program.package.options))
    return measure_check(sources, options, folder)


def _row(program: ForeignProgram, found: MeasuredCheck, folder: Path) -> str:
    races = "".join(f" ({race})" for race in found.races[:3])
    return "; ".join((
        found.problem or f"ran, result {'right' if program.is_right(found) else 'WRONG'}",
        f"{len(found.races)} pairs of lines race{races}",
        f"{program.host_lines(folder)} lines of host code", f"{found.launches} launches",
        f"{found.events} events", f"{found.seconds} s of CPU", f"{found.mebibytes} MiB",
    ))  # fmt: skip


def main() -> None:
    """Print what came of each program, by default of all; fail if one is not as expected."""
    names = sys.argv[1:] or list(FOREIGN_PROGRAMS)
    packages = dict.fromkeys(FOREIGN_PROGRAMS[name].package for name in names)
    wrong, context = 0, multiprocessing.get_context("spawn")
    for package in packages:
        with tempfile.TemporaryDirectory(prefix="racetrap-") as unpacked:
            folder = Path(unpacked)
            try:
                version = package.fetch(folder)
            except (OSError, subprocess.SubprocessError, Failure) as error:
                sys.exit(f"Package {package.name} of {package.origin} cannot be fetched: {error}")
            print(f"{package.name} {version} ({package.origin})", flush=True)
            for name in names:
                if FOREIGN_PROGRAMS[name].package != package:
                    continue
                # A process of its own, whose peak memory counts.
                with ProcessPoolExecutor(1, mp_context=context) as pool:
                    found = pool.submit(check_foreign_program, name, folder).result()
                program = FOREIGN_PROGRAMS[name]
                passed = program.is_as_expected(found)
                wrong += not passed
                print(
                    f"  {'as expected' if passed else 'NOT AS EXPECTED'}  {name}: "
                    f"{_row(program, found, folder)}", flush=True,
                )  # fmt: skip
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
