"""Comparison with a GPU: what it shows, and what its tools find, beside our executor and verdicts.

``python -m tests.gpu_comparison pack FOLDER`` writes a folder that a machine with a GPU runs by
``python3 FOLDER/runner.py OUT``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.support.gpu.comparison.packing import pack


def main() -> None:
    """Pack."""
    parser = argparse.ArgumentParser(description="Compare with a GPU.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    packing = verbs.add_parser("pack", help="write a folder to run on a machine with a GPU")
    packing.add_argument("folder", type=Path, help="new folder")
    options = parser.parse_args()
    manifest = pack(options.folder)
    print(", ".join(f"{len(each)} {part}" for part, each in manifest.items()))


if __name__ == "__main__":
    main()
