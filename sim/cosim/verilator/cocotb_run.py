"""Runner of cocotb tests on a built simulator: one process, a plan in, results and notes out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cocotb_tools.config
import find_libpython

from racetrap.sim.cosim.verilator.cocotb_build import BuiltModel
from racetrap.sim.cosim.verilator.plan import NOTES, PLAN
from racetrap.sim.cosim.verilator.testbench_top import TESTBENCH_MODULE
from racetrap.sim.failure import Failure
from racetrap.sim.tools import tool_environment

#: Name of the file of waves in the folder of a run, without its form.
WAVES = "waves"

_POLL_SECONDS = 0.05
_LOG_TAIL = 3000


class SimulationError(Failure):
    """The simulator crashed, hung or ran no test; the text ends with the end of its log."""


@dataclass(frozen=True)
class CaseResult:
    """One cocotb test: its name, seconds of real time, and the failure if there was one."""

    name: str
    seconds: float
    failure: str | None


@dataclass(frozen=True)
class RunResult:
    """Output of a run: results of its tests, the testbench's notes and the folder with the log."""

    cases: list[CaseResult]
    notes: list[dict[str, Any]]
    folder: Path

    @property
    def failures(self) -> list[CaseResult]:
        return [case for case in self.cases if case.failure is not None]


def run(
    model: BuiltModel,
    module: str,
    folder: Path,
    plan: dict[str, Any],
    *,
    seed: int,
    case: str | None = None,
    stall_seconds: float = 120,
    watch: Callable[[dict[str, Any]], None] | None = None,
) -> RunResult:
    """Run the cocotb tests of a module, and wait for their end.

    Parameters
    ----------
    model : BuiltModel
        Simulator.
    module : str
        Importable module with the cocotb tests.
    folder : Path
        Folder for the plan, the log, results and waves, used by no other run; created if missing.
    plan : dict
        JSON data for the tests.
    seed : int
        Seed of all randomness in the tests.
    case : str or None
        Name of the one test to run; all of the module's by default.
    stall_seconds : float
        The simulator is stopped after this time without output to log or notes.
    watch : callable or None
        Called with each of the testbench's notes at once.

    Raises
    ------
    SimulationError
        If the simulator crashed, stalled, or ran no test at all.
    """
    folder.mkdir(parents=True, exist_ok=True)
    folder = folder.resolve()
    results = folder / "results.xml"
    notes = folder / NOTES
    results.unlink(missing_ok=True)
    notes.write_text("", encoding="utf-8")
    plan_file = folder / "plan.json"
    plan_file.write_text(json.dumps(plan | {"seed": seed} | model.facts), encoding="utf-8")
    environment = _environment(module, case, seed, results) | {PLAN: str(plan_file)}
    command = [str(model.executable)]
    if model.waves is not None:
        command += ["--trace", "--trace-file", f"{WAVES}.{model.waves.form}"]
    log = folder / "simulation.log"
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            documents = _follow(process, log, notes, stall_seconds, watch)
        finally:
            process.kill()
            process.wait()
    cases = _cases(results)
    if not cases:
        raise SimulationError(
            f"Simulator {model.executable.name} must run at least one test of {module} "
            f"(status {process.returncode}):\n{log.read_text(errors='replace')[-_LOG_TAIL:]}"
        )
    return RunResult(cases, documents, folder)


def _environment(module: str, case: str | None, seed: int, results: Path) -> dict[str, str]:
    """The environment variables that configure cocotb."""
    environment = tool_environment()
    environment |= {
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "PYGPI_PYTHON_BIN": sys.executable,
        "GPI_USERS": f"{find_libpython.find_libpython()};{cocotb_tools.config.pygpi_entry_point()}",
        "COCOTB_TOPLEVEL": TESTBENCH_MODULE,
        "COCOTB_TEST_MODULES": module,
        "COCOTB_RANDOM_SEED": str(seed),
        "COCOTB_RESULTS_FILE": str(results),
        # Verilator applies writes after the evaluation of the edge, as cocotb expects.
        "COCOTB_TRUST_INERTIAL_WRITES": "1",
        "COCOTB_LOG_LEVEL": os.environ.get("COCOTB_LOG_LEVEL", "WARNING"),
        "TOPLEVEL_LANG": "verilog",
    }
    if case is not None:
        environment["COCOTB_TEST_FILTER"] = rf"\.{case}$"
    return environment


def _follow(
    process: subprocess.Popen[bytes],
    log: Path,
    notes: Path,
    stall_seconds: float,
    watch: Callable[[dict[str, Any]], None] | None,
) -> list[dict[str, Any]]:
    """Collect notes until the process ends."""
    documents = []
    seen, last = 0, time.monotonic()
    with notes.open(encoding="utf-8") as stream:
        rest = ""
        while True:
            ended = process.poll() is not None
            rest += stream.read()
            *lines, rest = rest.split("\n")
            for line in lines:
                documents.append(json.loads(line))
                if watch is not None:
                    watch(documents[-1])
            if ended:
                return documents
            size = log.stat().st_size + stream.tell()
            now = time.monotonic()
            if size != seen:
                seen, last = size, now
            elif now - last > stall_seconds:
                raise SimulationError(f"Simulation made no progress for {stall_seconds:g} s: {log}")
            time.sleep(_POLL_SECONDS)


def _cases(results: Path) -> list[CaseResult]:
    """Read the results file, which is missing or broken if the simulator crashed."""
    try:
        root = ElementTree.parse(results).getroot()
    except (OSError, ElementTree.ParseError):
        return []
    cases = []
    for element in root.iter("testcase"):
        if element.find("skipped") is not None:
            continue
        problems = [*element.iter("failure"), *element.iter("error")]
        failure = None
        if problems:
            texts = (problem.get("error_msg") or problem.get("message") or problem.text
                     for problem in problems)  # fmt: skip
            failure = "; ".join(text or "failed" for text in texts)
        cases.append(CaseResult(element.get("name", "?"), float(element.get("time", 0)), failure))
    return cases
