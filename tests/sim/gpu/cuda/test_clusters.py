"""Launches in clusters from programs: by an attribute and by the kernel, limits, and errors."""

import pytest

from racetrap.sim.gpu.oracle import run_oracle
from tests.support.gpu.cuda_programs import needs_compiler, run_text

pytestmark = [needs_compiler, pytest.mark.campaign]

#: The histogram of the programming guide; its last waits are left out with RACY.
_PROGRAM = """#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
namespace cg = cooperative_groups;
__global__ void histogram(int *bins, int each, const int *input)
{
  extern __shared__ int own[];
  cg::cluster_group cluster = cg::this_cluster();
  own[threadIdx.x] = 0;
  cluster.sync();
  int bin = input[cg::this_grid().thread_rank()];
  atomicAdd(cluster.map_shared_rank(own, bin / each) + bin % each, 1);
#ifndef RACY
  cluster.sync();
#endif
  atomicAdd(bins + cluster.block_rank() * each + threadIdx.x, own[threadIdx.x]);
}
__global__ void __cluster_dims__(2) pair(int *ranks)
{
  ranks[blockIdx.x] = cg::this_cluster().block_rank();
}
#define SAY(call) std::printf("%s\\n", cudaGetErrorName(call))

int main()
{
  int in[128], out[64], *input, *bins, most = 0, large = 0, has = 0;
  for (int i = 0; i < 128; i++) in[i] = i * 37 % 64;
  cudaMalloc(&input, sizeof in), cudaMalloc(&bins, sizeof out);
  cudaMemcpy(input, in, sizeof in, cudaMemcpyHostToDevice);
  cudaMemset(bins, 0, sizeof out);
  cudaLaunchConfig_t config = {};
  config.gridDim = 4, config.blockDim = 32, config.dynamicSmemBytes = 128;
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 2, attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  config.attrs = &attribute, config.numAttrs = 1;
  cudaDeviceGetAttribute(&has, cudaDevAttrClusterLaunch, 0);
  cudaOccupancyMaxActiveClusters(&most, histogram, &config);
  cudaOccupancyMaxPotentialClusterSize(&large, histogram, &config);
  SAY(cudaLaunchKernelEx(&config, histogram, bins, 32, (const int *)input));
  cudaMemcpy(out, bins, sizeof out, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < 64; i++) wrong += out[i] != 2;
  std::printf("%d %d %d %d\\n", wrong, has, most, large);
  pair<<<4, 1>>>(bins);
  cudaMemcpy(out, bins, 16, cudaMemcpyDeviceToHost);
  std::printf("%d%d%d%d\\n", out[0], out[1], out[2], out[3]);
  attribute.val.clusterDim.x = 3;
  SAY(cudaLaunchKernelEx(&config, histogram, bins, 32, (const int *)input));
  attribute.val.clusterDim.x = 16, config.gridDim = 16;
  SAY(cudaLaunchKernelEx(&config, histogram, bins, 32, (const int *)input));
  cudaFuncSetAttribute(histogram, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  cudaOccupancyMaxPotentialClusterSize(&large, histogram, &config);
  std::printf("%d\\n", large);
}
"""


def test_a_histogram_in_distributed_shared_memory():
    run, output = run_text(_PROGRAM, ("-arch=sm_90",), capability=90)
    assert output.splitlines() == [
        "cudaSuccess", "0 1 60 8", "0101", "cudaErrorInvalidClusterSize",
        "cudaErrorInvalidClusterSize", "16",
    ]  # fmt: skip
    (problem,) = run.problems
    assert "Grid of kernel histogram must be of whole clusters of 3 blocks, not 4" in problem
    assert not run_oracle(run.trace, "causality", True).races
