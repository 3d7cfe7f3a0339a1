// Functions of the C library that give results through pointers: of time, files, the system, random
// numbers and mathematics.  They are looked up when they are called: the program need not be linked
// with the library that has them, and the system's need not have all of them.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <math.h>
#include <netdb.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"
#include "library.h"

// A function that fills an object if it returns 0.
#define FILL(name, parameters, arguments) \
    WRAPPER(int, name, parameters, arguments, if (!result) WRITTEN_OBJECT(to))
// A function that returns the text that it has written, or NULL.
#define TEXT(name, parameters, arguments) \
    WRAPPER(char *, name, parameters, arguments, if (result) WRITTEN_TEXT(result))
// The same, of at most `size` bytes with its end, and it returns 0.
#define SIZED_TEXT(name, parameters, arguments)                  \
    WRAPPER(int, name, parameters, arguments, if (!result) {     \
        size_t bytes = strnlen(to, size);                        \
        WRITTEN(to, bytes + (bytes < size));                     \
    })
// A function that returns the number of bytes that it has written.
#define BYTES(name, parameters, arguments) \
    WRAPPER(ssize_t, name, parameters, arguments, if (result > 0) WRITTEN(to, result))

WRAPPER(time_t, time, (time_t *to), (to), WRITTEN_OBJECT(to))
WRAPPER(int, timespec_get, (struct timespec *to, int base), (to, base),
        if (result) WRITTEN_OBJECT(to))
FILL(clock_gettime, (clockid_t clock, struct timespec *to), (clock, to))
FILL(clock_getres, (clockid_t clock, struct timespec *to), (clock, to))
FILL(gettimeofday, (struct timeval *restrict to, void *restrict zone), (to, zone))
WRAPPER(int, nanosleep, (const struct timespec *wanted, struct timespec *left), (wanted, left),
        READ_OBJECT(wanted); if (result) WRITTEN_OBJECT(left))
WRAPPER(int, clock_nanosleep,
        (clockid_t clock, int flags, const struct timespec *wanted, struct timespec *left),
        (clock, flags, wanted, left), READ_OBJECT(wanted);
        if (result && !(flags & TIMER_ABSTIME)) WRITTEN_OBJECT(left))
WRAPPER(struct tm *, localtime_r, (const time_t *at, struct tm *to), (at, to), READ_OBJECT(at);
        WRITTEN_OBJECT(result))
WRAPPER(struct tm *, gmtime_r, (const time_t *at, struct tm *to), (at, to), READ_OBJECT(at);
        WRITTEN_OBJECT(result))
WRAPPER(time_t, mktime, (struct tm *at), (at), READ_OBJECT(at); WRITTEN_OBJECT(at))
WRAPPER(time_t, timegm, (struct tm *at), (at), READ_OBJECT(at); WRITTEN_OBJECT(at))
WRAPPER(char *, asctime_r, (const struct tm *at, char *to), (at, to), READ_OBJECT(at);
        if (result) WRITTEN_TEXT(result))
WRAPPER(char *, ctime_r, (const time_t *at, char *to), (at, to), READ_OBJECT(at);
        if (result) WRITTEN_TEXT(result))
WRAPPER(size_t, strftime, (char *to, size_t size, const char *format, const struct tm *at),
        (to, size, format, at), READ_OBJECT(at); if (result) WRITTEN(to, result + 1))
WRAPPER(char *, strptime, (const char *from, const char *format, struct tm *to),
        (from, format, to), if (result) {
            READ(from, result - from + 1);
            WRITTEN_OBJECT(to);
        })
WRAPPER(clock_t, times, (struct tms *to), (to), WRITTEN_OBJECT(to))
FILL(timerfd_gettime, (int file, struct itimerspec *to), (file, to))
WRAPPER(int, timerfd_settime,
        (int file, int flags, const struct itimerspec *wanted, struct itimerspec *old),
        (file, flags, wanted, old), READ_OBJECT(wanted); if (!result) WRITTEN_OBJECT(old))

FILL(stat, (const char *path, struct stat *to), (path, to))
FILL(lstat, (const char *path, struct stat *to), (path, to))
FILL(fstat, (int file, struct stat *to), (file, to))
FILL(fstatat, (int folder, const char *path, struct stat *to, int flags), (folder, path, to, flags))
FILL(stat64, (const char *path, struct stat64 *to), (path, to))
FILL(lstat64, (const char *path, struct stat64 *to), (path, to))
FILL(fstat64, (int file, struct stat64 *to), (file, to))
FILL(fstatat64, (int folder, const char *path, struct stat64 *to, int flags),
     (folder, path, to, flags))
FILL(statx, (int folder, const char *path, int flags, unsigned mask, struct statx *to),
     (folder, path, flags, mask, to))
