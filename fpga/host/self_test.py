"""Self-test of a board: its registers, then a random run compared with the golden model."""

from __future__ import annotations

from collections.abc import Iterator

from racetrap.fpga.host.session import Session
from racetrap.generators.description import describe_registers
from racetrap.generators.system import Params
from racetrap.sim.cosim.comparison.mismatch import Mismatch

#: Kinds of fields set only by reset and software.
_SET_BY_SOFTWARE = ("constant", "stored")


def check_registers(session: Session, params: Params) -> int:
    """Compare the registers of a board with their reset values; return the number compared.

    Fields driven by the hardware are skipped: counters, status, and parameters, whose hash is in
    the handshake.

    Raises
    ------
    LinkError
        If the device fails.
    Mismatch
        If registers differ; all of them are named.
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
    """Set the registers to their reset values, for the next test."""
    for name, _, value in _at_reset(session, params, "rw"):
        session.write(name, value)


def _at_reset(
    session: Session, params: Params, access: str = "r"
) -> Iterator[tuple[str, int, int]]:
    """Registers of the device, with the bits that a reset sets and their values."""
    for name, register in describe_registers(params).items():
        fields = [
            field for field in register["fields"].values()
            if field["kind"] in _SET_BY_SOFTWARE and field["access"].startswith(access)
        ]  # fmt: skip
        if fields and session.has(name):
            mask = sum((1 << field["width"]) - 1 << field["offset"] for field in fields)
            yield name, mask, sum(field["reset"] << field["offset"] for field in fields)
