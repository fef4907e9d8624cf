#define _GNU_SOURCE
#include "ctracker.h"

#include <cforks.h>

#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS};
// A session of 36 characters, and a user of 256, which are up to 768 bytes, percent-encoded.
enum { count = sizeof signals / sizeof signals[0], deepest = 64, longest = 2400 };

// A tracker's own. The context is written into the half that is not read, then the halves change.
struct recording {
    int file;
    // Which file it is: a program that closes all descriptors closes this one too, and its number may be another file's.
    dev_t device;
    ino_t inode;
    int half;
    char context[2][longest];
};

enum { most = 16, is_free = -1, is_being_made = -2 };
static struct recording recordings[most] = {[0 ... most - 1] = {.file = is_free}};
static struct sigaction before[count];
static int is_recorded = 0;
// Handlers run in children made by vfork(2) too, which must not write in their parent's name.
static pid_t owner = 0;

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
static void record(int number, const siginfo_t *info, struct recording *recording) {
    int file = __atomic_load_n(&recording->file, __ATOMIC_SEQ_CST);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) return;
    if (status.st_dev != recording->device || status.st_ino != recording->inode) return;
    char line[256 + longest];
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
    end = put(line, end, " ");
    end = put(line, end, recording->context[__atomic_load_n(&recording->half, __ATOMIC_SEQ_CST)]);
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
    if (getpid() == owner && !__atomic_exchange_n(&is_recorded, 1, __ATOMIC_SEQ_CST)) {
        for (int index = 0; index < most; index++) record(number, info, &recordings[index]);
    }
    for (int index = 0; index < count; index++) {
        if (signals[index] == number) sigaction(number, &before[index], NULL);
    }
    // An instruction that failed fails again when this returns; a signal that was sent must be sent again.
    if (info->si_code <= 0) raise(number);
}

// A stack that overflowed is none to run on. Of one thread only.
static char stack[65536];
static int is_stack_taken = 0;

static void give_stack(void) {
    stack_t own = {0};
    // A runtime that has a stack for signals needs that one.
    if (sigaltstack(NULL, &own) != 0 || !(own.ss_flags & SS_DISABLE)) return;
    if (__atomic_exchange_n(&is_stack_taken, 1, __ATOMIC_SEQ_CST)) return;
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, NULL);
}

static void in_child(int is_late) {
    (void)is_late;
    for (int index = 0; index < most; index++) ferry_end_crash_recording(index);
    is_recorded = 0;
    stack_t own = {0};
    if (sigaltstack(NULL, &own) == 0 && own.ss_sp != stack) is_stack_taken = 0;
}

static void install(void) {
    // The first call loads a library; in a handler it must not.
    void *frames[1];
    backtrace(frames, 1);
    for (int index = 0; index < count; index++) {
        struct sigaction action = {0};
        action.sa_sigaction = handle;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigemptyset(&action.sa_mask);
        sigaction(signals[index], &action, &before[index]);
    }
    ferry_on_fork(in_child);
}

int ferry_record_crashes(int descriptor) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct stat status;
    if (fstat(descriptor, &status) != 0) return -1;
    owner = getpid();
    pthread_once(&once, install);
    give_stack();
    for (int index = 0; index < most; index++) {
        int none = is_free;
        struct recording *recording = &recordings[index];
        if (!__atomic_compare_exchange_n(&recording->file, &none, is_being_made, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) continue;
        recording->device = status.st_dev;
        recording->inode = status.st_ino;
        __atomic_store_n(&recording->file, descriptor, __ATOMIC_SEQ_CST);
        return index;
    }
    return -1;
}

void ferry_end_crash_recording(int recording) {
    if (recording < 0 || recording >= most) return;
    ferry_set_crash_context(recording, "");
    __atomic_store_n(&recordings[recording].file, is_free, __ATOMIC_SEQ_CST);
}

void ferry_set_crash_context(int recording, const char *text) {
    if (recording < 0 || recording >= most) return;
    struct recording *own = &recordings[recording];
    int other = !own->half;
    strncpy(own->context[other], text, sizeof own->context[other] - 1);
    __atomic_store_n(&own->half, other, __ATOMIC_SEQ_CST);
}
