#define _GNU_SOURCE
#include "cforks.h"

#include <fcntl.h>
#include <unistd.h>

static int change(int descriptor, int64_t place, short type) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = place, .l_len = 1};
    return fcntl(descriptor, F_OFD_SETLK, &lock);
}

int ferry_lock_place(int descriptor, int64_t place) { return change(descriptor, place, F_WRLCK); }

int ferry_unlock_place(int descriptor, int64_t place) { return change(descriptor, place, F_UNLCK); }
