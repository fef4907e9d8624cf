// Programs that fork and track: forks MODE SPOOL. What went wrong is one line; silence is well.
#define _GNU_SOURCE
#include <fcntl.h>
#include <ferry.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *options = "{\"lifecycle\": false}";

static ferry_tracker *opened(const char *spool) {
    ferry_tracker *tracker = ferry_open(spool, options);
    if (!tracker) {
        printf("cannot open: %s\n", ferry_error());
        exit(1);
    }
    return tracker;
}

static void track(ferry_tracker *tracker, const char *who, int from, int to) {
    for (int number = from; number < to; number++) {
        char properties[64];
        snprintf(properties, sizeof properties, "{\"n\": %d}", number);
        if (ferry_track(tracker, who, properties, number % 10 ? FERRY_NORMAL : FERRY_CRITICAL)) printf("%s: %s\n", who, ferry_error());
    }
}

static void wants(int code, int wanted, const char *call) {
    if (code != wanted) printf("%s returned %d, not %d: %s\n", call, code, wanted, ferry_error());
}

// Every function on the parent's tracker; none may wait for what the parent holds.
static void call_all(ferry_tracker *tracker) {
    wants(ferry_track(tracker, "child", NULL, FERRY_NORMAL), FERRY_FORKED, "track");
    wants(ferry_flush(tracker), FERRY_FORKED, "flush");
    wants(ferry_login(tracker, "child"), FERRY_FORKED, "login");
    wants(ferry_set_super_properties(tracker, "{\"child\": true}"), FERRY_FORKED, "set_super_properties");
    wants(ferry_set_super_properties(tracker, NULL), FERRY_FORKED, "set_super_properties");
    wants(ferry_set_enabled(tracker, 0), FERRY_FORKED, "set_enabled");
    wants(ferry_set_paused(tracker, 1), FERRY_FORKED, "set_paused");
    wants(ferry_is_enabled(tracker), 0, "is_enabled");
    ferry_foreground(tracker);
    ferry_background(tracker);
    ferry_start_session(tracker);
    wants(ferry_timer_start(tracker, "t"), FERRY_FORKED, "timer_start");
    wants(ferry_timer_pause(tracker, "t"), FERRY_FORKED, "timer_pause");
    wants(ferry_timer_resume(tracker, "t"), FERRY_FORKED, "timer_resume");
    wants(ferry_timer_end(tracker, "t", NULL, FERRY_NORMAL), FERRY_FORKED, "timer_end");
    wants(ferry_close(tracker), FERRY_FORKED, "close");
}

static void end_of(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) printf("a child ended with %#x\n", status);
}

// A server with four workers: each tracks with a tracker of its own, while the parent's goes on.
static void prefork(const char *spool) {
    ferry_tracker *tracker = opened(spool);
    track(tracker, "parent", 0, 100);
    pid_t workers[4];
    for (int worker = 0; worker < 4; worker++) {
        fflush(stdout);
        if ((workers[worker] = fork()) == 0) {
            alarm(60);
            call_all(tracker);
            ferry_tracker *own = opened(spool);
            char name[16];
            snprintf(name, sizeof name, "worker %d", worker);
            track(own, name, 0, 200);
            wants(ferry_close(own), FERRY_OK, "the worker's close");
            wants(ferry_track(tracker, "child", NULL, FERRY_NORMAL), FERRY_FORKED, "track");
            fflush(stdout);
            _exit(0);
        }
        track(tracker, "parent", 100 + worker * 100, 200 + worker * 100);
    }
    for (int worker = 0; worker < 4; worker++) end_of(workers[worker]);
    track(tracker, "parent", 500, 600);
    wants(ferry_close(tracker), FERRY_OK, "close");
}

// Opened before the process becomes a daemon, and closed by whom it was inherited: the daemon closes every file and opens a tracker anew.
static void daemonise(const char *spool) {
    ferry_tracker *tracker = opened(spool);
    track(tracker, "before", 0, 10);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        setsid();
        pid_t daemon = fork();
        if (daemon == 0) {
            alarm(60);
            for (int file = 3; file < 256; file++) close(file);
            ferry_tracker *own = opened(spool);
            track(own, "daemon", 0, 50);
            wants(ferry_close(tracker), FERRY_FORKED, "close of the inherited");
            track(own, "daemon", 50, 100);
            wants(ferry_close(own), FERRY_OK, "the daemon's close");
            fflush(stdout);
            _exit(0);
        }
        end_of(daemon);
        fflush(stdout);
        _exit(0);
    }
    end_of(child);
    wants(ferry_close(tracker), FERRY_OK, "close");
}

