#define _GNU_SOURCE
#include "ctracker.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void ferry_ring(unsigned *bell) {
    __atomic_store_n(bell, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, bell, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void ferry_wait_for_ring(unsigned *bell, long long nanoseconds) {
    // FUTEX_WAIT goes by CLOCK_MONOTONIC (futex(2)), and by no time at all where it has rung.
    struct timespec time = {(time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000)};
    if (__atomic_load_n(bell, __ATOMIC_ACQUIRE) == 0)
        syscall(SYS_futex, bell, FUTEX_WAIT_PRIVATE, 0, nanoseconds < 0 ? NULL : &time, NULL, 0);
    __atomic_store_n(bell, 0, __ATOMIC_RELEASE);
}

void ferry_give_way(int nice) {
    // On Linux a nice value is a thread's own (sched(7)). Being refused changes nothing but the order of work.
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), nice);
}