FILL(statfs, (const char *path, struct statfs *to), (path, to))
FILL(fstatfs, (int file, struct statfs *to), (file, to))
FILL(statvfs, (const char *path, struct statvfs *to), (path, to))
FILL(fstatvfs, (int file, struct statvfs *to), (file, to))
FILL(fgetpos, (FILE *stream, fpos_t *to), (stream, to))
TEXT(realpath, (const char *path, char *to), (path, to))
TEXT(getcwd, (char *to, size_t size), (to, size))
BYTES(readlink, (const char *path, char *to, size_t size), (path, to, size))
BYTES(readlinkat, (int folder, const char *path, char *to, size_t size), (folder, path, to, size))
TEXT(mkdtemp, (char *name), (name))
WRAPPER(int, mkstemp, (char *name), (name), WRITTEN(name, strlen(name)))
WRAPPER(int, mkostemp, (char *name, int flags), (name, flags), WRITTEN(name, strlen(name)))
WRAPPER(int, pipe, (int to[2]), (to), if (!result) WRITTEN(to, 2 * sizeof *to))
WRAPPER(int, pipe2, (int to[2], int flags), (to, flags), if (!result) WRITTEN(to, 2 * sizeof *to))

FILL(uname, (struct utsname *to), (to))
FILL(sysinfo, (struct sysinfo *to), (to))
FILL(getrusage, (__rusage_who_t who, struct rusage *to), (who, to))
FILL(getrlimit, (__rlimit_resource_t which, struct rlimit *to), (which, to))
FILL(getitimer, (__itimer_which_t which, struct itimerval *to), (which, to))
FILL(sem_getvalue, (sem_t *semaphore, int *to), (semaphore, to))
SIZED_TEXT(gethostname, (char *to, size_t size), (to, size))
SIZED_TEXT(getlogin_r, (char *to, size_t size), (to, size))
SIZED_TEXT(ttyname_r, (int file, char *to, size_t size), (file, to, size))
WRAPPER(char *, strerror_r, (int error, char *to, size_t size), (error, to, size),
        if (result == to) WRITTEN_TEXT(to))
int __xpg_strerror_r(int error, char *to, size_t size);
SIZED_TEXT(__xpg_strerror_r, (int error, char *to, size_t size), (error, to, size))
WRAPPER(size_t, confstr, (int name, char *to, size_t size), (name, to, size),
        if (result && size) WRITTEN(to, result < size ? result : size))
WRAPPER(int, getloadavg, (double *to, int count), (to, count),
        if (result > 0) WRITTEN(to, result * sizeof *to))
BYTES(getrandom, (void *to, size_t size, unsigned flags), (to, size, flags))
WRAPPER(int, getentropy, (void *to, size_t size), (to, size), if (!result) WRITTEN(to, size))
WRAPPER(pid_t, wait, (int *to), (to), if (result > 0) WRITTEN_OBJECT(to))
WRAPPER(pid_t, waitpid, (pid_t process, int *to, int flags), (process, to, flags),
        if (result > 0) WRITTEN_OBJECT(to))
WRAPPER(pid_t, wait4, (pid_t process, int *to, int flags, struct rusage *usage),
        (process, to, flags, usage), if (result > 0) {
            WRITTEN_OBJECT(to);
            WRITTEN_OBJECT(usage);
        })
FILL(waitid, (idtype_t type, id_t id, siginfo_t *to, int flags), (type, id, to, flags))
WRAPPER(int, sigwait, (const sigset_t *set, int *to), (set, to), if (!result) WRITTEN_OBJECT(to))

// Descriptors that a call waits for: requested events are read, those that occurred are written.
#define POLLED(type, name, parameters, arguments)                                           \
    WRAPPER(type, name, parameters, arguments, READ(files, count * sizeof *files);          \
            if (result >= 0) for (nfds_t i = 0; i < count; i++) WRITTEN_OBJECT(&files[i].revents))
POLLED(int, poll, (struct pollfd *files, nfds_t count, int limit), (files, count, limit))
POLLED(int, ppoll,
       (struct pollfd *files, nfds_t count, const struct timespec *limit, const sigset_t *signals),
       (files, count, limit, signals))

static void selected(unsigned kind, int count, fd_set *const sets[3], uint32_t pc) {
    size_t bytes = (count + NFDBITS - 1) / NFDBITS * sizeof(fd_mask);
    for (int i = 0; i < 3; i++)
        if (sets[i]) racetrap_library_range(kind, sets[i], bytes, pc);
}

#define SELECT(name, parameters, arguments)                                                    \
    EXPORT int __wrap_##name parameters {                                                      \
        fd_set *const sets[] = {readable, writable, failed};                                   \
        selected(LOAD, count, sets, CALLER);                                                   \
        int result = REAL(name) arguments;                                                     \
        if (result >= 0) selected(STORE, count, sets, CALLER);                                 \
        return result;                                                                         \
    }
SELECT(select,
       (int count, fd_set *readable, fd_set *writable, fd_set *failed, struct timeval *limit),
       (count, readable, writable, failed, limit))
SELECT(pselect,
       (int count, fd_set *readable, fd_set *writable, fd_set *failed,
        const struct timespec *limit, const sigset_t *signals),
       (count, readable, writable, failed, limit, signals))