// A child that ignores the tracker is ended by SIGTERM, alone; one with a tracker of its own publishes first.
static void terminate(const char *spool) {
    ferry_tracker *tracker = opened(spool);
    track(tracker, "parent", 0, 10);
    for (int has_own = 0; has_own < 2; has_own++) {
        int ready[2];
        if (pipe(ready) != 0) exit(1);
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            alarm(60);
            if (has_own) track(opened(spool), "child", 0, 10);
            if (write(ready[1], "", 1) != 1) _exit(1);
            while (1) pause();
        }
        char byte;
        if (read(ready[0], &byte, 1) != 1) exit(1);
        kill(child, SIGTERM);
        int status = 0;
        waitpid(child, &status, 0);
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGTERM) printf("the child ended with %#x\n", status);
        track(tracker, "parent", 10 + has_own * 10, 20 + has_own * 10);
    }
    wants(ferry_close(tracker), FERRY_OK, "close");
}

// The parent is killed; the child, which lives on, keeps nothing of it locked. Prints the child's process.
static void orphan(const char *spool) {
    ferry_tracker *tracker = opened(spool);
    track(tracker, "parent", 0, 10);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        // What was given by the program that waits for the parent; the journals stay open.
        for (int file = 1; file < 4096; file++) {
            struct stat status;
            if (fstat(file, &status) == 0 && (file < 3 || S_ISSOCK(status.st_mode))) close(file);
        }
        while (1) pause();
    }
    printf("%d\n", (int)child);
    fflush(stdout);
    kill(getpid(), SIGKILL);
}

// Threads that track while the process forks: the child has copies of the locks that they held, and waits for none of it.
#include <pthread.h>

static void *busy(void *tracker) {
    track(tracker, "thread", 0, 2000);
    return NULL;
}

static void race(const char *spool) {
    ferry_tracker *tracker = opened(spool);
    pthread_t threads[4];
    for (int thread = 0; thread < 4; thread++) pthread_create(&threads[thread], NULL, busy, tracker);
    for (int round = 0; round < 50; round++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            alarm(60);
            call_all(tracker);
            fflush(stdout);
            _exit(0);
        }
        end_of(child);
    }
    for (int thread = 0; thread < 4; thread++) pthread_join(threads[thread], NULL);
    wants(ferry_close(tracker), FERRY_OK, "close");
}

static int open_beside(const char *spool, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s-%s", spool, name);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0) printf("cannot open %s\n", path);
    return file;
}

// A fork that runs no handlers, as fork(2) by its number and _Fork(3) do. The child has files of its own by the time that it calls.
static void raw(const char *spool) {
    ferry_tracker *tracker = opened(spool);
    track(tracker, "parent", 0, 10);
    fflush(stdout);
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        alarm(60);
        int files[32];
        for (int file = 3; file < 256; file++) close(file);
        for (int file = 0; file < 32; file++) files[file] = open_beside(spool, "child");
        call_all(tracker);
        for (int file = 0; file < 32; file++) {
            if (fcntl(files[file], F_GETFD) < 0) printf("a file of the child's is closed\n");
        }
        fflush(stdout);
        _exit(0);
    }
    end_of(child);
    track(tracker, "parent", 10, 20);
    wants(ferry_close(tracker), FERRY_OK, "close");
}

static int open_files(void) {
    int count = 0;
    for (int file = 0; file < 1024; file++) count += fcntl(file, F_GETFD) >= 0;
    return count;
}

