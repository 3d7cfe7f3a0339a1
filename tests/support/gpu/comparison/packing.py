"""Folder of all that is compared on a GPU: sources, kernels, lists, manifest and runner.

Kernels are packed as the PTX that is judged here; whole programs as they stand, each with a `main`
around it that runs it several times.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from racetrap.golden_model.ptx_memory_model.litmus.parser import read_litmus
from racetrap.sim.gpu.launch.kernel_files import kernel_folder, load_kernels
from racetrap.sim.gpu.launch.launch_arguments import (
    ELEMENT_TYPES,
    BufferArgument,
    PointerArgument,
    ScalarArgument,
)
from racetrap.sim.gpu.launch.launch_file import LaunchSpec, fitting_kernel
from racetrap.sim.gpu.launch.nvrtc import compile_cuda
from racetrap.sim.gpu.suites.concurrency.cases import CASES
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS
from racetrap.sim.gpu.suites.micro.program import VARIABLES
from racetrap.sim.gpu.suites.weak_memory.launches import launch_of
from racetrap.sim.gpu.suites.weak_memory.programs import PROGRAMS as WEAK_PROGRAMS
from tests.cccl_drivers import FOLDER as DRIVERS
from tests.cccl_drivers import macros, source_of
from tests.cuda_verdicts import PROGRAMS as CUDA_PROGRAMS
from tests.support import REPOSITORY
from tests.support.gpu.cccl.results import RESULTS
from tests.support.gpu.comparison.jobs import Job
from tests.support.gpu.comparison.litmus_ptx import (
    LitmusKernel,
    UnsupportedTestError,
    litmus_kernel,
)
from tests.support.gpu.constructs.cases import GROUPS
from tests.support.gpu.constructs.cases import PACKAGE as CONSTRUCTS
from tests.support.gpu.cures.programs import FOLDER as CURES
from tests.support.gpu.cures.programs import PROGRAMS as CURE_PROGRAMS
from tests.support.gpu.micro_sources import micro_source

HERE = Path(__file__).parent
LITMUS_FOLDER = REPOSITORY / "docs" / "examples" / "litmus"
_WEAK_MEMORY = "racetrap.sim.gpu.suites.weak_memory"
#: Packages of kernels by the prefix of their files.
_PACKAGES = {
    "constructs": CONSTRUCTS,
    "concurrency": "racetrap.sim.gpu.suites.concurrency",
    "weak_memory": _WEAK_MEMORY,
}
#: Buffers ``data`` and ``sync`` of the constructs and of the concurrency suite.
_SUITE_BUFFERS = (4096, 256)
_MICRO_BYTES = 256
_SYSTEM_HEADER = re.compile(r"^#include <.*>", re.MULTILINE)
_DEVICE_VARIABLE = re.compile(
    r"^(static )?__(device|managed|constant)__ [^({]*[;=\[]", re.MULTILINE
)
_MAIN = """#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
{headers}
#define main program_main
#include "{source}"
#undef main