WRAPPER(int, epoll_wait, (int file, struct epoll_event *to, int most, int limit),
        (file, to, most, limit), if (result > 0) WRITTEN(to, result * sizeof *to))
WRAPPER(int, epoll_pwait,
        (int file, struct epoll_event *to, int most, int limit, const sigset_t *signals),
        (file, to, most, limit, signals), if (result > 0) WRITTEN(to, result * sizeof *to))
WRAPPER(int, epoll_ctl, (int file, int action, int other, struct epoll_event *event),
        (file, action, other, event), READ_OBJECT(event))

WRAPPER(int, socketpair, (int domain, int type, int protocol, int to[2]),
        (domain, type, protocol, to), if (!result) WRITTEN(to, 2 * sizeof *to))
// An address, or an option, of at most so many bytes as `*length` says before.
#define WITH_LENGTH(name, parameters, arguments)                                     \
    EXPORT int __wrap_##name parameters {                                            \
        socklen_t room = length ? *length : 0;                                       \
        int result = REAL(name) arguments;                                           \
        if (!result && to && length) {                                               \
            WRITTEN(to, *length < room ? *length : room);                            \
            WRITTEN_OBJECT(length);                                                  \
        }                                                                            \
        return result;                                                               \
    }
WITH_LENGTH(getsockname, (int file, struct sockaddr *to, socklen_t *length), (file, to, length))
WITH_LENGTH(getpeername, (int file, struct sockaddr *to, socklen_t *length), (file, to, length))
WITH_LENGTH(getsockopt, (int file, int level, int name, void *to, socklen_t *length),
            (file, level, name, to, length))
WRAPPER(int, inet_pton, (int family, const char *from, void *to), (family, from, to),
        READ_TEXT(from);
        if (result > 0) WRITTEN(to, family == AF_INET ? sizeof(struct in_addr)
                                                      : sizeof(struct in6_addr)))
WRAPPER(int, inet_aton, (const char *from, struct in_addr *to), (from, to), READ_TEXT(from);
        if (result) WRITTEN_OBJECT(to))
WRAPPER(const char *, inet_ntop, (int family, const void *from, char *to, socklen_t size),
        (family, from, to, size), if (result) WRITTEN_TEXT(result))
FILL(getaddrinfo,
     (const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **to),
     (name, service, hints, to))

// Generators of random numbers: their state is read and written.
#define RESULT_OF(name, state_type, result_type)                                              \
    WRAPPER(int, name, (state_type *state, result_type *to), (state, to), READ_OBJECT(state); \
            WRITTEN_OBJECT(state); WRITTEN_OBJECT(to))
WRAPPER(int, rand_r, (unsigned *state), (state), READ_OBJECT(state); WRITTEN_OBJECT(state))
#define STATE_OF_48(type, name)                                                            \
    WRAPPER(type, name, (unsigned short state[3]), (state), READ(state, 3 * sizeof *state); \
            WRITTEN(state, 3 * sizeof *state))
STATE_OF_48(double, erand48)
STATE_OF_48(long, nrand48)
STATE_OF_48(long, jrand48)
RESULT_OF(drand48_r, struct drand48_data, double)
RESULT_OF(lrand48_r, struct drand48_data, long)
RESULT_OF(mrand48_r, struct drand48_data, long)
RESULT_OF(random_r, struct random_data, int32_t)

#define OUTERMOST 4096  // bytes that the locals of a thread's first function may have

// Whether an object is a local one of the function that calls: the compiler itself makes sincos() of
// sin() and cos(), with such objects that the program has not.
static int is_local(const void *object) {
    const uint64_t own = self.calls - 1;
    if (!self.tree || own >= MOST_CALLS) return 0;
    // Its part of the stack ends at that of its caller, of which the lower end is known.
    uintptr_t end = own ? self.tree->stack[own - 1] : self.tree->stack[own] + OUTERMOST;
    return (uintptr_t)object >= (uintptr_t)__builtin_frame_address(0) && (uintptr_t)object < end;
}

#define MATHEMATICS(type, suffix)                                                              \
    WRAPPER(type, modf##suffix, (type value, type *to), (value, to), WRITTEN_OBJECT(to))       \
    WRAPPER(type, frexp##suffix, (type value, int *to), (value, to), WRITTEN_OBJECT(to))       \
    WRAPPER(type, lgamma##suffix##_r, (type value, int *to), (value, to), WRITTEN_OBJECT(to))  \
    WRAPPER(type, remquo##suffix, (type value, type by, int *to), (value, by, to),             \
            WRITTEN_OBJECT(to))                                                                \
    EXPORT void __wrap_sincos##suffix(type value, type *sine, type *cosine) {                  \
        REAL(sincos##suffix)(value, sine, cosine);                                             \
        if (!is_local(sine)) WRITTEN_OBJECT(sine);                                             \
        if (!is_local(cosine)) WRITTEN_OBJECT(cosine);                                         \
    }
MATHEMATICS(double, )
MATHEMATICS(float, f)
MATHEMATICS(long double, l)
