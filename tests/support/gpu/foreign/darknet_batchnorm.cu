// Batch normalisation of Darknet, there and back, compared with its own functions for CPUs.
#include <cmath>
#include <cstdio>
#include <cstdlib>

extern "C" {
#include "batchnorm_layer.h"
#include "blas.h"
#include "cuda.h"
}

static int differences(float *on_gpu, const float *expected, int n) {
  float *found = static_cast<float *>(calloc(n, sizeof(float)));
  cuda_pull_array(on_gpu, found, n);
  int wrong = 0;
  for (int i = 0; i < n; ++i)
    wrong += std::fabs(found[i] - expected[i]) > 1e-3f * (1 + std::fabs(expected[i]));
  free(found);
  return wrong;
}

int main() {
  const int batch = 2, side = 10, channels = 3, count = batch * side * side * channels;
  network net = {};
  net.train = 1;
  net.input = static_cast<float *>(calloc(count, sizeof(float)));
  net.delta = static_cast<float *>(calloc(count, sizeof(float)));
  for (int i = 0; i < count; ++i) net.input[i] = i * 7 % 101 - 50;
  net.input_gpu = cuda_make_array(net.input, count);
  net.delta_gpu = cuda_make_array(net.delta, count);
  layer l = make_batchnorm_layer(batch, side, side, channels);
  // Its functions for CPUs need arrays that only convolutions make.
  l.x = static_cast<float *>(calloc(count, sizeof(float)));
  l.x_norm = static_cast<float *>(calloc(count, sizeof(float)));
  l.mean_delta = static_cast<float *>(calloc(channels, sizeof(float)));
  l.variance_delta = static_cast<float *>(calloc(channels, sizeof(float)));
  l.forward(l, net);
  l.forward_gpu(l, net);
  int wrong = differences(l.output_gpu, l.output, count);
  wrong += differences(l.mean_gpu, l.mean, channels);
  wrong += differences(l.variance_gpu, l.variance, channels);
  for (int i = 0; i < count; ++i) l.delta[i] = i % 9 - 4;
  cuda_push_array(l.delta_gpu, l.delta, count);
  l.backward(l, net);
  l.backward_gpu(l, net);
  wrong += differences(net.delta_gpu, net.delta, count);
  wrong += differences(l.scale_updates_gpu, l.scale_updates, channels);
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