int main(int, char **words) {{
  const int times = atoi(words[1]);
  const double seconds = atof(words[2]);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) {{
    printf("\\n@begin\\n");
    fflush(stdout);
    const int status = program_main();
    const cudaError_t error = cudaDeviceSynchronize();
    printf("\\n@end %d %s\\n", status, cudaGetErrorName(error));
    fflush(stdout);
    if (error != cudaSuccess) return 3;
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begin;
    if (since.count() > seconds) break;
    if ({resets} && i + 1 < times) cudaDeviceReset();
  }}
  return 0;
}}
"""


def _launch(
    kernel: str, grid: Any, block: Any, shared: int, cooperative: bool, arguments: list[str]
) -> str:
    shape = " ".join(map(str, (*grid, *block, shared, int(cooperative))))
    return f"{kernel} {shape} {len(arguments)} {' '.join(arguments)}"


def suite_jobs() -> Iterator[Job]:
    """Kernels of the constructs, of the concurrency suite and of the micro-benchmarks."""
    zeros = tuple(map(bytes, _SUITE_BUFFERS))
    pointers = ["p 0 0", "p 1 0"]
    for pair in (pair for pairs in GROUPS.values() for pair in pairs):
        for kernel in (pair.free, pair.racy):
            launch = _launch(kernel, pair.grid, pair.block, 0, pair.cooperative, pointers)
            yield Job(
                f"constructs/{kernel}",
                kernel == pair.racy,
                f"kernels/constructs_{pair.source}.ptx",
                zeros,
                (launch,),
            )
    for case in CASES.values():
        launch = _launch(case.name, case.grid, case.block, case.dynamic_shared, False, pointers)
        yield Job(
            f"concurrency/{case.name}",
            bool(case.scoped_races),
            f"kernels/concurrency_{case.source}.ptx",
            zeros,
            (launch,) * case.launches,
        )
    for program in MICRO_BENCHMARKS.values():
        name = _micro_name(program.name)
        buffers = (bytes(_MICRO_BYTES),) * len(VARIABLES)
        pointers_of_all = [f"p {number} 0" for number in range(len(VARIABLES))]
        launch = _launch(
            name,
            (program.blocks, 1, 1),
            (32 * program.warps_per_block, 1, 1),
            0,
            False,
            pointers_of_all,
        )
        yield Job(
            f"micro/{program.name}".replace(" ", "_"),
            program.racy,
            f"kernels/{name}.ptx",
            buffers,
            (launch,),
        )
    for each in WEAK_PROGRAMS.values():
        module = load_kernels(_WEAK_MEMORY, each.name)
        for variant in each.variants:
            spec = launch_of(each, variant)
            yield _launch_job(
                f"weak_memory/{each.kernel(variant)}",
                variant.is_racy,
                f"kernels/weak_memory_{each.name}.ptx",
                spec,
                module,
            )


def _micro_name(name: str) -> str:
    return "micro_" + re.sub(r"\W+", "_", name)


def _launch_job(
    name: str, is_racy: bool, source: str, spec: LaunchSpec, module: Any
) -> Job:  # fmt: skip
    """Job of a launch file: its buffers in the order of the arguments, then those with names."""
    arguments = [
        (number, each)
        for number, each in enumerate(
            argument for _, table in spec.launches for argument in table.arguments
        )
    ]
    owned = [(number, each) for number, each in arguments if isinstance(each, BufferArgument)]
    names = {named.name: len(owned) + number for number, named in enumerate(spec.buffers)}
    places = {number: index for index, (number, _) in enumerate(owned)}
    contents = [
        each.make(np.random.default_rng((spec.seed, number))).tobytes() for number, each in owned
    ] + [
        named.make(np.random.default_rng((spec.seed, number, 1))).tobytes()
        for number, named in enumerate(spec.buffers)
    ]
    words = []
    for number, each in arguments:
        if isinstance(each, BufferArgument):
            words.append(f"p {places[number]} 0")
        elif isinstance(each, PointerArgument):
            words.append(f"p {names[each.pointer]} {each.offset}")
        else:
            assert isinstance(each, ScalarArgument)
            words.append(f"s {np.array(each.value, ELEMENT_TYPES[each.type]).tobytes().hex()}")
    launches = []
    for number, (_, table) in enumerate(spec.launches):
        own, words = words[: len(table.arguments)], words[len(table.arguments) :]
        kernel = fitting_kernel(spec, module, number).name
        launches.append(_launch(kernel, table.grid, table.block, table.dynamic_shared, False, own))
    return Job(name, is_racy, source, tuple(contents), tuple(launches))


def kernel_text(source: str) -> str:
    """PTX of the kernels in a source of a job."""
    stem = Path(source).stem
    for prefix, package in _PACKAGES.items():
        if stem.startswith(f"{prefix}_"):
            file = kernel_folder(package) / f"{stem.removeprefix(f'{prefix}_')}.ptx"
            return file.read_text(encoding="utf-8")
    program = next(each for each in MICRO_BENCHMARKS.values() if _micro_name(each.name) == stem)
    text = micro_source(program).replace(" void k(", f" void {stem}(")
    return compile_cuda(text, f"{stem}.cu")


def _write_programs(folder: Path) -> list[dict[str, Any]]:
    """Copy whole programs; returns their entries of the manifest."""
    entries = []

    def add(name: str, suite: str, source: str, define: list[str]) -> None:
        text = (folder / source).read_text(encoding="utf-8")
        wrapped = f"main_{name.replace('/', '_')}.cu"
        # Variables of the device keep what a run has left there.
        resets = int(bool(_DEVICE_VARIABLE.search(text)))
        headers = "\n".join(sorted(set(_SYSTEM_HEADER.findall(text))))
        (folder / wrapped).write_text(
            _MAIN.format(headers=headers, source=source, resets=resets), encoding="utf-8"
        )
        entries.append({"name": name, "suite": suite, "source": wrapped, "define": define})

    shutil.copytree(
        CURES, folder / "cures", ignore=shutil.ignore_patterns("*.py", "*.toml", "__pycache__")
    )
    every = [program for programs in CURE_PROGRAMS.values() for program in programs]
    for program in every:
        add(
            f"{program.folder}/{program.name}",
            "lacking" if program.text else "right",
            f"cures/{program.source}",
            [],
        )
    for program in filter(lambda each: each.text, every):
        cured = folder / "cured" / program.name
        shutil.copytree(CURES / program.folder, cured, ignore=shutil.ignore_patterns("*.py"))
        (cured / program.edited_file.name).write_text(program.edited(), encoding="utf-8")
        for other in cured.glob("*.cu"):
            if other.name != program.source.name:
                other.unlink()
        add(f"cured/{program.name}", "cured", f"cured/{program.name}/{program.source.name}", [])
    own = next(iter(CUDA_PROGRAMS.values())).parent
    for source, target in ((own, "cuda/programs"), (own.parents[1] / "workloads", "workloads")):
        shutil.copytree(
            source, folder / target, ignore=shutil.ignore_patterns("*.py", "*.ptx", "__pycache__")
        )
    for name, path in CUDA_PROGRAMS.items():
        for form, define in (("free", []), ("racy", ["RACY"])):
            add(f"programs/{name}/{form}", "programs", f"cuda/programs/{path.name}", define)
    return entries


def _write_drivers(folder: Path) -> list[dict[str, Any]]:
    """Copy the drivers over CCCL's headers; returns their entries of the manifest."""
    shutil.copytree(DRIVERS, folder / "cccl", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    return [
        {"name": name, "source": f"cccl/{source_of(name).name}", "define": macros(name)}
        for name in RESULTS
    ]


def litmus_kernels() -> tuple[dict[str, LitmusKernel], dict[str, str]]:
    """Kernels of the litmus tests by name, and why others have none."""
    kernels, left_out = {}, {}
    for path in sorted(LITMUS_FOLDER.glob("*.litmus")):
        try:
            kernels[path.stem] = litmus_kernel(read_litmus(path))
        except UnsupportedTestError as error:
            left_out[path.stem] = str(error)
    return kernels, left_out


def _write_litmus(folder: Path, kernels: dict[str, LitmusKernel]) -> list[dict[str, Any]]:
    """Write the litmus tests' kernels; returns their entries of the manifest."""
    (folder / "litmus").mkdir()
    entries = []
    for number, (name, kernel) in enumerate(kernels.items()):
        source = f"litmus/t{number}"
        (folder / f"{source}.ptx").write_text(kernel.text, encoding="utf-8")
        line = f"{name} {source}.cubin {kernel.line}"
        entries.append({"name": name, "source": f"{source}.ptx", "line": line})
    return entries


def pack(folder: Path) -> dict[str, Any]:
    """Write a new folder; returns the manifest."""
    folder.mkdir(parents=True)
    (folder / "kernels").mkdir()
    jobs = list(suite_jobs())
    for source in {each.source for each in jobs}:
        (folder / source).write_text(kernel_text(source), encoding="utf-8")
    kernels, left_out = litmus_kernels()
    manifest = {
        "programs": _write_programs(folder),
        "kernels": [
            {"name": each.name, "source": each.source, "text": each.text}
            for each in jobs
        ],
        "litmus": _write_litmus(folder, kernels), "left_out": left_out,
        "drivers": _write_drivers(folder),
    }  # fmt: skip
    for name in ("kernel_driver.cu", "litmus_driver.cu", "runner.py"):
        shutil.copyfile(HERE / name, folder / name)
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    return manifest
