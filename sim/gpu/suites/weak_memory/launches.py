"""Launches of the programs, of any size, as launch files.

``python -m racetrap.sim.gpu.suites.weak_memory.launches FOLDER`` writes one for each variant.

Ref: Bugaroo Section IV-B.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from racetrap.golden_model.events import USUAL_GEOMETRY
from racetrap.sim.gpu.launch.launch_file import LaunchSpec
from racetrap.sim.gpu.suites.weak_memory import paper_launches, synchronisation_launches
from racetrap.sim.gpu.suites.weak_memory.launch_tables import LaunchTables
from racetrap.sim.gpu.suites.weak_memory.programs import PROGRAMS, Program, Variant

#: Warp instructions without progress, and in all, after which a run of default size hangs.
_STALL_LIMIT, _INSTRUCTION_LIMIT = 100_000, 20_000_000
#: Blocks wait for each other: each has an SM of its own.
_MOST_BLOCKS = USUAL_GEOMETRY.sm_count
#: Trees of threads, and whole warps.
_THREADS = tuple(2**n for n in range(5, 11))


class ProgramLaunch(NamedTuple):
    """Launch of a program, of the smallest size at which every variant can fail.

    Parameters
    ----------
    tables : callable
        Keys of the launch file, from the beginning of the kernels' names, the blocks and the
        threads of a block.
    blocks, threads : int
        Default shape; threads are a power of two.
    """

    tables: Callable[[str, int, int], LaunchTables]
    blocks: int
    threads: int


LAUNCHES: Mapping[str, ProgramLaunch] = MappingProxyType({
    "dot_product": ProgramLaunch(paper_launches.dot_product, 3, 32),
    "octree": ProgramLaunch(paper_launches.octree, 3, 32),
    "reduction": ProgramLaunch(paper_launches.reduction, 3, 32),
    "scan": ProgramLaunch(paper_launches.scan, 3, 64),
    "kmeans": ProgramLaunch(paper_launches.kmeans, 2, 64),
    "stream_clustering": ProgramLaunch(paper_launches.stream_clustering, 2, 32),
    "hotspot": ProgramLaunch(paper_launches.hotspot, 4, 64),
    "ticket_lock": ProgramLaunch(synchronisation_launches.ticket_lock, 3, 32),
    "mcs_lock": ProgramLaunch(synchronisation_launches.mcs_lock, 3, 32),
    "lamport_queue": ProgramLaunch(synchronisation_launches.lamport_queue, 2, 32),
    "publication": ProgramLaunch(synchronisation_launches.publication, 3, 32),
    "double_checked": ProgramLaunch(synchronisation_launches.double_checked, 3, 32),
    "dekker": ProgramLaunch(synchronisation_launches.dekker, 2, 32),
    "seqlock": ProgramLaunch(synchronisation_launches.seqlock, 3, 32),
    "histogram": ProgramLaunch(synchronisation_launches.histogram, 4, 32),
    "shared_queue": ProgramLaunch(synchronisation_launches.shared_queue, 2, 64),
})  # fmt: skip


def _tables(program: Program, variant: Variant, blocks: int | None, threads: int | None) -> Any:
    launch = LAUNCHES[program.name]
    blocks = launch.blocks if blocks is None else blocks
    threads = launch.threads if threads is None else threads
    if not 2 <= blocks <= _MOST_BLOCKS:
        raise ValueError(f"Blocks must be from 2 to {_MOST_BLOCKS}, not {blocks}")
    if threads not in _THREADS:
        raise ValueError(f"Threads must be a power of two from 32 to 1024, not {threads}")
    return {
        # The paper's GPUs are older than Volta.
        "independent_threads": False,
        "stall_limit": _STALL_LIMIT,
        "instruction_limit": _INSTRUCTION_LIMIT,
        **launch.tables(program.kernel(variant), blocks, threads),
    }


def launch_of(
    program: Program, variant: Variant, blocks: int | None = None, threads: int | None = None
) -> LaunchSpec:
    """Launch of a variant, with the result that it must give.

    Parameters
    ----------
    program, variant : Program, Variant
        What to launch.
    blocks, threads : int, optional
        Shape, if not the default one.

    Raises
    ------
    ValueError
        If the blocks cannot all run at once, or the threads are no power of two of whole warps.
    """
    return LaunchSpec.model_validate(_tables(program, variant, blocks, threads))


def _toml(value: Any) -> str:
    """A value as TOML in one line."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key} = {_toml(item)}' for key, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value)


def launch_text(
    program: Program, variant: Variant, blocks: int | None = None, threads: int | None = None
) -> str:
    """The same as the text of a launch file."""
    lines = [f"# {program.title}; {variant.name}: {variant.reason}"]
    for key, value in _tables(program, variant, blocks, threads).items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            lines += [f"{key} = [", *(f"    {_toml(item)}," for item in value), "]"]
        else:
            lines.append(f"{key} = {_toml(value)}")
    return "\n".join(lines) + "\n"


def write_launches(
    folder: Path, blocks: int | None = None, threads: int | None = None
) -> list[Path]:
    """Write the launch file of every variant, named like its kernel."""
    texts = {
        folder / f"{program.kernel(variant)}.toml": launch_text(program, variant, blocks, threads)
        for program in PROGRAMS.values()
        for variant in program.variants
    }
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return list(texts)


def main() -> None:
    """Write the launch files to a folder."""
    parser = argparse.ArgumentParser(description="Write the launch file of every variant.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--blocks", type=int, help="blocks of a launch")
    parser.add_argument("--threads", type=int, help="threads of a block, a power of two")
    options = parser.parse_args()
    try:
        written = write_launches(options.folder, options.blocks, options.threads)
    except ValueError as error:
        parser.error(str(error))
    print("\n".join(map(str, written)))


if __name__ == "__main__":
    main()
