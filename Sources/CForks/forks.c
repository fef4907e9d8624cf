#define _GNU_SOURCE
#include "cforks.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

static int forks = 0;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t hold = PTHREAD_MUTEX_INITIALIZER;

// One bit for each descriptor number. Numbers beyond it are not kept apart; no program of this kind has so many files open.
enum { words = 1024, bits = 64 };
static uint64_t owned[words];

static void hold_forks(void) { pthread_mutex_lock(&hold); }
static void allow_forks(void) { pthread_mutex_unlock(&hold); }

static void give_up_owned(void) {
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int word = 0; word < words; word++) {
        uint64_t rest = owned[word];
        owned[word] = 0;
        for (; rest != 0; rest &= rest - 1) {
            int descriptor = word * bits + __builtin_ctzll(rest);
            if (nothing < 0 || dup3(nothing, descriptor, O_CLOEXEC) < 0) close(descriptor);
        }
    }
    if (nothing >= 0) close(nothing);
}

static void in_child(void) {
    __atomic_fetch_add(&forks, 1, __ATOMIC_RELAXED);
    give_up_owned();
    allow_forks();
}

static void watch(void) { pthread_atfork(hold_forks, allow_forks, in_child); }

void ferry_watch_forks(void) { pthread_once(&once, watch); }

int ferry_fork_count(void) { return __atomic_load_n(&forks, __ATOMIC_RELAXED); }

void ferry_hold_forks(void) { hold_forks(); }
void ferry_allow_forks(void) { allow_forks(); }

void ferry_own_descriptor(int descriptor) {
    if (descriptor < 0 || descriptor >= words * bits) return;
    __atomic_fetch_or(&owned[descriptor / bits], 1ULL << descriptor % bits, __ATOMIC_RELAXED);
}

void ferry_disown_descriptor(int descriptor) {
    if (descriptor < 0 || descriptor >= words * bits) return;
    uint64_t bit = 1ULL << descriptor % bits;
    // Most descriptors have no lock: a look is cheaper than a locked instruction.
    if (__atomic_load_n(&owned[descriptor / bits], __ATOMIC_RELAXED) & bit) {
        __atomic_fetch_and(&owned[descriptor / bits], ~bit, __ATOMIC_RELAXED);
    }
}
