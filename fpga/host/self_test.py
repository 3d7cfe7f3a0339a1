"""Self-test of a board: its registers, then a random run that the golden model plays as well."""

from __future__ import annotations

from collections.abc import Iterator

from racetrap.fpga.host.session import Session
from racetrap.generators.description import describe_registers
from racetrap.generators.system import Params
from racetrap.sim.cosim.comparison.mismatch import Mismatch

#: Kinds of fields that nothing but reset and software sets.
_SET_BY_SOFTWARE = ("constant", "stored")


def check_registers(session: Session, params: Params) -> int:
    """Compare the registers of a board with their values after a reset; how many were compared.

    What the hardware drives is left out: counters, its status, and its parameters, of which the
    handshake has the hash.

    Raises
    ------
    LinkError
        If the device fails.
    Mismatch
        If a register differs; all that do are named.
    """
    compared, wrong = 0, []
    for name, mask, value in _at_reset(session, params):
        found = session.read(name) & mask
        compared += 1
        if found != value:
            wrong.append(f"{name} must be {value:#x}, not {found:#x}")
    if wrong:
        raise Mismatch(
            f"Registers after a reset: {'; '.join(wrong)}; "
            "reset the board and test it again if it was used before"
        )
    return compared


def reset_registers(session: Session, params: Params) -> None:
    """Give the registers the values that they have after a reset, for the next test."""
    for name, _, value in _at_reset(session, params, "rw"):
        session.write(name, value)


def _at_reset(
    session: Session, params: Params, access: str = "r"
) -> Iterator[tuple[str, int, int]]:
    """Registers that the device has, with the bits that a reset decides and their values then."""
    for name, register in describe_registers(params).items():
        fields = [
            field for field in register["fields"].values()
            if field["kind"] in _SET_BY_SOFTWARE and field["access"].startswith(access)
        ]  # fmt: skip
        if fields and session.has(name):
            mask = sum((1 << field["width"]) - 1 << field["offset"] for field in fields)
            yield name, mask, sum(field["reset"] << field["offset"] for field in fields)
