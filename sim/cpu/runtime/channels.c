// Order through pipes, sockets, files and event counters (eventfd): a receiver is ordered after its
// sender.  An object is the kernel's, not the descriptor.
#define _GNU_SOURCE
#include <errno.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "record.h"

#define OBJECTS (1ull << 62)  // no address of memory

static uint64_t object_of(int file) {
    int error = errno;
    struct stat status;
    int failed = fstat(file, &status);
    errno = error;
    if (failed) return 0;
    // The two ends of a connection have no name in common: all sockets are one object.
    if (S_ISSOCK(status.st_mode)) return OBJECTS;
    uint64_t name = status.st_dev * 0x9e3779b97f4a7c15u ^ status.st_ino;
    return OBJECTS | (name & (OBJECTS - 1));
}

static void order(unsigned kind, int file, uint32_t pc) {
    uint64_t object;
    if (is_recording() && (object = object_of(file))) racetrap_sync(kind, object, 0, FLAG, pc);
}

// Accesses of a transfer, of at most `left` bytes.
static void transfer(unsigned kind, const struct iovec *vector, size_t count, size_t left,
                     uint32_t pc) {
    for (size_t i = 0; i < count && left; i++) {
        size_t bytes = vector[i].iov_len < left ? vector[i].iov_len : left;
        racetrap_library_range(kind, vector[i].iov_base, bytes, pc);
        left -= bytes;
    }
}

// All of what is sent is read before the call: no thread may change it during the call.
#define SEND(type, name, parameters, arguments, vector, count) \
    EXPORT type name parameters {                              \
        transfer(LOAD, vector, count, SIZE_MAX, CALLER);       \
        order(RELEASE, file, CALLER);                          \
        return REAL(name) arguments;                           \
    }

#define RECEIVE_WITH(type, name, parameters, arguments, vector, count, more) \
    EXPORT type name parameters {                                        \
        type result = REAL(name) arguments;                              \
        if (result >= 0) {                                               \
            order(ACQUIRE, file, CALLER);                                \
            transfer(STORE, vector, count, (size_t)result, CALLER);      \
            more;                                                        \
        }                                                                \
        return result;                                                   \
    }
#define RECEIVE(type, name, parameters, arguments, vector, count) \
    RECEIVE_WITH(type, name, parameters, arguments, vector, count, )

// The sender's address, truncated where there is no room for it.
static void note_sender(const struct sockaddr *from, const socklen_t *length, uint32_t pc) {
    if (!from || !length) return;
    socklen_t most = sizeof(struct sockaddr_storage);
    racetrap_library_range(STORE, from, *length < most ? *length : most, pc);
    racetrap_library_range(STORE, length, sizeof *length, pc);
}

#define ONE (&(struct iovec){(void *)bytes, size})

SEND(ssize_t, write, (int file, const void *bytes, size_t size), (file, bytes, size), ONE, 1)
SEND(ssize_t, pwrite, (int file, const void *bytes, size_t size, off_t at),
     (file, bytes, size, at), ONE, 1)
SEND(ssize_t, pwrite64, (int file, const void *bytes, size_t size, off64_t at),
     (file, bytes, size, at), ONE, 1)
SEND(ssize_t, writev, (int file, const struct iovec *vector, int count), (file, vector, count),
     vector, count)
SEND(ssize_t, send, (int file, const void *bytes, size_t size, int flags),
     (file, bytes, size, flags), ONE, 1)
SEND(ssize_t, sendto,
     (int file, const void *bytes, size_t size, int flags, const struct sockaddr *to,
      socklen_t length),
     (file, bytes, size, flags, to, length), ONE, 1)
SEND(ssize_t, sendmsg, (int file, const struct msghdr *message, int flags),
     (file, message, flags), message->msg_iov, message->msg_iovlen)
SEND(int, eventfd_write, (int file, eventfd_t value), (file, value), NULL, 0)
SEND(int, connect, (int file, const struct sockaddr *to, socklen_t length), (file, to, length),
     NULL, 0)
// The other end sees the end of the stream.
SEND(int, shutdown, (int file, int how), (file, how), NULL, 0)
SEND(int, close, (int file), (file), NULL, 0)

RECEIVE(ssize_t, read, (int file, void *bytes, size_t size), (file, bytes, size), ONE, 1)
RECEIVE(ssize_t, pread, (int file, void *bytes, size_t size, off_t at), (file, bytes, size, at),
        ONE, 1)
RECEIVE(ssize_t, pread64, (int file, void *bytes, size_t size, off64_t at),
        (file, bytes, size, at), ONE, 1)
RECEIVE(ssize_t, readv, (int file, const struct iovec *vector, int count),
        (file, vector, count), vector, count)
RECEIVE(ssize_t, recv, (int file, void *bytes, size_t size, int flags),
        (file, bytes, size, flags), ONE, 1)
RECEIVE_WITH(ssize_t, recvfrom,
             (int file, void *bytes, size_t size, int flags, struct sockaddr *from,
              socklen_t *length),
             (file, bytes, size, flags, from, length), ONE, 1, note_sender(from, length, CALLER))
RECEIVE(ssize_t, recvmsg, (int file, struct msghdr *message, int flags), (file, message, flags),
        message->msg_iov, message->msg_iovlen)

EXPORT int eventfd_read(int file, eventfd_t *value) {
    int error = REAL(eventfd_read)(file, value);
    if (error) return error;
    order(ACQUIRE, file, CALLER);
    racetrap_library_range(STORE, value, sizeof *value, CALLER);
    return 0;
}

RECEIVE_WITH(int, accept, (int file, struct sockaddr *from, socklen_t *length),
             (file, from, length), NULL, 0, note_sender(from, length, CALLER))
RECEIVE_WITH(int, accept4, (int file, struct sockaddr *from, socklen_t *length, int flags),
             (file, from, length, flags), NULL, 0, note_sender(from, length, CALLER))
