"""Front ends as Verilated programs, for many instructions; see issue_volume.cpp."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from racetrap.generators.systems import system_of
from racetrap.golden_model.gpu.issue import Instruction
from racetrap.golden_model.layout import Layout
from racetrap.sim.content_cache import cache_folder
from racetrap.sim.cosim.fast.packing import words_of
from racetrap.sim.cosim.verilator.build_cache import (
    ONE_PIECE,
    build_key,
    build_once,
    generate_rtl,
    make_model,
    run_tool,
)
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.gpu.issue_check import IssueCheck
from tests.support.gpu.random_issue import RandomIssue, packed

_SOURCE = Path(__file__).with_suffix(".cpp")


class Volume(NamedTuple):
    """Instructions, transactions and clock cycles compared; what was drawn and seen, how often."""

    instructions: int
    transactions: int
    cycles: int
    bins: Counter[str]


def build(params: Any, patch: Patch | None = None) -> Path:
    """The program of a front end, built or found in the cache."""
    preset = f"{system_of(params).name}-tiny"
    key = build_key(str(params), str(patch), files=[_SOURCE, Path(__file__)])
    folder = cache_folder() / "fast" / f"{preset}-front-end-{key}"

    def make(unfinished: Path) -> None:
        generate_rtl(preset, params, unfinished, part="front-end", patch=patch)
        shutil.copy(_SOURCE, unfinished)
        text = (unfinished / f"{preset}.json").read_text(encoding="utf-8")
        module = json.loads(text)["parts"]["front-end"]["module"]
        words = words_of(params.transaction_layout)
        run_tool(
            ["verilator", "--cc", "--exe", "-O3", "--x-assign", "fast", "--x-initial", "unique",
             "-Wno-fatal", "--no-timing", "-CFLAGS",
             f"-DWORDS={words} -DPLACES={params.outstanding_cas}", "--top", module,
             "--prefix", "Vfront_end", "-Mdir", "obj", f"{preset}.vlt",
             f"{preset}-front-end.v", _SOURCE.name, "-o", "front_end"],
            unfinished,
        )  # fmt: skip
        options = [ONE_PIECE, "OPT_FAST=-O1", "OPT_SLOW=-O0", "OPT_GLOBAL=-O2"]
        make_model(unfinished / "obj", "Vfront_end", [*options, "CFG_CXXFLAGS_PCH_I=-include"])

    build_once(folder, make)
    return folder / "obj" / "front_end"


def compare(
    program: Path, params: Any, transactions: Any, folder: Path, *, seed: int, count: int,
    longest: int = 2000,
) -> Volume:  # fmt: skip
    """Play random instructions, and compare what leaves with the golden front end.

    Parameters
    ----------
    program : Path
        As of :func:`build`.
    params : GpuParams
        Its configuration.
    transactions : callable
        The detector's golden coalescer.
    folder : Path
        Empty folder for the program's files.
    seed : int
        Of all that is random.
    count, longest : int
        Instructions, and the most of them between two resets.
    """
    rng, issued, segments, bins = random.Random(seed), [], [], Counter[str]()
    while len(issued) < count:
        stream = RandomIssue(params, f"{seed} {len(issued)}")
        part = list(islice(stream, min(rng.randint(1, longest), count - len(issued))))
        bins += stream.bins
        issued += part
        segments.append((len(issued), int(rng.random() < 0.5)))
    segments[-1] = len(issued), 1
    _write(folder, params, issued, segments)
    done = subprocess.run(
        [program, str(seed)], cwd=folder, capture_output=True, text=True, check=False
    )
    assert not done.returncode, f"seed {seed}: {done.stdout}{done.stderr}"
    left = _records(folder / "left", params.transaction_layout)
    order, left_ends, order_ends = (
        np.fromfile(folder / name, np.uint32).tolist()
        for name in ("order", "left_ends", "order_ends")
    )
    first = first_left = first_order = compared = 0
    for (end, drains), end_left, end_order in zip(segments, left_ends, order_ends, strict=True):
        check = IssueCheck(params, transactions, issued[first:end])
        answered = [number - first for number in order[first_order:end_order]]
        compared += check.compare(left[first_left:end_left], answered, is_whole=bool(drains))
        first, first_left, first_order = end, end_left, end_order
    assert compared == len(left)
    for line in done.stdout.splitlines():
        name, value = line.split(": ")
        bins[name] += int(value)
    bins["reset amid traffic"] = sum(1 for _, drains in segments if not drains)
    return Volume(len(issued), compared, bins.pop("cycles"), bins)


def _write(
    folder: Path, params: Any, issued: list[Instruction], segments: list[tuple[int, int]]
) -> None:
    """The program's input."""
    layout, answer = params.instruction_layout, params.outcome_layout
    words = [packed(params, each) for each in issued]
    outcomes = [
        answer.pack({"warp": each.warp, "success": each.success if each.is_cas else 0})
        for each in issued
    ]
    for name, values, of in (("instructions", words, layout), ("outcomes", outcomes, answer)):
        size = 4 * max(words_of(of), 1)
        (folder / name).write_bytes(b"".join(each.to_bytes(size, "little") for each in values))
    (folder / "is_cas").write_bytes(bytes(each.is_cas for each in issued))
    np.array([end for end, _ in segments], np.uint32).tofile(folder / "ends")
    (folder / "drains").write_bytes(bytes(drains for _, drains in segments))


def _records(path: Path, layout: Layout) -> list[int]:
    size, data = 4 * words_of(layout), path.read_bytes()
    return [
        int.from_bytes(data[place : place + size], "little") for place in range(0, len(data), size)
    ]