// Each generation closes what it inherited, opens a tracker of its own and forks the next.
static void generations(const char *spool) {
    int first = 0;
    for (int generation = 0; generation < 40; generation++) {
        ferry_tracker *tracker = opened(spool);
        track(tracker, "generation", 0, 1);
        wants(ferry_flush(tracker), FERRY_OK, "flush");
        int files = open_files();
        if (generation == 0) first = files;
        // The tracker's own thread may have one open just now.
        if (files > first + 2) {
            printf("generation %d has %d files open, the first had %d\n", generation, files, first);
            fflush(stdout);
            _exit(0);
        }
        fflush(stdout);
        pid_t child = fork();
        if (child != 0) {
            end_of(child);
            wants(ferry_close(tracker), FERRY_OK, "the generation's close");
            fflush(stdout);
            _exit(0);
        }
        alarm(60);
        wants(ferry_close(tracker), FERRY_FORKED, "close of the inherited");
    }
}

// Every file is closed behind an open tracker's back, and the numbers are other files'.
static void close_all(const char *spool) {
    ferry_tracker *tracker = opened(spool);
    track(tracker, "before", 0, 10);
    int files[32];
    struct stat after[32], status;
    for (int file = 3; file < 256; file++) close(file);
    for (int file = 0; file < 32; file++) files[file] = open_beside(spool, "user");
    wants(ferry_flush(tracker), FERRY_FILE, "flush");
    for (int file = 0; file < 32; file++) fstat(files[file], &after[file]);
    track(tracker, "after", 0, 10);
    wants(ferry_flush(tracker), FERRY_OK, "flush");
    track(tracker, "after", 10, 20);
    wants(ferry_close(tracker), FERRY_OK, "close");
    for (int file = 0; file < 32; file++) {
        if (fstat(files[file], &status) != 0 || status.st_ino != after[file].st_ino) printf("a file of the program's is closed\n");
        else if (status.st_size != 0) printf("a file of the program's was written into\n");
    }
    // Nothing is left that could publish: the signal ends the process all the same.
    kill(getpid(), SIGTERM);
    sleep(5);
    printf("SIGTERM has no effect\n");
}

static int is_printing;

static void *printing(void *nothing) {
    while (__atomic_load_n(&is_printing, __ATOMIC_SEQ_CST)) {
        for (int file = 0; file < 3; file++) dprintf(file, "no event, but what the daemon prints\n");
    }
    return nothing;
}

// A daemon that has closed its standard streams, and goes on printing, in another thread as well.
static void print_on(const char *spool) {
    for (int file = 0; file < 3; file++) close(file);
    pthread_t printer;
    __atomic_store_n(&is_printing, 1, __ATOMIC_SEQ_CST);
    pthread_create(&printer, NULL, printing, NULL);
    ferry_tracker *tracker = opened(spool);
    for (int round = 0; round < 10; round++) {
        track(tracker, "daemon", round * 20, round * 20 + 20);
        for (int file = 0; file < 3; file++) dprintf(file, "no event, but what the daemon prints\n");
        if (round % 3 == 0) wants(ferry_flush(tracker), FERRY_OK, "flush");
    }
    int code = ferry_close(tracker);
    __atomic_store_n(&is_printing, 0, __ATOMIC_SEQ_CST);
    pthread_join(printer, NULL);
    struct stat status;
    for (int file = 0; file < 3; file++) {
        // /dev/null may have taken the place.
        if (fstat(file, &status) == 0 && !S_ISCHR(status.st_mode)) exit(1);
    }
    if (code != FERRY_OK) exit(1);
}

// A child of a process that has sent gets the error that it cannot, and waits for nothing; what it tracks is published.
static void sender(const char *spool) {
    const char *nowhere = "{\"to\": \"http://127.0.0.1:9/v1/segments\"}";
    for (int is_closed = 0; is_closed < 2; is_closed++) {
        ferry_tracker *tracker = opened(spool);
        track(tracker, "parent", 0, 10);
        wants(ferry_start_sending(tracker, nowhere), FERRY_OK, "start_sending");
        wants(ferry_dispatch(tracker, 1, NULL), FERRY_OK, "dispatch");
        if (is_closed) wants(ferry_close(tracker), FERRY_OK, "close");
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            ferry_tracker *own = opened(spool);
            track(own, "child", 0, 10);
            wants(ferry_start_sending(own, nowhere), FERRY_FORKED, "the child's start_sending");
            wants(ferry_dispatch(own, 1, NULL), FERRY_INVALID, "the child's dispatch");
            wants(ferry_stop_sending(own), FERRY_OK, "the child's stop_sending");
            wants(ferry_close(own), FERRY_OK, "the child's close");
            fflush(stdout);
            _exit(0);
        }
        end_of(child);
        if (!is_closed) wants(ferry_close(tracker), FERRY_OK, "close");
    }
}

