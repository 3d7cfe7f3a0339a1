"""Table of the proofs that are kept as data: ``python -m tests.proofs`` proves and times each."""

from __future__ import annotations

import resource
import sys
from collections.abc import Mapping
from importlib import import_module

from tests.support import REPOSITORY
from tests.support.formal.proof import Proof


def all_proofs() -> Mapping[str, Proof]:
    """Proofs by the file that has each, relative to the folder of the tests."""
    folder = REPOSITORY / "tests"
    files = sorted(path.relative_to(folder) for path in folder.glob("rtl/**/test_*_proof.py"))
    modules = {
        str(file): import_module(".".join(("tests", *file.with_suffix("").parts))) for file in files
    }
    return {file: module.PROOF for file, module in modules.items() if hasattr(module, "PROOF")}


def row_of(file: str, proof: Proof) -> str:
    """A proof's row of the table on the page of proofs, up to its time."""
    return (
        f"| `tests/{file}` | {proof.rule} | {proof.sizes} | {proof.depth} | {len(proof.events)} | "
        f"{len(proof.bugs)} |"
    )


def main() -> None:
    """Prove all, or those whose file has one of the words that are given."""
    words = sys.argv[1:] or [""]
    for file, proof in all_proofs().items():
        if not any(word in file for word in words):
            continue
        before = _solver_seconds()
        assert proof.holds(), file
        print(f"{row_of(file, proof)} {_solver_seconds() - before:.1f} s |", flush=True)


def _solver_seconds() -> float:
    """CPU time of all solvers so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
