"""Graphs by stream capture and memory pools: results, order between launches, and refusals."""

import pytest

from racetrap.golden_model.barracuda import RaceClass
from racetrap.sim.gpu.oracle import run_oracle
from tests.support.gpu.cuda_programs import needs_compiler, run_text

pytestmark = needs_compiler

_KERNELS = """#include <cstdio>
#include <initializer_list>
__global__ void add(int *data, int number) { data[threadIdx.x] += number; }
__global__ void sum(int *data, const int *one, const int *other) {
  data[threadIdx.x] += one[threadIdx.x] + other[threadIdx.x];
}
#define SAY(call) std::printf("%s\\n", cudaGetErrorName(call))
"""

#: Two branches that meet; launched in two streams, with RACY as two executables of the graph.
_FORKED = """
int main() {
  int *one, *other, *all, host[64];
  cudaMemPool_t pool;
  cudaMemPoolProps wanted = {};
  wanted.allocType = cudaMemAllocationTypePinned;
  wanted.location.type = cudaMemLocationTypeDevice;
  SAY(cudaMemPoolCreate(&pool, &wanted));
  unsigned long long threshold = 1 << 20, found = 0;
  cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold);
  cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &found);
  cudaStream_t first, second;
  cudaStreamCreate(&first);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  for (int **data : {&one, &other, &all}) {
    cudaMallocFromPoolAsync((void **)data, sizeof host, pool, first);
    cudaMemsetAsync(*data, 0, sizeof host, first);
  }
  cudaEvent_t fork, join;
  cudaEventCreate(&fork);
  cudaEventCreate(&join);
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
  cudaEventRecord(fork, first);
  cudaStreamWaitEvent(second, fork, 0);
  add<<<1, 64, 0, first>>>(one, 1);
  add<<<1, 64, 0, second>>>(other, 2);
  SAY(cudaStreamSynchronize(first));
  cudaEventRecord(join, second);
  cudaStreamWaitEvent(first, join, 0);
  sum<<<1, 64, 0, first>>>(all, one, other);
  cudaMemcpyAsync(host, all, sizeof host, cudaMemcpyDeviceToHost, first);
  SAY(cudaStreamEndCapture(first, &graph));
  SAY(cudaGraphInstantiate(&executable, graph, 0));
  cudaGraphLaunch(executable, first);
#ifdef RACY
  cudaGraphInstantiate(&executable, graph, 0);
#endif
  cudaGraphLaunch(executable, second);
  cudaDeviceSynchronize();
  std::printf("%d %d\\n", host[63], int(found == threshold));
  cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
  cudaEventRecord(fork, first);
  cudaStreamWaitEvent(second, fork, 0);
  add<<<1, 64, 0, second>>>(other, 2);
  SAY(cudaStreamEndCapture(first, &graph));
  for (int *data : {one, other, all}) cudaFreeAsync(data, first);
  cudaGraphExecDestroy(executable);
  cudaMemPoolDestroy(pool);
}
"""


def _between_launches(text):
    run, output = run_text(text)
    races = [
        race for race in run_oracle(run.trace, "causality", True)
        if race.race_class == RaceClass.INTER_LAUNCH
    ]  # fmt: skip
    return output.split(), run, races


def test_a_graph_with_two_branches_in_memory_of_a_pool():
    """The branches may overlap, the sum follows both, and a launch of an executable follows the one
    before, whatever their streams."""
    printed, run, races = _between_launches(_KERNELS + _FORKED)
    assert printed == [
        "cudaSuccess", "cudaErrorStreamCaptureUnsupported", "cudaSuccess", "cudaSuccess",
        "9", "1", "cudaErrorStreamCaptureUnjoined",
    ]  # fmt: skip
    assert (run.status, run.problems, len(run.launches)) == (0, (), 6)
    assert races == []


@pytest.mark.campaign
def test_two_executables_of_a_graph_in_two_streams_race():
    _, _, races = _between_launches("#define RACY\n" + _KERNELS + _FORKED)
    assert races


@pytest.mark.campaign
def test_a_join_that_is_missing_races():
    text = (_KERNELS + _FORKED).replace("  cudaStreamWaitEvent(first, join, 0);\n", "")
    joined = text.replace(
        "  cudaMemcpyAsync(", "  cudaStreamWaitEvent(first, join, 0);\n  cudaMemcpyAsync("
    )
    _, run, races = _between_launches(joined)
    assert run.problems == ()
    assert races


@pytest.mark.campaign
def test_what_cannot_run_is_named_with_its_kernel_and_line():
    run, _ = run_text(
        _KERNELS
        + """
int main() {
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.gridDim = config.blockDim = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, add, (int *)nullptr, 1);
}"""
    )
    (problem,) = run.problems
    assert problem.startswith("programmatic dependent launch of kernel _Z3addPii is not supported")