// A crash is recorded by each tracker that is open, and by none that is closed; a child's is not its parent's.
static void crash(const char *spool) {
    char first[4096], second[4096], third[4096];
    snprintf(first, sizeof first, "%s/first", spool);
    snprintf(second, sizeof second, "%s/second", spool);
    snprintf(third, sizeof third, "%s/third", spool);
    options = "{\"lifecycle\": false, \"crashes\": true}";
    stack_t own = {.ss_sp = malloc(65536), .ss_size = 65536}, after;
    sigaltstack(&own, NULL);
    ferry_tracker *closed = opened(first);
    opened(second);
    opened(third);
    sigaltstack(NULL, &after);
    if (after.ss_sp != own.ss_sp) printf("the stack for signals is another\n");
    wants(ferry_close(closed), FERRY_OK, "close");
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) abort();
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT) printf("the child ended with %#x\n", status);
    fflush(stdout);
    *(volatile int *)16 = 1;
}

static void *use_first(void *spool) {
    ferry_tracker *tracker = opened(spool);
    track(tracker, "parent", 0, 5);
    wants(ferry_flush(tracker), FERRY_OK, "flush");
    wants(ferry_close(tracker), FERRY_OK, "close");
    return NULL;
}

// A child of a process another thread of which uses the library for the first time, begun ever later in that use.
static void fork_in_first_use(const char *spool, int microseconds) {
    pthread_t thread;
    pthread_create(&thread, NULL, use_first, (void *)spool);
    usleep((useconds_t)microseconds);
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        ferry_tracker *tracker = opened(spool);
        track(tracker, "child", 0, 1);
        wants(ferry_close(tracker), FERRY_OK, "close");
        fflush(stdout);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) printf("a child that was forked after %d µs ended with %x\n", microseconds, status);
    pthread_join(thread, NULL);
}

// Each use is the first one of a new process.
static void early(const char *spool) {
    for (int number = 0; number < 30; number++) {
        fflush(stdout);
        if (fork() == 0) {
            fork_in_first_use(spool, 100 * number);
            exit(0);
        }
        wait(NULL);
    }
}

// Of the library's own, for all that it does for a call or on its thread.
void ferry_begin_work(void);
void ferry_end_work(void);

static int in_work = 0;

static void *take_turns(void *unused) {
    for (int number = 0; number < 200; number++) {
        ferry_begin_work();
        if (__atomic_fetch_add(&in_work, 1, __ATOMIC_SEQ_CST) != 0) printf("two threads work at once\n");
        usleep(100);
        __atomic_fetch_sub(&in_work, 1, __ATOMIC_SEQ_CST);
        ferry_end_work();
    }
    return unused;
}

// In a child one thread works at a time: see forks.c of the library.
static void turns(const char *spool) {
    ferry_tracker *tracker = opened(spool);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        pthread_t threads[2];
        for (int thread = 0; thread < 2; thread++) pthread_create(&threads[thread], NULL, take_turns, NULL);
        for (int thread = 0; thread < 2; thread++) pthread_join(threads[thread], NULL);
        fflush(stdout);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) printf("the child ended with %x\n", status);
    wants(ferry_close(tracker), FERRY_OK, "close");
}

int main(int count, char **arguments) {
    if (count < 3) return 64;
    // Programs that start others may leave signals blocked in them.
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    const struct {
        const char *name;
        void (*run)(const char *);
    } modes[] = {{"prefork", prefork}, {"daemonise", daemonise}, {"terminate", terminate},
                 {"orphan", orphan},   {"race", race},           {"crash", crash},
                 {"raw", raw},         {"generations", generations}, {"close_all", close_all},
                 {"print_on", print_on}, {"sender", sender},   {"early", early},     {"turns", turns}};
    for (unsigned mode = 0; mode < sizeof modes / sizeof modes[0]; mode++) {
        if (strcmp(modes[mode].name, arguments[1]) == 0) modes[mode].run(arguments[2]);
    }
    return 0;
}
