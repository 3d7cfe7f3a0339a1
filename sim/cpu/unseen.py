"""Functions of the C library whose writes through pointers the recorder does not see.

The system's headers declare which functions take a pointer to memory that they may change; the
recorder wraps many of these.  The others that a program calls are reported to the user, since their
accesses are missing in the trace.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from racetrap.sim.cpu.compiler import called_functions, recorded_functions
from racetrap.sim.cpu.errors import RecordError
from racetrap.sim.cpu.unsupported import undefined_symbols
from racetrap.sim.gnu_tools import run_tool

#: Headers of the C library, used if present.
_HEADERS = (
    "arpa/inet", "complex", "dirent", "dlfcn", "fcntl", "fenv", "fnmatch", "ftw", "getopt",
    "glob", "grp", "iconv", "ifaddrs", "inttypes", "langinfo", "libgen", "link", "locale",
    "malloc", "math", "mntent", "monetary", "mqueue", "net/if", "netdb", "netinet/in", "poll",
    "printf", "pthread", "pty", "pwd", "regex", "resolv", "sched", "search", "semaphore",
    "setjmp", "signal", "spawn", "stdio", "stdio_ext", "stdlib", "string", "strings",
    "sys/epoll", "sys/eventfd", "sys/inotify", "sys/ioctl", "sys/ipc", "sys/mman", "sys/msg",
    "sys/prctl", "sys/random", "sys/resource", "sys/select", "sys/sem", "sys/sendfile",
    "sys/shm", "sys/signalfd", "sys/socket", "sys/stat", "sys/statfs", "sys/statvfs",
    "sys/sysinfo", "sys/time", "sys/timerfd", "sys/times", "sys/timex", "sys/uio", "sys/un",
    "sys/utsname", "sys/wait", "sys/xattr", "syslog", "termios", "threads", "time", "uchar",
    "ucontext", "unistd", "utime", "wchar", "wctype",
)  # fmt: skip
_PROTOTYPE = re.compile(r"/\* .* \*/ extern .*?(\w+) \((.*)\);")
#: Opaque types of the library, or types that order threads.
_OWN_TYPES = re.compile(
    r"(struct )?(FILE|__FILE|_IO_FILE|DIR|__dirstream|pthread_\w+|sem_t|\w*va_list\w*|mtx_t|cnd_t"
    r"|once_flag|tss_t|thrd_t|\w*locale_\w+|\w*sigset_t|posix_spawn\w+|\w*jmp_buf\w*|ucontext_t|_*pthread_\w+"
    r"|mbstate_t|__mbstate_t)\b"
)
#: Functions that only pass a pointer on, or whose memory is not an object of the program.
HARMLESS = frozenset({
    "brk", "sbrk", "mmap", "mmap64", "munmap", "mremap", "madvise", "posix_madvise", "msync",
    "mlock", "munlock", "mprotect", "pkey_mprotect", "mincore", "remap_file_pages", "dlsym",
    "dlvsym", "dlclose", "dl_iterate_phdr", "pthread_attr_setstack",
    "pthread_setspecific", "pthread_exit", "tss_set",
    "on_exit", "setbuf", "setvbuf", "setbuffer", "fmemopen", "putenv", "execv", "execve",
    "execvp", "execvpe", "execveat", "fexecve", "posix_spawn", "posix_spawnp", "shmdt",
    "sigaltstack", "freeaddrinfo", "freeifaddrs", "free", "cfree", "malloc_usable_size",
})  # fmt: skip


def _parameters(text: str) -> list[str]:
    """Types of a function's parameters."""
    found, depth, current = [], 0, ""
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            found.append(current.strip())
            current = ""
        else:
            current += letter
    return [*found, current.strip()]


def _may_be_written(parameter: str) -> bool:
    """Whether a parameter is a pointer through which the program's memory may be changed."""
    if "(*" in parameter or "*" not in parameter or _OWN_TYPES.match(parameter):
        return False
    target = parameter.rpartition("*")[0]
    # `const char *` points to constants, `const char **` to a pointer that may be written.
    return not (target.startswith("const ") if "*" not in target else target.endswith("const "))


@cache
def writing_functions() -> frozenset[str]:
    """Functions that the system's headers declare with a pointer to memory that they may change.

    Raises
    ------
    RecordError
        If the headers cannot be compiled.
    """
    lines = [f"#if __has_include(<{name}.h>)\n#include <{name}.h>\n#endif" for name in _HEADERS]
    with TemporaryDirectory(prefix="racetrap-") as folder:
        source, listing = Path(folder, "headers.c"), Path(folder, "prototypes")
        source.write_text("#define _GNU_SOURCE\n" + "\n".join(lines))
        run_tool(
            ["gcc", "-w", "-fsyntax-only", "-aux-info", str(listing), str(source)],
            "Headers of the C library cannot be compiled",
            error=RecordError,
        )
        declared = _PROTOTYPE.findall(listing.read_text(errors="replace"))
    return frozenset(
        name for name, parameters in declared if any(map(_may_be_written, _parameters(parameters)))
    )


def unseen_functions(program: Path) -> list[str]:
    """Names of C library functions that a program uses and whose writes its trace lacks.

    Raises
    ------
    RecordError
        If its symbols, or the headers, cannot be read.
    """
    used = undefined_symbols(program) & writing_functions()
    return sorted(used - HARMLESS - recorded_functions() - called_functions())
