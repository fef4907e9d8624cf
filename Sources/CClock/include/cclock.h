// The kernel's times. Swift says of struct timespec's members that they belong to one module or another, by what it happens to load first:
// here they are read where they have one home, and no header with them is shown.
#ifndef FERRY_CCLOCK_H
#define FERRY_CCLOCK_H

#include <stdint.h>

// The members of a struct timespec.
int64_t ferry_seconds(const void *time);
int64_t ferry_nanoseconds(const void *time);

// clock_gettime(2) in nanoseconds, which reach to the year 2262; what is later counts as then, and a clock that there is not as 0.
int64_t ferry_clock(int32_t clock);

#endif
