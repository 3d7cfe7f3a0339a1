// Images as columns and back, activations and softmax of Darknet, beside its functions for CPUs.
#include <cmath>
#include <cstdio>
#include <cstdlib>

extern "C" {
#include "activations.h"
#include "blas.h"
#include "col2im.h"
#include "cuda.h"
#include "im2col.h"
}

static int differences(float *on_gpu, const float *expected, int n) {
  float *found = static_cast<float *>(calloc(n, sizeof(float)));
  cuda_pull_array(on_gpu, found, n);
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += std::fabs(found[i] - expected[i]) > 1e-4f;
  free(found);
  return wrong;
}

int main() {
  const int side = 14, channels = 3, size = 3, pixels = side * side * channels;
  const int columns = channels * size * size * side * side;
  float *image = static_cast<float *>(calloc(pixels, sizeof(float)));
  float *column = static_cast<float *>(calloc(columns, sizeof(float)));
  float *back = static_cast<float *>(calloc(pixels, sizeof(float)));
  for (int i = 0; i < pixels; ++i) image[i] = (i * 7 % 101 - 50) / 16.f;
  float *image_gpu = cuda_make_array(image, pixels), *back_gpu = cuda_make_array(back, pixels);
  float *column_gpu = cuda_make_array(column, columns);
  im2col_cpu(image, channels, side, side, size, 1, 1, column);
  im2col_gpu(image_gpu, channels, side, side, size, 1, 1, column_gpu);
  int wrong = differences(column_gpu, column, columns);
  col2im_cpu(column, channels, side, side, size, 1, 1, back);
  col2im_gpu(column_gpu, channels, side, side, size, 1, 1, back_gpu);
  wrong += differences(back_gpu, back, pixels);
  const ACTIVATION kinds[] = {LOGISTIC, RELU, LEAKY, TANH, ELU, HARDTAN};
  for (ACTIVATION kind : kinds) {
    copy_cpu(pixels, image, 1, back, 1);
    cuda_push_array(back_gpu, image, pixels);
    activate_array(back, pixels, kind);
    activate_array_gpu(back_gpu, pixels, kind);
    wrong += differences(back_gpu, back, pixels);
  }
  softmax_cpu(image, side, channels * side, side, 1, side, 1, 1, back);
  softmax_gpu(image_gpu, side, channels * side, side, 1, side, 1, 1, back_gpu);
  wrong += differences(back_gpu, back, pixels);
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
