#include "ferry.h"
#include "ferry_error.h"

#include <string.h>

static _Thread_local char message[512];

void ferry_set_error(const char *text) {
    strncpy(message, text, sizeof message - 1);
    message[sizeof message - 1] = 0;
}

const char *ferry_error(void) { return message; }

// The longest text is a user's ID of 256 UTF-16 units, which take 3 bytes each at most.
static _Thread_local char kept[1024];

const char *ferry_keep_text(const char *text) {
    if (text == NULL) return NULL;
    strncpy(kept, text, sizeof kept - 1);
    kept[sizeof kept - 1] = 0;
    return kept;
}
