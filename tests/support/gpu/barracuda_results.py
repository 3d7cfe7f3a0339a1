"""Results of BARRACUDA's evaluation that are known: of a benchmark and of three small kernels."""

from racetrap.evaluation.barracuda.measure import WAYS, Cost, Measured
from racetrap.evaluation.barracuda.small_kernels import KernelVerdict

_RACES = {
    "barracuda, global": 3, "barracuda, shared": 0, "scoped, global": 2, "scoped, shared": 1,
    "causality, global": 4, "causality, shared": 0,
}  # fmt: skip
MEASURED = Measured(
    "Hashtable", 40, 10, 8, 64, 200, _RACES,
    {way: Cost(seconds, 70) for way, seconds in zip(WAYS, (0.5, 1.0, 0.75), strict=True)}, (),
)  # fmt: skip
_RULES = frozenset({"barracuda", "scoped", "causality"})
KERNELS = [
    KernelVerdict("branch_write_read", True, ("both sides",), _RULES),
    KernelVerdict("atomics_blocks_block", True, ("both ready",), _RULES - {"barracuda"}),
    KernelVerdict("weak_data", False, (), frozenset({"scoped"})),
]
