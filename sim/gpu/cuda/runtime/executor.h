// Connection to the executor: one socket, one request at a time, device memory shared.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <mutex>

#include "messages.h"

namespace racetrap {

// Held while a function of the library speaks with the executor or moves bytes.
using Guard = std::unique_lock<std::recursive_mutex>;
Guard guard();

// Ends the program: without the executor it cannot go on.
[[noreturn]] void give_up(const char *sentence);

// Informs the executor, once, that this process is linked with the library.
void announce();

// What the executor said when the program made itself known.
const HelloReply &device();

// Sends a request with the bytes behind it and waits for the reply.
cudaError_t exchange(uint32_t code, const char *name, const void *body, size_t body_bytes,
                     const void *tail, size_t tail_bytes, void *reply, size_t reply_bytes);

template <class Request>
cudaError_t ask(const Request &request, typename Request::Reply &reply,
                const void *tail = nullptr, size_t tail_bytes = 0) {
  return exchange(Request::code, Request::name, &request, Request::request_bytes, tail, tail_bytes,
                  &reply, Request::reply_bytes);
}

template <class Request>
cudaError_t tell(const Request &request, const void *tail = nullptr, size_t tail_bytes = 0) {
  typename Request::Reply reply;
  return ask(request, reply, tail, tail_bytes);
}

// Where the library can read and write device memory at an address.
void *in_window(uint64_t address);

// Lets the program itself use device memory at its own address.
cudaError_t open_to_host(uint64_t address, size_t bytes);
void close_to_host(uint64_t address, size_t bytes);

// Number of the place in the program that called a function of the library.
uint32_t site_of(const void *return_address);
#define RACETRAP_FROM __builtin_return_address(0)
#define RACETRAP_SITE ::racetrap::site_of(RACETRAP_FROM)

// The return address of the function that a call returns to; none if it is not found.
const void *caller_of(const void *return_address);

// Remembers an error for cudaGetLastError, and gives it back.
cudaError_t note(cudaError_t error);

}  // namespace racetrap
