// Nearest neighbour: each thread has a place, and stores its distance from the target.
//
// Ref: BARRACUDA (PLDI'17) Table 1, `Nn` of Rodinia.
#include "../../cuda/programs/program.cuh"

constexpr int PLACES = 1000;

__global__ void distances(const int2 *places, int *distance, int x, int y) {
  const int own = blockDim.x * (gridDim.x * blockIdx.y + blockIdx.x) + threadIdx.x;
  if (own >= PLACES) return;
  const int2 place = places[own];
  distance[own] = (x - place.x) * (x - place.x) + (y - place.y) * (y - place.y);
}

int main() {
  const std::vector<int> random = random_numbers(2 * PLACES, 180);
  std::vector<int2> places(PLACES);
  std::vector<int> expected(PLACES);
  for (int i = 0; i < PLACES; ++i) {
    places[i] = {random[2 * i], random[2 * i + 1]};
    expected[i] = (30 - places[i].x) * (30 - places[i].x) + (90 - places[i].y) * (90 - places[i].y);
  }
  const int2 *own = to_device(places);
  int *distance = zeros_on_device<int>(PLACES);
  distances<<<(PLACES + 255) / 256, 256>>>(own, distance, 30, 90);
  return verdict(to_host(distance, PLACES) == expected);
}
