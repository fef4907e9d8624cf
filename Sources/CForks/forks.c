#define _GNU_SOURCE
#include "cforks.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int forks = 0;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t hold = PTHREAD_MUTEX_INITIALIZER;

// Lies in a page that the kernel empties in a child, however the child was made (madvise(2), MADV_WIPEONFORK). NULL on kernels before 4.14, which
// leaves forks that run no handlers unnoticed.
static int *mark = NULL;
enum { is_wiped = 0, is_being_noticed = 1, is_noticed = 2 };

enum { most_handlers = 4 };
static void (*handlers[most_handlers])(int);
static int handler_count = 0;

// A bit for each descriptor number, in parts that are made when they are needed: as many as the kernel can be told to allow.
enum { parts = 1 << 14, words = 1 << 10, bits = 64 };
typedef uint64_t part[words];
static part *owned[parts];
// What a fork took from objects that were copied with it: their numbers may be other files' since.
static part *lost[parts];

// The inode of the socket that was opened under each descriptor number, by which a child knows whether it still is that one; 0: none.
enum { socket_parts = 1 << 10, socket_words = 1 << 10 };
typedef uint64_t socket_part[socket_words];
static socket_part *sockets[socket_parts];

// Threads that work, and threads that are about to fork.
static int working = 0;
static int forking = 0;
// Threads that create files whose descriptors are this process's alone, and threads that fork as soon as these have ended. Not yet while they wait for
// those that work: one of them may create a file.
static int creating = 0;
static int forking_next = 0;
// How often this thread has begun to work, and whether it is counted: it may rest meanwhile.
static __thread int begun = 0;
static __thread int is_counted = 0;
// In pauses of a millisecond. A thread that waits may hold what the other one needs.
enum { longest_wait = 1000 };

// In a fork's child one thread works at a time: the Swift runtime remembers the number of the thread that forked, which the child's has no more, and
// two threads that ask for the same type at once wait for each other for ever (futex(2), FUTEX_UNLOCK_PI by a thread that is not the owner: EPERM).
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static __thread int has_turn = 0;

static void pause_briefly(void) {
    struct timespec millisecond = {.tv_nsec = 1000 * 1000};
    nanosleep(&millisecond, NULL);
}

static void hold_forks(void) { pthread_mutex_lock(&hold); }
static void allow_forks(void) { pthread_mutex_unlock(&hold); }

