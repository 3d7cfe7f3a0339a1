// Kernels whose races are somewhere else: two blocks of one warp, or one block of two warps.

#include <cuda/atomic>
#include <cuda/std/array>
#include <cuda/std/utility>

#include "tools.cuh"

#define KERNEL(NAME) extern "C" __global__ void NAME

KERNEL(plain_header)(int *data) { add_to(data, 1); }

KERNEL(two_headers)(int *data) { store_later(data, (int)blockIdx.x); }

KERNEL(called_function)(int *data) { count_up(data); }

KERNEL(template_stencil)(int *data) {
  __shared__ int shared[64];
  data[threadIdx.x] = neighbour<32>(shared, threadIdx.x);
}

KERNEL(class_template)(int *data) {
  Stack<int> stack{data + 8, data};
  stack.push((int)blockIdx.x);
}

KERNEL(method_read)(int *data) {
  Stack<int> stack{data + 8, data};
  if (blockIdx.x == 0)
    data[8] = 7;  // race: method_read
  else
    data[1] = stack.peek();
}

KERNEL(lambda_argument)(int *data) {
  for_each(2, [&](int i) {
    data[i] = (int)blockIdx.x;  // race: lambda_argument
  });
}

KERNEL(recursive_template)(int *data) { Tree<3>::climb(data, (int)blockIdx.x); }

KERNEL(operator_in_header)(int *data) {
  Flag &flag = *reinterpret_cast<Flag *>(data);
  if (blockIdx.x == 0)
    flag = 1;
  else
    data[1] = flag;
}

KERNEL(library_swap)(int *data) { cuda::std::swap(data[0], data[1]); }

KERNEL(library_array)(int *data) {
  auto &values = *reinterpret_cast<cuda::std::array<int, 4> *>(data);
  values.fill((int)blockIdx.x);
}

KERNEL(library_atomic)(int *data) {
  cuda::atomic_ref<int, cuda::thread_scope_block> count(*data);
  count.fetch_add(1);
}
