// Bodies that attract each other, two steps: forces of all on all, by tiles of positions.
#include <cmath>

#include "program.cuh"

constexpr int THREADS = 64;
constexpr int BODIES = 128;
constexpr float STEP = 0.01f, SOFTENING = 0.1f;

struct Body {
  float x, y, vx, vy;
};

__host__ __device__ inline void attract(const Body &body, float x, float y, float &ax, float &ay) {
  const float dx = x - body.x, dy = y - body.y;
  const float square = dx * dx + dy * dy + SOFTENING;
  const float force = 1.0f / (square * sqrtf(square));
  ax += dx * force;
  ay += dy * force;
}

__host__ __device__ inline Body moved(Body body, float ax, float ay) {
  body.vx += STEP * ax;
  body.vy += STEP * ay;
  body.x += STEP * body.vx;
  body.y += STEP * body.vy;
  return body;
}

__global__ void step(const Body *before, Body *after) {
  __shared__ float2 tile[THREADS];
  const Body body = before[blockIdx.x * THREADS + threadIdx.x];
  float ax = 0, ay = 0;
  for (int first = 0; first < BODIES; first += THREADS) {
    const Body other = before[first + threadIdx.x];
    tile[threadIdx.x] = make_float2(other.x, other.y);
    __syncthreads();
    for (int i = 0; i < THREADS; ++i) attract(body, tile[i].x, tile[i].y, ax, ay);
    __syncthreads();
  }
  after[blockIdx.x * THREADS + threadIdx.x] = moved(body, ax, ay);
}

int main() {
  const std::vector<int> numbers = random_numbers(2 * BODIES, 1000);
  std::vector<Body> bodies(BODIES);
  for (int i = 0; i < BODIES; ++i) {
    bodies[i] = {numbers[2 * i] / 1000.0f, numbers[2 * i + 1] / 1000.0f, 0, 0};
  }
  Body *before = to_device(bodies);
#ifdef RACY
  Body *after = before;
#else
  Body *after = zeros_on_device<Body>(BODIES);
#endif
  bool right = true;
  for (int round = 0; round < 2; ++round) {
    step<<<BODIES / THREADS, THREADS>>>(before, after);
    CHECK(cudaGetLastError());
    std::vector<Body> expected;
    for (const Body &body : bodies) {
      float ax = 0, ay = 0;
      for (const Body &other : bodies) attract(body, other.x, other.y, ax, ay);
      expected.push_back(moved(body, ax, ay));
    }
    bodies = to_host(after, BODIES);
    for (int i = 0; i < BODIES; ++i) right &= std::fabs(bodies[i].x - expected[i].x) < 1e-4f;
    std::swap(before, after);
  }
  return verdict(right);
}