// The word with a descriptor's bit; NULL where there is none, and none is to be made or can be.
static uint64_t *word_of(part **table, int descriptor, int is_made) {
    int index = descriptor / (words * bits);
    if (descriptor < 0 || index >= parts) return NULL;
    part *found = __atomic_load_n(&table[index], __ATOMIC_ACQUIRE);
    if (found == NULL && is_made) {
        part *made = calloc(1, sizeof(part));
        if (made == NULL) return NULL;
        if (__atomic_compare_exchange_n(&table[index], &found, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return &(*made)[descriptor / bits % words];
        free(made);
    }
    return found == NULL ? NULL : &(*found)[descriptor / bits % words];
}

static int has(part **table, int descriptor) {
    uint64_t *word = word_of(table, descriptor, 0);
    return word != NULL && __atomic_load_n(word, __ATOMIC_RELAXED) >> descriptor % bits & 1;
}

static void set(part **table, int descriptor, int is_set) {
    uint64_t *word = word_of(table, descriptor, is_set);
    uint64_t bit = 1ULL << descriptor % bits;
    if (word == NULL) return;
    if (is_set) __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
    // Most descriptors have no bit: a look is cheaper than a locked instruction.
    else if (__atomic_load_n(word, __ATOMIC_RELAXED) & bit) __atomic_fetch_and(word, ~bit, __ATOMIC_RELAXED);
}

// What was noticed late is not closed: a number may be another file's by then.
static void give_up_owned(int is_late) {
    for (int index = 0; index < parts; index++) {
        if (owned[index] == NULL) continue;
        for (int word = 0; word < words; word++) {
            uint64_t rest = (*owned[index])[word];
            (*owned[index])[word] = 0;
            (*lost[index])[word] |= rest;
            for (; rest != 0 && !is_late; rest &= rest - 1) close((index * words + word) * bits + __builtin_ctzll(rest));
        }
    }
}

static uint64_t socket_inode(int descriptor) {
    struct stat status;
    return fstat(descriptor, &status) == 0 && S_ISSOCK(status.st_mode) ? status.st_ino : 0;
}

// Also what was noticed late: a socket is closed only if it is the one.
static void give_up_sockets(void) {
    for (int index = 0; index < socket_parts; index++) {
        if (sockets[index] == NULL) continue;
        for (int word = 0; word < socket_words; word++) {
            uint64_t inode = (*sockets[index])[word];
            (*sockets[index])[word] = 0;
            int descriptor = index * socket_words + word;
            if (inode != 0 && socket_inode(descriptor) == inode) close(descriptor);
        }
    }
}

static void note_fork(int is_late) {
    // Of the other threads none is there. What is noticed late may be a thread of the child's own: it is waited for no more.
    __atomic_store_n(&forking, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&forking_next, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&working, is_counted, __ATOMIC_SEQ_CST);
    __atomic_store_n(&creating, 0, __ATOMIC_SEQ_CST);
    pthread_mutex_init(&turn, NULL);
    has_turn = 0;
    __atomic_fetch_add(&forks, 1, __ATOMIC_RELAXED);
    for (int index = 0; index < handler_count; index++) handlers[index](is_late);
    give_up_owned(is_late);
    give_up_sockets();
    if (mark != NULL) __atomic_store_n(mark, is_noticed, __ATOMIC_RELEASE);
}

static void before_fork(void) {
    int saved = errno;
    __atomic_fetch_add(&forking, 1, __ATOMIC_SEQ_CST);
    for (int waited = 0; __atomic_load_n(&working, __ATOMIC_SEQ_CST) > is_counted && waited < longest_wait; waited++) pause_briefly();
    __atomic_fetch_add(&forking_next, 1, __ATOMIC_SEQ_CST);
    for (int waited = 0; __atomic_load_n(&creating, __ATOMIC_SEQ_CST) > 0 && waited < longest_wait; waited++) pause_briefly();
    ferry_hold_forks();
    errno = saved;
}

static void in_parent(void) {
    __atomic_fetch_sub(&forking_next, 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_sub(&forking, 1, __ATOMIC_SEQ_CST);
    allow_forks();
}

static void in_child(void) {
    note_fork(0);
    allow_forks();
}

// Sees whether the process is the child of a fork that ran no handlers: fork(2) and clone(2) called as such, and _Fork(3).
static void notice(void) {
    if (mark == NULL) return;
    while (__atomic_load_n(mark, __ATOMIC_ACQUIRE) != is_noticed) {
        int expected = is_wiped;
        if (__atomic_compare_exchange_n(mark, &expected, is_being_noticed, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            // The thread that held it may not be there.
            pthread_mutex_init(&hold, NULL);
            note_fork(1);
        } else if (expected == is_being_noticed) {
            sched_yield();
        }
    }
}

static void watch(void) {
    long size = sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED && madvise(page, (size_t)size, MADV_WIPEONFORK) == 0) {
        *(int *)page = is_noticed;
        mark = page;
    }
}

// When the library is loaded: the handlers of a program that registers its own later then run first, so that a lock of the program's which its
// handler takes, and under which it calls Ferry, is taken before Ferry's.
__attribute__((constructor)) static void register_handlers(void) { pthread_atfork(before_fork, in_parent, in_child); }

void ferry_watch_forks(void) { pthread_once(&once, watch); }

int ferry_fork_count(void) {
    notice();
    return __atomic_load_n(&forks, __ATOMIC_RELAXED);
}

void ferry_on_fork(void (*handler)(int is_late)) {
    ferry_hold_forks();
    if (handler_count < most_handlers) handlers[handler_count++] = handler;
    ferry_allow_forks();
}

void ferry_hold_forks(void) {
    notice();
    hold_forks();
}

void ferry_begin_creating(void) {
    notice();
    for (int waited = 0;; waited++) {
        __atomic_fetch_add(&creating, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&forking_next, __ATOMIC_SEQ_CST) == 0 || waited == longest_wait) return;
        __atomic_fetch_sub(&creating, 1, __ATOMIC_SEQ_CST);
        pause_briefly();
    }
}

void ferry_end_creating(void) { __atomic_fetch_sub(&creating, 1, __ATOMIC_SEQ_CST); }

void ferry_allow_forks(void) { allow_forks(); }

static void count_this_thread(void) {
    for (int waited = 0;; waited++) {
        __atomic_fetch_add(&working, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&forking, __ATOMIC_SEQ_CST) == 0 || waited == longest_wait) break;
        __atomic_fetch_sub(&working, 1, __ATOMIC_SEQ_CST);
        pause_briefly();
    }
    is_counted = 1;
    for (int waited = 0; !has_turn && __atomic_load_n(&forks, __ATOMIC_RELAXED) > 0 && waited <= longest_wait; waited++) {
        has_turn = pthread_mutex_trylock(&turn) == 0;
        if (!has_turn) pause_briefly();
    }
}

static void count_this_thread_no_more(void) {
    is_counted = 0;
    if (has_turn) pthread_mutex_unlock(&turn);
    has_turn = 0;
    __atomic_fetch_sub(&working, 1, __ATOMIC_SEQ_CST);
}

int ferry_is_early_call(void) {
    static int calls = 0;
    enum { early_calls = 1000 };
    return __atomic_load_n(&calls, __ATOMIC_RELAXED) < early_calls && __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED) < early_calls;
}

