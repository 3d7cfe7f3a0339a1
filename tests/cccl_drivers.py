"""Drivers over CCCL's headers: CUB's and Thrust's algorithms, compiled, run and checked.

``python -m tests.cccl_drivers [NAME...]`` compares each driver's results with
NumPy's and lists its races.  Each runs in a process of its own, whose peak memory counts.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path

from racetrap.sim.gpu.cuda.toolkit import CompilerOptions
from tests.support import REPOSITORY
from tests.support.gpu.cccl.results import OWN_RACES, RACY, REFUSED, RESULTS, header_of, is_right
from tests.support.gpu.measured_check import measure_check

FOLDER = REPOSITORY / "sim" / "gpu" / "suites" / "cccl"
#: Where the table is kept.
KEPT = REPOSITORY / "tests" / "support" / "gpu" / "cccl" / "table.json"
_WORKERS = 2


@dataclass(frozen=True)
class DriverRow:
    """What came of a form of a driver.

    Parameters
    ----------
    name : str
        Driver.
    is_racy : bool
        Whether it is the form that lacks a barrier.
    problem : str
        Why it was not compiled or run to its end; empty if it was.
    result : bool
        Whether its results are NumPy's.
    races : list of str
        The two lines of each race.
    events : int
        Events of its trace.
    seconds : float
        CPU time from source to verdict.
    mebibytes : int
        Peak memory of the check.
    """

    name: str
    is_racy: bool
    problem: str
    result: bool
    races: list[str]
    events: int
    seconds: float
    mebibytes: int

    @property
    def is_as_expected(self) -> bool:
        """Whether it ran, is right, and races if it lacks a barrier or is known to race; or it was
        refused by name."""
        if refused := REFUSED.get(self.name):
            return self.problem.startswith(refused)
        is_racy = self.is_racy or self.name in OWN_RACES
        return not self.problem and (self.result or self.is_racy) and bool(self.races) == is_racy


def source_of(name: str) -> Path:
    """Source of a driver."""
    stem = name.partition("_")[0]
    return FOLDER / f"{'block' if stem == 'warp' else stem}.cu"


def macros(name: str) -> list[str]:
    """Macros with which the source of a driver is compiled."""
    return [f"DRIVER_{name}", f"HEADER=<{header_of(name)}>"]


def check_driver(name: str, is_racy: bool) -> DriverRow:
    """Compile a form of a driver, run it and check it."""
    words = [*macros(name), *["RACY"] * is_racy]
    options = CompilerOptions(tuple(f"-D{macro}" for macro in words))
    with tempfile.TemporaryDirectory(prefix="racetrap-") as folder:
        found = measure_check([source_of(name)], options, Path(folder))
    return DriverRow(
        name, is_racy, found.problem, is_right(name, found.printed), found.races, found.events,
        found.seconds, found.mebibytes,
    )  # fmt: skip


def _show(row: DriverRow) -> None:
    print(
        f"{'as expected' if row.is_as_expected else 'NOT AS EXPECTED'}  {row.name}"
        f"{', without a barrier' * row.is_racy}: {row.problem or 'ran'}, result "
        f"{'right' if row.result else 'wrong'}, {len(row.races)} pairs of lines race"
        f"{''.join(f' ({each})' for each in row.races[:3])}, {row.events} events, "
        f"{row.seconds} s of CPU, {row.mebibytes} MiB",
        flush=True,
    )  # fmt: skip


def kept_rows() -> list[DriverRow]:
    """The kept table."""
    rows = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else []
    return [DriverRow(**row) for row in rows]


def _keep(new: DriverRow) -> None:
    """Put a row into the kept table, in the order of the drivers."""
    rows = {(row.name, row.is_racy): row for row in [*kept_rows(), new]}
    ordered = [
        rows[form] for name in RESULTS for form in [(name, False), (name, True)] if form in rows
    ]
    text = ",\n".join(json.dumps(asdict(row)) for row in ordered)
    KEPT.write_text(f"[\n{text}\n]\n", "utf-8")


def main() -> None:
    """Print and keep the rows of drivers, by default of all; fail if one is not as expected."""
    names = sys.argv[1:] or list(RESULTS)
    forms = [(name, racy) for name in names for racy in (False, True) if not racy or name in RACY]
    wrong, context = 0, multiprocessing.get_context("spawn")
    begin = time.perf_counter()
    with ProcessPoolExecutor(_WORKERS, mp_context=context, max_tasks_per_child=1) as pool:
        for each in as_completed([pool.submit(check_driver, *form) for form in forms]):
            row = each.result()
            wrong += not row.is_as_expected
            _show(row)
            _keep(row)
    print(f"{len(forms)} forms in {time.perf_counter() - begin:.0f} s, {wrong} not as expected")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
