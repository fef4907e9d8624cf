#define _GNU_SOURCE
#include "ctracker.h"

#include <execinfo.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS};
enum { count = sizeof signals / sizeof signals[0], deepest = 64 };

static volatile int file = -1;
static struct sigaction before[count];
static char session[37];
static volatile sig_atomic_t is_recorded = 0;

static size_t put(char *line, size_t end, const char *text) {
    size_t length = strlen(text);
    memcpy(line + end, text, length);
    return end + length;
}

static size_t put_number(char *line, size_t end, uint64_t number, unsigned base) {
    char digits[20];
    size_t start = sizeof digits;
    do digits[--start] = "0123456789abcdef"[number % base];
    while ((number /= base) > 0);
    memcpy(line + end, digits + start, sizeof digits - start);
    return end + sizeof digits - start;
}

// One line: what happened, in fields that a reader needs no other source for.
static void record(int number, const siginfo_t *info) {
    char line[256];
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    size_t end = put(line, 0, "signal=");
    end = put_number(line, end, (uint64_t)number, 10);
    end = put(line, end, " code=");
    if (info->si_code < 0) end = put(line, end, "-");
    end = put_number(line, end, (uint64_t)(info->si_code < 0 ? -(int64_t)info->si_code : info->si_code), 10);
    end = put(line, end, " address=");
    // The union holds an address only where the kernel raised the signal for one.
    end = put_number(line, end, info->si_code > 0 ? (uint64_t)(uintptr_t)info->si_addr : 0, 16);
    end = put(line, end, " time=");
    end = put_number(line, end, (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000, 10);
    end = put(line, end, " session=");
    end = put(line, end, session);
    end = put(line, end, "\n");
    if (write(file, line, end) < 0) return;
    void *frames[deepest];
    int depth = backtrace(frames, deepest);
    backtrace_symbols_fd(frames, depth, file);
    fdatasync(file);
}

static void handle(int number, siginfo_t *info, void *context) {
    (void)context;
    // The first crash counts, also when another thread crashes meanwhile, or this very handler does.
    if (!__atomic_exchange_n(&is_recorded, 1, __ATOMIC_SEQ_CST)) record(number, info);
    for (int index = 0; index < count; index++) {
        if (signals[index] == number) sigaction(number, &before[index], NULL);
    }
    // An instruction that failed fails again when this returns; a signal that was sent must be sent again.
    if (info->si_code <= 0) raise(number);
}

void ferry_record_crashes(int descriptor) {
    static int is_installed = 0;
    file = descriptor;
    if (is_installed) return;
    is_installed = 1;
    // The first call loads a library; in a handler it must not.
    void *frames[1];
    backtrace(frames, 1);
    // A stack that overflowed is none to run on.
    static char stack[65536];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, NULL);
    for (int index = 0; index < count; index++) {
        struct sigaction action = {0};
        action.sa_sigaction = handle;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigemptyset(&action.sa_mask);
        sigaction(signals[index], &action, &before[index]);
    }
}

void ferry_set_crash_session(const char *text) {
    strncpy(session, text, sizeof session - 1);
}
