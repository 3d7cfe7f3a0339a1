"""Detection quality of causality: the golden model against the exact judge.

In every workload a race is a pair of instructions that the judge finds in the run, missed if
causality reports it at none of its instances; a false report is a (program counter, kind) pair at
an instruction without any race.

Ref: ScoRD (ISCA'20) Section VI.
"""

from __future__ import annotations

from collections.abc import Iterator

from racetrap.evaluation.scord.sweep import WORKLOADS, traces_of
from racetrap.evaluation.sweep.gpu_quality import gpu_quality
from racetrap.evaluation.sweep.quality import Quality, Swept, counted
from racetrap.evaluation.sweep.spec import QualitySpec
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.events import DataRegion, Geometry, TraceHeader
from racetrap.golden_model.trace.gpu.trace import Trace
from racetrap.sim.cosim.scord.suite import suite_runs
from racetrap.sim.failure import DoesNotFit
from racetrap.sim.gpu.oracle import JUDGE
from racetrap.sim.gpu.suites.micro.program import program_region


def causality_quality(params: CausalityParams, spec: QualitySpec) -> Quality:
    """Detection quality of the golden model on the workloads.

    Parameters
    ----------
    params : CausalityParams
        Configuration.
    spec : QualitySpec
        Workloads and schedules.

    Raises
    ------
    DoesNotFit
        If a workload does not fit the configuration.
    """
    total = Quality()
    for workload in spec.workloads:
        is_micro = workload == "micro-benchmarks"
        traces = _micro_benchmarks(params, spec) if is_micro else traces_of(workload, spec)
        for trace in traces:
            total += gpu_quality(trace, params, JUDGE)
    return total


def _micro_benchmarks(params: CausalityParams, spec: QualitySpec) -> Iterator[Trace]:
    region = program_region()
    header = TraceHeader(
        geometry=Geometry(params.sm_count, params.blocks_per_sm, params.warps_per_sm),
        region=DataRegion(region.data_base, region.size_log2),
    )
    try:
        runs = list(suite_runs(params, spec.schedules, spec.seed))
    except ValueError as error:
        raise DoesNotFit(str(error)) from None
    for run in runs:
        yield Trace.from_events(header, run.events())


SWEPT = Swept(
    workloads=WORKLOADS,
    sizes=("tiny", "small"),
    figures=counted(causality_quality),
    aliases={
        "lanes": "sm_count",  # streams of transactions, each with a tracker of its own
        "knowledge": "known",
        "hash": "hash_bits",
    },
)
