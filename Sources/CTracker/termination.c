#define _GNU_SOURCE
#include "ctracker.h"

#include <cforks.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const int signals[] = {SIGTERM, SIGINT};
enum { count = sizeof signals / sizeof signals[0], patience = 10000, is_prepared = 0 };

// Signals come in at ends[1], as one byte with their number, and is_prepared when everything is ready for the end.
static int ends[2] = {-1, -1};
// Which pipe it is: a program that closes all descriptors closes these too, and their numbers may be other files'.
static struct stat pipe_status;
// The process that watches. A child made by vfork(2) or clone(2) sees its parent's variables, and runs no handlers of forks.
static pid_t owner = 0;
static void (*prepare_end)(void);

static int is_ours(int end) {
    struct stat status;
    return fstat(end, &status) == 0 && status.st_dev == pipe_status.st_dev && status.st_ino == pipe_status.st_ino;
}

static void announce(int number) {
    int saved = errno;
    if (getpid() == owner && is_ours(ends[1])) {
        unsigned char byte = (unsigned char)number;
        if (write(ends[1], &byte, 1) < 0) { /* a full pipe says the same */ }
    } else {
        signal(number, SIG_DFL);
        raise(number);
    }
    errno = saved;
}

static void set_handlers(void (*from)(int), void (*to)(int)) {
    for (int index = 0; index < count; index++) {
        struct sigaction action = {0};
        if (sigaction(signals[index], NULL, &action) != 0 || action.sa_handler != from) continue;
        action.sa_handler = to;
        action.sa_flags = SA_RESTART;
        sigfillset(&action.sa_mask);
        sigaction(signals[index], &action, NULL);
    }
}

static void end_by(int number) {
    struct sigaction action = {0};
    // Another part of the program handles the signal by now: whether to end is its decision.
    if (sigaction(number, NULL, &action) != 0 || action.sa_handler != announce) return;
    signal(number, SIG_DFL);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, number);
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
    kill(getpid(), number);
}

static void *prepare(void *unused) {
    (void)unused;
    prepare_end();
    unsigned char byte = is_prepared;
    if (!is_ours(ends[1]) || write(ends[1], &byte, 1) < 0) { /* the patience ends it */ }
    return NULL;
}

// Threads of ours take no signals: they are for the program's own.
static int start(void *(*body)(void *)) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    int error = pthread_create(&thread, NULL, body, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0) pthread_detach(thread);
    return error;
}

// The next byte; -1 after the time, -2 when there is nothing to wait for any more.
static int next(int milliseconds) {
    struct pollfd end = {.fd = ends[0], .events = POLLIN};
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long until = now.tv_sec * 1000 + now.tv_nsec / 1000000 + milliseconds;
    while (1) {
        int left = -1;
        if (milliseconds >= 0) {
            clock_gettime(CLOCK_MONOTONIC, &now);
            left = (int)(until - (now.tv_sec * 1000 + now.tv_nsec / 1000000));
            if (left < 0) return -1;
        }
        int ready = poll(&end, 1, left);
        if (ready == 0) return -1;
        unsigned char byte;
        if (ready > 0 && !is_ours(ends[0])) return -2;
        if (ready > 0 && read(ends[0], &byte, 1) == 1) return byte;
        if (errno != EINTR) return -2;
    }
}

static void *watch(void *unused) {
    (void)unused;
    while (1) {
        int number = next(-1);
        if (number == -2) return NULL;
        if (number == is_prepared) continue;
        if (start(prepare) == 0) next(patience);
        end_by(number);
    }
}

static void in_child(int is_late) {
    set_handlers(announce, SIG_DFL);
    owner = 0;
    for (int index = 0; index < 2; index++) {
        if (ends[index] >= 0 && !is_late) close(ends[index]);
        ends[index] = -1;
    }
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void watch_forks(void) { ferry_on_fork(in_child); }

// Opens the pipe behind the numbers of the standard streams: what a program prints that has closed these is no signal.
static int make_pipe(void) {
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    for (int index = 0; index < 2; index++) {
        if (ends[index] > 2) continue;
        int low = ends[index];
        ends[index] = fcntl(low, F_DUPFD_CLOEXEC, 3);
        close(low);
    }
    if (ends[0] >= 0 && ends[1] >= 0) return 0;
    in_child(0);
    errno = EMFILE;
    return -1;
}

int ferry_watch_termination(void (*prepare)(void)) {
    if (owner == getpid()) return 0;
    pthread_once(&once, watch_forks);
    // A handler never waits.
    if (make_pipe() != 0) return errno;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    fstat(ends[1], &pipe_status);
    prepare_end = prepare;
    owner = getpid();
    int error = start(watch);
    if (error != 0) {
        in_child(0);
        return error;
    }
    set_handlers(SIG_DFL, announce);
    return 0;
}
