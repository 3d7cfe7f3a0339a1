// Convolution of one dimension: one thread for each product, summed by atomics.
// An output whose products all come from one block is summed at block scope.

enum Switch : unsigned { BLOCK_SCOPE_BORDER = 1 };

extern "C" __global__ void clear(float *output, int outputs) {
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < outputs; i += stride) {
    output[i] = 0.0f;
  }
}

extern "C" __global__ void convolve(const float *input, const float *filter, float *output,
                                    int outputs, int taps, unsigned switches) {
  const int thread = threadIdx.x;
  const int threads = blockDim.x;
  const int first = blockIdx.x * threads + thread;
  for (int product = first; product < outputs * taps; product += gridDim.x * threads) {
    const int tap = product % taps;
    const int o = product / taps;
    const int i = o - (tap - taps / 2);
    if (i < 0 || i >= outputs) continue;
    const float value = input[i] * filter[tap];
    // All products of this output are made by the threads around this one, in the same round.
    const bool own_output = thread >= tap && threads - thread >= taps - tap;
    if (own_output) {
      atomicAdd_block(&output[o], value);
    } else if (switches & BLOCK_SCOPE_BORDER) {
      atomicAdd_block(&output[o], value);
    } else {
      atomicAdd(&output[o], value);
    }
  }
}
