"""Generated Verilog read by three linters: every preset, and random configurations.

`python -m tests.lint [COUNT [SEED]]` prints a row for each configuration with its Verilog files,
their lines, and the files in which a linter finds something; what it finds comes at the end.  Its
exit status is 1 if there is any.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from racetrap.generators.artefacts import generate
from racetrap.generators.presets import PRESETS, find_preset, with_settings
from racetrap.generators.systems import SYSTEMS
from tests.support.rtl.linters import (
    FEWER_BANKS,
    LINTERS,
    settings_for_linters,
    tops_of,
)


def random_configurations(count: int, seed: int) -> Iterator[str]:
    """Names of random configurations, of each detector in turn."""
    random = Random(seed)
    for number in range(count):
        yield f"{SYSTEMS[number % len(SYSTEMS)].random_prefix}-{random.randrange(10**6)}"


def lint(presets: Iterable[str]) -> bool:
    """Print a table of presets; whether no linter finds anything."""
    every: list[str] = []
    print(f"| configuration | files | lines | {' | '.join(LINTERS)} |")
    print("|---|---|---|" + "---|" * len(LINTERS))
    for preset in presets:
        params = with_settings(find_preset(preset).params, settings_for_linters(preset))
        with TemporaryDirectory() as name:
            files = generate(preset, params, Path(name), name=preset)
            tops = tops_of(files)
            lines = sum(top.read_text(encoding="utf-8").count("\n") for top in tops)
            said = {
                linter: [text for top in tops if (text := find(top, files["verilator"]))]
                for linter, find in LINTERS.items()
            }
        numbers = " | ".join(str(len(texts)) for texts in said.values())
        print(f"| {preset} | {len(tops)} | {lines:,} | {numbers} |", flush=True)
        every += [text for texts in said.values() for text in texts]
    print(*every, sep="\n", end="")
    return not every


def main() -> None:
    """Lint all presets and as many random configurations as are asked for."""
    count, seed, *_ = *map(int, sys.argv[1:]), *(50, 1)[len(sys.argv) - 1 :]
    print(f"{count} random configurations of seed {seed}")
    names = [*PRESETS, *FEWER_BANKS, *random_configurations(count, seed)]
    sys.exit(not lint(names))


if __name__ == "__main__":
    main()
