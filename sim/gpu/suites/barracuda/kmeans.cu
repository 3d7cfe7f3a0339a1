// K-means: rows to columns, then each point goes to its nearest centre.
//
// Ref: BARRACUDA (PLDI'17) Table 1, `Kmeans` of Rodinia.
#include "../../cuda/programs/program.cuh"

constexpr int POINTS = 256, FEATURES = 4, CENTRES = 5;

__global__ void transpose(const int *rows, int *columns) {
  const int point = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < FEATURES; ++i) columns[point + i * POINTS] = rows[point * FEATURES + i];
}

__global__ void assign(const int *columns, const int *centres, int *membership) {
  const int point = blockIdx.x * blockDim.x + threadIdx.x;
  int nearest = -1, least = 0x7fffffff;
  for (int centre = 0; centre < CENTRES; ++centre) {
    int distance = 0;
    for (int i = 0; i < FEATURES; ++i) {
      const int difference = columns[point + i * POINTS] - centres[centre * FEATURES + i];
      distance += difference * difference;
    }
    if (distance < least) least = distance, nearest = centre;
  }
  membership[point] = nearest;
}

int main() {
  const std::vector<int> points = random_numbers(POINTS * FEATURES, 100);
  const std::vector<int> centres = random_numbers(CENTRES * FEATURES, 100);
  std::vector<int> expected(POINTS);
  for (int point = 0; point < POINTS; ++point) {
    int least = 0x7fffffff;
    for (int centre = 0; centre < CENTRES; ++centre) {
      int distance = 0;
      for (int i = 0; i < FEATURES; ++i) {
        const int difference = points[point * FEATURES + i] - centres[centre * FEATURES + i];
        distance += difference * difference;
      }
      if (distance < least) least = distance, expected[point] = centre;
    }
  }
  const int *rows = to_device(points), *middle = to_device(centres);
  int *columns = zeros_on_device<int>(POINTS * FEATURES), *membership = zeros_on_device<int>(POINTS);
  transpose<<<2, POINTS / 2>>>(rows, columns);
  assign<<<2, POINTS / 2>>>(columns, middle, membership);
  return verdict(to_host(membership, POINTS) == expected);
}
