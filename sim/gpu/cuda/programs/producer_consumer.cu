// Producer and consumer in two streams: an event hands each batch over.
#include "program.cuh"

constexpr int COUNT = 256;

__global__ void produce(int *batch, int number) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  batch[i] = number * COUNT + i;
}

__global__ void consume(const int *batch, int *sums) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  sums[i] += batch[i];
}

int main() {
  constexpr int BATCHES = 3;
  cudaStream_t producer, consumer;
  cudaEvent_t full, empty;
  CHECK(cudaStreamCreateWithFlags(&producer, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&consumer, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&full));
  CHECK(cudaEventCreate(&empty));
  int *batch, *sums, *host;
  CHECK(cudaMalloc(&batch, COUNT * sizeof(int)));
  CHECK(cudaMalloc(&sums, COUNT * sizeof(int)));
  CHECK(cudaMallocHost(&host, COUNT * sizeof(int)));
  CHECK(cudaMemsetAsync(sums, 0, COUNT * sizeof(int), consumer));
  for (int number = 0; number < BATCHES; ++number) {
    CHECK(cudaStreamWaitEvent(producer, empty, 0));
    produce<<<2, COUNT / 2, 0, producer>>>(batch, number);
    CHECK(cudaEventRecord(full, producer));
#ifndef RACY
    CHECK(cudaStreamWaitEvent(consumer, full, 0));
#endif
    consume<<<2, COUNT / 2, 0, consumer>>>(batch, sums);
    CHECK(cudaEventRecord(empty, consumer));
  }
  CHECK(cudaMemcpyAsync(host, sums, COUNT * sizeof(int), cudaMemcpyDeviceToHost, consumer));
  CHECK(cudaStreamSynchronize(consumer));
  bool right = true;
  for (int i = 0; i < COUNT; ++i) right &= host[i] == 3 * COUNT + 3 * i;
  CHECK(cudaStreamDestroy(producer));
  CHECK(cudaStreamDestroy(consumer));
  return verdict(right);
}
