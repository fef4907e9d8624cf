#include "cclock.h"

#include <time.h>

int64_t ferry_seconds(const void *time) { return ((const struct timespec *)time)->tv_sec; }
int64_t ferry_nanoseconds(const void *time) { return ((const struct timespec *)time)->tv_nsec; }

int64_t ferry_clock(int32_t clock) {
    struct timespec time = {0};
    int64_t nanoseconds;
    clock_gettime(clock, &time);
    if (__builtin_mul_overflow((int64_t)time.tv_sec, 1000000000, &nanoseconds)) return INT64_MAX;
    return __builtin_add_overflow(nanoseconds, (int64_t)time.tv_nsec, &nanoseconds) ? INT64_MAX : nanoseconds;
}
