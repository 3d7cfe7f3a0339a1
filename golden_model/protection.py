"""Protection of a detector's registers: which accesses its page admits.

Ref: AMBA AXI and ACE Protocol Specification (IHI 0022), section A4.7 (AxPROT).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag


class Prot(IntFlag):
    """Bits of AxPROT."""

    PRIVILEGED = 1
    NON_SECURE = 2
    INSTRUCTION = 4


@dataclass(frozen=True)
class PageProtection:
    """What the register PROTECTION requires of an access to the registers.

    Parameters
    ----------
    privileged_reads, secure_reads : bool
        A read must be privileged; secure.
    privileged_writes, secure_writes : bool
        Likewise a write.
    """

    privileged_reads: bool = False
    secure_reads: bool = False
    privileged_writes: bool = False
    secure_writes: bool = False

    def admits(self, prot: Prot, *, is_write: bool) -> bool:
        """Whether an access with such an AxPROT is done; otherwise the answer is SLVERR."""
        needs_privilege, needs_security = (
            (self.privileged_writes, self.secure_writes)
            if is_write
            else (self.privileged_reads, self.secure_reads)
        )
        if needs_privilege and not prot & Prot.PRIVILEGED:
            return False
        return not (needs_security and prot & Prot.NON_SECURE)
