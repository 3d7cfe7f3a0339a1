"""Table of the proofs that are kept as data: ``python -m tests.proofs`` proves and times each."""

from __future__ import annotations

import time
from collections.abc import Mapping
from importlib import import_module

from tests.support import REPOSITORY
from tests.support.formal.proof import Proof

__all__ = ["all_proofs", "row_of"]


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
        f"| `{file}` | {proof.rule} | {proof.sizes} | {proof.depth} | {len(proof.events)} | "
        f"{len(proof.bugs)} |"
    )


def main() -> None:
    for file, proof in all_proofs().items():
        start = time.monotonic()
        assert proof.holds(), file
        print(f"{row_of(file, proof)} {time.monotonic() - start:.1f} s |", flush=True)


if __name__ == "__main__":
    main()
