"""A second simulator: what Verilator's models did at their pins, on Icarus Verilog.

`python -m tests.second_simulator [TRANSACTIONS [PRESET ...]]` records random tests of each
detector's small preset, replays them twice, and prints a row of each: with the values that
registers and memories have before reset, and without any.  Its exit status is 1 if a bit differs
that Icarus knows, or if it does not know an output after reset.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from racetrap.generators.presets import find_preset
from racetrap.generators.systems import system_of
from tests.support.rtl.pins import Replayed, recorded_model, replay

PRESETS = ("noncoherent-tiny", "scord-tiny", "hirace-tiny", "sigrace-tiny", "causality-tiny")


def record(preset: str, transactions: int, seed: int, folder: Path) -> tuple[object, int]:
    """Record random tests of at least so many transactions in ``folder``; the model, and how many.

    Raises
    ------
    Mismatch
        If hardware and golden model differ.
    """
    params = find_preset(preset).params
    model = recorded_model(preset, params)
    kind = system_of(params).own("evaluation", "campaign").RANDOM_VOLUME
    here, volume = Path.cwd(), 0
    os.chdir(folder)
    try:
        for compared in kind.play(model, 0, Random(seed), None):
            volume += getattr(compared, kind.figures[0])
            if volume >= transactions:
                break
    finally:
        os.chdir(here)
    return model, volume


def replays(preset: str, transactions: int, seed: int = 1) -> tuple[int, list[Replayed]]:
    """Transactions recorded, and the replays with and without values before reset."""
    with TemporaryDirectory() as name:
        model, volume = record(preset, transactions, seed, Path(name))
        return volume, [replay(preset, model, Path(name), bare=bare) for bare in (False, True)]


def main() -> None:
    """Record and replay."""
    if shutil.which("iverilog") is None:
        sys.exit("Command iverilog was not found: install it (Debian: apt install iverilog)")
    transactions = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    print("| preset | transactions | cycles | differences, unknown | without values before reset |")
    print("|---|---|---|---|---|")
    every = []
    for preset in sys.argv[2:] or PRESETS:
        volume, (usual, bare) = replays(preset, transactions)
        cells = [f"{each.differences}, {len(each.unknown)}" for each in (usual, bare)]
        print(f"| {preset} | {volume:,} | {usual.cycles:,} | {' | '.join(cells)} |", flush=True)
        every += [text for each in (usual, bare) for text in (each.first, *each.unknown) if text]
    print(*every, sep="\n", end="")
    sys.exit(bool(every))


if __name__ == "__main__":
    main()
