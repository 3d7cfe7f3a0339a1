#include <execinfo.h>
#include "executor.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gnu/lib-names.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>

namespace racetrap {
namespace {

constexpr int kRestMilliseconds = 10000;
constexpr int kStatusOfFailure = 97;
constexpr int kHighDescriptors = 64;

struct ReplyHeader {
  uint32_t code, bytes;
  int32_t status;
};

std::recursive_mutex mutex;
int connection = -1, memory_file = -1;
bool forked = false;
std::atomic_flag giving_up = ATOMIC_FLAG_INIT;
HelloReply hello{};
char *window = nullptr;
std::unordered_map<const void *, uint32_t> sites;

void send_all(const void *data, size_t bytes) {
  auto *next = static_cast<const char *>(data);
  while (bytes > 0) {
    ssize_t sent = send(connection, next, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) give_up("executor has ended before the program");
    next += sent;
    bytes -= static_cast<size_t>(sent);
  }
}

// The rest of a reply that has begun must come soon; `file` takes the descriptor that comes too.
void receive_all(void *data, size_t bytes, bool begun, int *file) {
  auto *next = static_cast<char *>(data);
  while (bytes > 0) {
    pollfd ready{connection, POLLIN, 0};
    int found = poll(&ready, 1, begun ? kRestMilliseconds : -1);
    if (found < 0 && errno == EINTR) continue;
    if (found == 0) give_up("reply of the executor must be whole, not cut short");
    iovec part{next, bytes};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    ssize_t got = recvmsg(connection, &message, MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) give_up("executor has ended before the program");
    cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_type == SCM_RIGHTS && file)
      std::memcpy(file, CMSG_DATA(header), sizeof(int));
    begun = true;
    next += got;
    bytes -= static_cast<size_t>(got);
  }
}

// The same file by one of the highest numbers: programs close low descriptors that they do not
// know, and what they open then must not be ours.
int out_of_reach(int descriptor) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur <= 2 * kHighDescriptors) return descriptor;
  rlim_t most = std::min<rlim_t>(limit.rlim_cur, 1 << 20);
  int high = fcntl(descriptor, F_DUPFD_CLOEXEC, static_cast<int>(most) - kHighDescriptors);
  if (high < 0) return descriptor;
  close(descriptor);
  return high;
}

// A socket that is connected to the executor; negative if there is none.
int connected(const char *path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (std::strlen(path) >= sizeof address.sun_path) give_up("path of the executor is too long");
  std::strcpy(address.sun_path, path);
  int found = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (found < 0 || !connect(found, reinterpret_cast<sockaddr *>(&address), sizeof address))
    return found;
  close(found);
  return -1;
}

const char *executor_path() {
  const char *path = std::getenv("RACETRAP_EXECUTOR");
  return path ? path : "";
}

void open_socket() {
  const char *path = executor_path();
  if (!*path) give_up("program must be run by `racetrap run`, which has the executor");
  connection = connected(path);
  if (connection < 0) give_up("executor was not found: program must be run by `racetrap run`");
  connection = out_of_reach(connection);
}

// Device addresses mean nothing to the host, but for memory that is opened to it.
void map_memory() {
  auto *base = reinterpret_cast<void *>(hello.base);
  size_t bytes = hello.end - hello.base;
  void *reserved = mmap(base, bytes, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (reserved != base)
    give_up("addresses of device memory must be free in the program: build it with -pie");
  void *all = mmap(nullptr, hello.end, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                   memory_file, 0);
  if (all == MAP_FAILED) give_up("device memory cannot be mapped");
  window = static_cast<char *>(all);
}

// Ends a program that computes on its own while the executor is gone.
void *watch(void *) {
  pollfd hung_up{connection, POLLRDHUP, 0};
  while (poll(&hung_up, 1, -1) < 0 && errno == EINTR) {
  }
  give_up("executor has ended before the program");
}

void start_watching() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  if (pthread_create(&thread, nullptr, watch, nullptr)) give_up("thread cannot be started");
  pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void begin() {
  if (forked) give_up("CUDA must not be used in a process forked from one that uses it");
  if (connection >= 0) return;
  open_socket();
  HelloRequest request{magic, version, static_cast<uint32_t>(getpid())};
  uint32_t header[] = {HelloRequest::code, sizeof request};
  send_all(header, sizeof header);
  send_all(&request, sizeof request);
  ReplyHeader answer{};
  receive_all(&answer, sizeof answer, false, &memory_file);
  if (answer.code != HelloRequest::code || answer.status != 0 || answer.bytes != sizeof hello)
    give_up("executor must speak the protocol of this library, not another");
  receive_all(&hello, sizeof hello, true, &memory_file);
  if (memory_file < 0 || hello.end <= hello.base)
    give_up("executor must give its device memory, not none");
  memory_file = out_of_reach(memory_file);
  map_memory();
  start_watching();
  pthread_atfork(nullptr, nullptr, [] { forked = true; });
}

bool is_c_library(const char *path) {
  const char *slash = std::strrchr(path, '/');
  return !std::strcmp(slash ? slash + 1 : path, LIBC_SO);
}

}  // namespace

