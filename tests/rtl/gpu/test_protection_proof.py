"""Proof: no write leaves the bounds of metadata and ring, whatever software does."""

from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.proof import Proof, proof_tests
from tests.support.scord.bounds_proof import BoundsHarness

_REGISTERS, _PROTECTION = "common/registers.py", "gpu/protection.py"
_LAUNCH = "gpu/launch_control.py"
_PARAMS = ScordParams(
    sm_count=1, blocks_per_sm=1, warps_per_sm=1, ratio=1, address_bits=16, pc_bits=8,
    protection=True,
)  # fmt: skip
PROOF = Proof(
    rule="Whatever software writes, each write of metadata and of a report keeps to the bounds "
    "that the registers give, which do not change once a launch has been accepted. While "
    "PROTECTION requires it, no write without privilege and security changes a register, or "
    "launches.",
    sizes="16 address bits, any accesses and reports, any segment of the region during a launch",
    harness=lambda case: BoundsHarness(_PARAMS, case),
    depth=3,
    events=(
        "segment-written", "second-report", "narrow", "outside", "refused-write", "second-launch",
    ),
    bugs={
        "metadata-not-checked": Patch(
            _LAUNCH,
            "rules.append(is_inside(self.i_bounds.metadata, metadata, self._metadata_end()))",
            "pass",
        ),
        "ring-end-not-checked": Patch(
            _LAUNCH, "self.i_bases.report, self._ring_end())]",
            "self.i_bases.report, self.i_bases.report)]",
        ),
        "a-byte-too-many": Patch(_PROTECTION, "bounds.limit + 1", "bounds.limit + 2"),
        "bounds-stay-open": Patch(_PROTECTION, "registers.bounds.lock.eq(locks)", "[]"),
        "bounds-close-late": Patch(
            _REGISTERS, 'held | self._port(field) if field.get_property("hwset") else held', "held"
        ),
        "halves-exchanged": Patch(_PROTECTION, "Cat(low, high)", "Cat(high, low)"),
        "takes-what-is-not-checked": Patch(
            _LAUNCH, "self.i_idle & ~self.i_written", "self.i_idle"
        ),
        "non-secure-is-admitted": Patch(
            _REGISTERS, "(prot[0] | ~needs_privilege) & (~prot[1] | ~needs_security)",
            "prot[0] | ~needs_privilege",
        ),
    },
    cycles=16,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
