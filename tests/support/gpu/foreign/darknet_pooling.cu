// Pooling layers of Darknet, there and back, compared with its own functions for CPUs.
#include <cmath>
#include <cstdio>
#include <cstdlib>

extern "C" {
#include "avgpool_layer.h"
#include "blas.h"
#include "cuda.h"
#include "maxpool_layer.h"
}

static int differences(float *on_gpu, const float *expected, int n) {
  float *found = static_cast<float *>(calloc(n, sizeof(float)));
  cuda_pull_array(on_gpu, found, n);
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += std::fabs(found[i] - expected[i]) > 1e-4f;
  free(found);
  return wrong;
}

static int check(layer l, network net, int outputs, int inputs) {
  l.forward(l, net);
  l.forward_gpu(l, net);
  int wrong = differences(l.output_gpu, l.output, outputs);
  for (int i = 0; i < outputs; ++i) l.delta[i] = i % 9 - 4;
  cuda_push_array(l.delta_gpu, l.delta, outputs);
  fill_cpu(inputs, 0, net.delta, 1);
  fill_gpu(inputs, 0, net.delta_gpu, 1);
  l.backward(l, net);
  l.backward_gpu(l, net);
  return wrong + differences(net.delta_gpu, net.delta, inputs);
}

int main() {
  const int batch = 2, side = 12, channels = 3, inputs = batch * side * side * channels;
  network net = {};
  net.input = static_cast<float *>(calloc(inputs, sizeof(float)));
  net.delta = static_cast<float *>(calloc(inputs, sizeof(float)));
  for (int i = 0; i < inputs; ++i) net.input[i] = i * 7 % 101 - 50;
  net.input_gpu = cuda_make_array(net.input, inputs);
  net.delta_gpu = cuda_make_array(net.delta, inputs);
  layer most = make_maxpool_layer(batch, side, side, channels, 2, 2, 0);
  layer mean = make_avgpool_layer(batch, side, side, channels);
  const int wrong = check(most, net, most.outputs * batch, inputs) +
                    check(mean, net, mean.outputs * batch, inputs);
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
