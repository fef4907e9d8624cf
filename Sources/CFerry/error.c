#include "ferry.h"
#include "ferry_error.h"

#include <string.h>

static _Thread_local char message[512];

void ferry_set_error(const char *text) {
    strncpy(message, text, sizeof message - 1);
    message[sizeof message - 1] = 0;
}

const char *ferry_error(void) { return message; }