Guard guard() { return Guard(mutex); }

void announce() {
  static std::once_flag once;
  std::call_once(once, [] {
    const char *path = executor_path();
    // A connection that stays would be shared by the processes that this one forks.
    int announced = *path ? connected(path) : -1;
    if (announced >= 0) close(announced);
  });
}

void give_up(const char *sentence) {
  if (giving_up.test_and_set())
    for (;;) pause();
  std::fflush(stdout);
  std::fprintf(stderr, "racetrap: %s\n", sentence);
  _exit(kStatusOfFailure);
}

const HelloReply &device() {
  Guard held = guard();
  begin();
  return hello;
}

cudaError_t exchange(uint32_t code, const char *name, const void *body, size_t body_bytes,
                     const void *tail, size_t tail_bytes, void *reply, size_t reply_bytes) {
  Guard held = guard();
  begin();
  std::memset(reply, 0, reply_bytes);
  if (tail_bytes > most_bytes - body_bytes) return cudaErrorInvalidValue;
  uint32_t header[] = {code, static_cast<uint32_t>(body_bytes + tail_bytes)};
  send_all(header, sizeof header);
  send_all(body, body_bytes);
  send_all(tail, tail_bytes);
  ReplyHeader answer{};
  receive_all(&answer, sizeof answer, false, nullptr);
  uint32_t expected = answer.status ? 0 : static_cast<uint32_t>(reply_bytes);
  if (answer.code != code || answer.bytes != expected) {
    std::string sentence = "reply to " + std::string(name) + " must have code " +
                           std::to_string(code) + " and " + std::to_string(expected) +
                           " bytes, not code " + std::to_string(answer.code) + " and " +
                           std::to_string(answer.bytes);
    give_up(sentence.c_str());
  }
  receive_all(reply, answer.bytes, true, nullptr);
  return static_cast<cudaError_t>(answer.status);
}

void *in_window(uint64_t address) { return window + address; }

cudaError_t open_to_host(uint64_t address, size_t bytes) {
  void *at = reinterpret_cast<void *>(address);
  void *got = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED,
                   memory_file, static_cast<off_t>(address));
  return got == at ? cudaSuccess : cudaErrorMemoryAllocation;
}

void close_to_host(uint64_t address, size_t bytes) {
  mmap(reinterpret_cast<void *>(address), bytes, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

const void *caller_of(const void *return_address) {
  void *frames[16];
  int count = backtrace(frames, 16);
  for (int i = 0; i + 1 < count; i++)
    if (frames[i] == return_address) return frames[i + 1];
  return nullptr;
}

uint32_t site_of(const void *return_address) {
  Guard held = guard();
  auto known = sites.find(return_address);
  if (known != sites.end()) return known->second;
  Dl_info found{};
  link_map *map = nullptr;
  SiteReply reply{};
  if (dladdr1(return_address, &found, reinterpret_cast<void **>(&map), RTLD_DL_LINKMAP) && map) {
    // The program itself has no name in its link map.
    char own[4096] = "";
    if (!map->l_name[0] && readlink("/proc/self/exe", own, sizeof own - 1) < 0) own[0] = 0;
    const char *path = map->l_name[0] ? map->l_name : own;
    uint64_t offset = reinterpret_cast<uint64_t>(return_address) - map->l_addr;
    // Callers of main have no source line, and looking for one takes long.
    if (is_c_library(path)) return sites[return_address] = 0;
    ask(SiteRequest{offset}, reply, path, std::strlen(path));
  }
  return sites[return_address] = reply.site;
}

}  // namespace racetrap
