"""A second simulator: what Verilator's models did at their pins, on Icarus Verilog.

`python -m tests.second_simulator [TRANSACTIONS [PRESET ...]]` records random tests of each
detector's small preset, replays them twice, and prints a row of each: with the values that
registers and memories have before reset, and without any.  Its exit status is 1 if a bit differs
that Icarus knows, or if it does not know an output after reset.
"""

from __future__ import annotations

import shutil
import sys
from contextlib import chdir
from itertools import count
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from racetrap.generators.presets import find_preset
from racetrap.generators.systems import system_of
from tests.support.rtl.pins import Replayed, recorded_model, replay

PRESETS = ("noncoherent-tiny", "scord-tiny", "hirace-tiny", "sigrace-tiny", "causality-tiny")


def replays(preset: str, transactions: int, seed: int = 1) -> tuple[int, list[Replayed]]:
    """Record cases of random tests of at least so many transactions in all, and replay each.

    Returns
    -------
    int, list of Replayed
        Transactions, and of all cases together the replay with and without values before reset.

    Raises
    ------
    Mismatch
        If hardware and golden model differ.
    """
    params = find_preset(preset).params
    model = recorded_model(preset, params)
    kind = system_of(params).own("evaluation", "campaign").RANDOM_VOLUME
    volume, results = 0, [Replayed(0, 0, "", ()), Replayed(0, 0, "", ())]
    for number in count():
        with TemporaryDirectory() as name, chdir(name):
            for compared in kind.play(model, number, Random(f"{seed} {number}"), None):
                volume += getattr(compared, kind.figures[0])
                if volume >= transactions:
                    break
            replayed = (replay(preset, model, Path(name), bare=bare) for bare in (False, True))
            results = [before + new for before, new in zip(results, replayed, strict=True)]
        if volume >= transactions:
            return volume, results
    raise AssertionError("cases have no end")


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
