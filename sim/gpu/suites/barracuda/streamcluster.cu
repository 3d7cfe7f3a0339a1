// Gain of a new centre: each thread has a point, and adds what it would save to a row of its own.
//
// Ref: BARRACUDA (PLDI'17) Table 1, `Streamcluster` of Rodinia.
#include "../../cuda/programs/program.cuh"

constexpr int POINTS = 256, CENTRES = 8, DIMENSIONS = 4;

__global__ void gain(const int *coordinates, const int *cost, const int *centre_of, int *saved,
                     bool *switches, int candidate) {
  extern __shared__ int shared[];
  const int own = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0)
    for (int i = 0; i < DIMENSIONS; ++i) shared[i] = coordinates[i * POINTS + candidate];
  __syncthreads();
  int distance = 0;
  for (int i = 0; i < DIMENSIONS; ++i) {
    const int difference = coordinates[i * POINTS + own] - shared[i];
    distance += difference * difference;
  }
  int *row = saved + own * (CENTRES + 1);
  if (distance < cost[own]) {
    switches[own] = true;
    row[CENTRES] += distance - cost[own];
  } else {
    row[centre_of[own]] += cost[own] - distance;
  }
}

int main() {
  const std::vector<int> points = random_numbers(POINTS * DIMENSIONS, 20);
  const std::vector<int> costs = random_numbers(POINTS, 900), centres = random_numbers(POINTS, CENTRES);
  const int *coordinates = to_device(points), *cost = to_device(costs), *centre = to_device(centres);
  int *saved = zeros_on_device<int>(POINTS * (CENTRES + 1));
  bool *switches = zeros_on_device<bool>(POINTS);
  gain<<<2, POINTS / 2, DIMENSIONS * sizeof(int)>>>(coordinates, cost, centre, saved, switches, 5);
  std::vector<int> expected(POINTS * (CENTRES + 1));
  for (int i = 0; i < POINTS; ++i) {
    int distance = 0;
    for (int k = 0; k < DIMENSIONS; ++k) {
      const int difference = points[k * POINTS + i] - points[k * POINTS + 5];
      distance += difference * difference;
    }
    const int change = distance - costs[i];
    expected[i * (CENTRES + 1) + (change < 0 ? CENTRES : centres[i])] = change < 0 ? change : -change;
  }
  return verdict(to_host(saved, POINTS * (CENTRES + 1)) == expected);
}
