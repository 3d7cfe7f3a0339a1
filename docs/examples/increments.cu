// Each launch adds one to 32 numbers; the argument is how many launches there are.
#include <cstdio>
#include <cstdlib>

__global__ void increment(int *numbers) { numbers[threadIdx.x] += 1; }

int main(int, char **arguments) {
  const int launches = atoi(arguments[1]);
  int *numbers;
  cudaMalloc(&numbers, 32 * sizeof(int));
  cudaMemset(numbers, 0, 32 * sizeof(int));
  for (int i = 0; i < launches; i++) increment<<<1, 32>>>(numbers);
  int last;
  cudaMemcpy(&last, numbers + 31, sizeof(int), cudaMemcpyDeviceToHost);
  puts(last == launches ? "passed" : "failed");
  return last != launches;
}