void ferry_begin_work(void) {
    if (begun++ == 0) count_this_thread();
}

void ferry_end_work(void) {
    if (--begun == 0 && is_counted) count_this_thread_no_more();
}

void ferry_begin_errand(void) { __atomic_fetch_add(&working, 1, __ATOMIC_SEQ_CST); }

void ferry_end_errand(void) { __atomic_fetch_sub(&working, 1, __ATOMIC_SEQ_CST); }

int ferry_rest(void) {
    if (!is_counted) return 0;
    count_this_thread_no_more();
    return 1;
}

void ferry_end_rest(int has_rested) {
    if (has_rested) count_this_thread();
}

void ferry_own_descriptor(int descriptor) {
    ferry_watch_forks();
    // Made here: after a fork there is no memory to be had.
    if (word_of(lost, descriptor, 1) != NULL) set(owned, descriptor, 1);
}

void ferry_disown_descriptor(int descriptor) { set(owned, descriptor, 0); }

void ferry_own_socket(int descriptor) {
    int index = descriptor / socket_words;
    if (descriptor < 0 || index >= socket_parts) return;
    socket_part *found = __atomic_load_n(&sockets[index], __ATOMIC_ACQUIRE);
    if (found == NULL) {
        socket_part *made = calloc(1, sizeof(socket_part));
        if (made == NULL) return;
        if (__atomic_compare_exchange_n(&sockets[index], &found, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) found = made;
        else free(made);
    }
    __atomic_store_n(&(*found)[descriptor % socket_words], socket_inode(descriptor), __ATOMIC_RELAXED);
}

void ferry_close_descriptor(int descriptor, int fork_count) {
    int is_own = fork_count == ferry_fork_count();
    if (!is_own && has(lost, descriptor)) return;
    // A child that another thread has just made holds a copy of every lock until its exec: closing alone would not give this one back. Where
    // forks may go unnoticed, the lock may be the parent's.
    if (is_own && mark != NULL && has(owned, descriptor)) flock(descriptor, LOCK_UN);
    ferry_disown_descriptor(descriptor);
    close(descriptor);
}
