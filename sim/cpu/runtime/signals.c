// Signals: a handler of the program's never runs inside the runtime, whose locks and half-written
// records its own events would meet.  It waits until the runtime is left.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <ucontext.h>

#include "record.h"

#define SIGNALS 65

static struct sigaction actions[SIGNALS];  // the program's own

static __thread struct {
    int is_waiting;
    siginfo_t information;
} arrived[SIGNALS];

static void call_handler(int number, siginfo_t *information, void *context) {
    const struct sigaction *action = &actions[number];
    if (action->sa_flags & SA_SIGINFO) action->sa_sigaction(number, information, context);
    else action->sa_handler(number);
}

// Signals that the thread's own instruction has raised: it cannot go on before they are handled.
static int is_synchronous(int number, const siginfo_t *information) {
    return information->si_code > 0 && (number == SIGSEGV || number == SIGBUS ||
                                        number == SIGFPE || number == SIGILL || number == SIGTRAP);
}

static void take_signal(int number, siginfo_t *information, void *context) {
    if (!self.depth || is_synchronous(number, information)) {
        call_handler(number, information, context);
        return;
    }
    arrived[number].information = *information;
    arrived[number].is_waiting = 1;
    self.has_signals = 1;
    sigaddset(&((ucontext_t *)context)->uc_sigmask, number);  // one of a kind waits at most
}

void racetrap_take_signals(void) {
    int error = errno;
    self.has_signals = 0;
    for (int number = 1; number < SIGNALS; number++) {
        if (!arrived[number].is_waiting) continue;
        siginfo_t information = arrived[number].information;
        ucontext_t context;
        sigset_t before, blocked = actions[number].sa_mask;
        getcontext(&context);
        sigaddset(&blocked, number);
        pthread_sigmask(SIG_BLOCK, &blocked, &before);
        arrived[number].is_waiting = 0;
        call_handler(number, &information, &context);
        sigdelset(&before, number);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    errno = error;
}

EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old) {
    if (number < 1 || number >= SIGNALS) {
        errno = EINVAL;
        return -1;
    }
    struct sigaction own, known = actions[number], before;
    if (action) {
        own = *action;
        if (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN) {
            own.sa_sigaction = take_signal;
            own.sa_flags |= SA_SIGINFO;
            actions[number] = *action;  // the handler may be called at once
        }
    }
    int error = REAL(sigaction)(number, action ? &own : NULL, &before);
    if (error) actions[number] = known;
    else if (old) *old = before.sa_sigaction == take_signal ? known : before;
    return error;
}

static sighandler_t set_handler(int number, sighandler_t handler, int flags) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;
    sigemptyset(&action.sa_mask);
    return sigaction(number, &action, &old) ? SIG_ERR : old.sa_handler;
}

EXPORT sighandler_t signal(int number, sighandler_t handler) {
    return set_handler(number, handler, SA_RESTART);
}

// signal() of programs that are compiled for standard C or for System V.
EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler) {
    return set_handler(number, handler, SA_RESETHAND | SA_NODEFER);
}
