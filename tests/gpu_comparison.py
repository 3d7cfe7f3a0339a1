"""Comparison with a GPU: what it shows, and what its tools find, beside our executor and verdicts.

``python -m tests.gpu_comparison pack FOLDER`` writes a folder that a machine with a GPU runs by
``python3 FOLDER/runner.py OUT``.  ``python -m tests.gpu_comparison compare`` compares the results
that are kept; with files of the runner it runs our side again, in minutes, and ``--update`` keeps
both.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from docs.site.beside_a_gpu import PAGE_TABLES
from tests.support.gpu.comparison.comparing import (
    complaints_about,
    disagreements,
    explanations,
    litmus_rows,
)
from tests.support.gpu.comparison.ours import kernel_results, program_results
from tests.support.gpu.comparison.packing import litmus_kernels, pack
from tests.support.gpu.comparison.results import keep, kept, measured, merged


def results_of(files: Sequence[Path]) -> dict[str, Any]:
    """Results of the runner's files, and ours on the same; what they lack is what is kept."""
    results = kept()
    if not files:
        return results
    kernels, _ = litmus_kernels()
    columns = {name: [what for what, _ in kernel.columns] for name, kernel in kernels.items()}
    gpu = measured(merged(files), columns)
    results["gpu"] |= {part: found for part, found in gpu.items() if found}
    if gpu["programs"]:
        results["ours"]["programs"] = dict(sorted(program_results()))
    if gpu["kernels"]:
        results["ours"]["kernels"] = dict(sorted(kernel_results(gpu["kernels"])))
    return results


def compare(files: Sequence[Path], as_json: bool, keeps: bool) -> int:
    """Compare, and print tables; 1 if a disagreement is not explained."""
    results = results_of(files)
    if keeps:
        keep(results)
    rows = litmus_rows(results["gpu"]["litmus"])
    found = disagreements(results, rows)
    wrong = complaints_about(found)
    if as_json:
        reasons = explanations()
        print(json.dumps([
            each._asdict() | {"because": reasons.get((each.about, each.name))} for each in found
        ], indent=1))  # fmt: skip
    else:
        print("\n".join(make(results, rows) for make in PAGE_TABLES.values()))
        print("\n".join([*wrong, f"{len(found)} disagreements, {len(wrong)} not explained"]))
    return bool(wrong)


def main(words: Sequence[str] | None = None) -> int:
    """Pack or compare."""
    parser = argparse.ArgumentParser(description="Compare with a GPU.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    packing = verbs.add_parser("pack", help="write a folder to run on a machine with a GPU")
    packing.add_argument("folder", type=Path, help="new folder")
    comparing = verbs.add_parser("compare", help="compare results with ours")
    comparing.add_argument("results", type=Path, nargs="*", help="results.json.gz of the runner")
    comparing.add_argument("--json", action="store_true", help="print the disagreements as JSON")
    comparing.add_argument("--update", action="store_true", help="keep the results in the tree")
    options = parser.parse_args(words)
    if options.verb == "compare":
        return compare(options.results, options.json, options.update)
    manifest = pack(options.folder)
    print(", ".join(f"{len(each)} {part}" for part, each in manifest.items()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
