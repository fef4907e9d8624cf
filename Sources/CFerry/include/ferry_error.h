// For the library itself.
#ifndef FERRY_ERROR_H
#define FERRY_ERROR_H

// What ferry_error() returns on this thread; what does not fit is cut off.
void ferry_set_error(const char *text);

// Keeps a text for the thread's caller until its next call, and returns the copy; NULL for NULL. What is longer than 1,023 bytes is cut off.
const char *ferry_keep_text(const char *text);

#endif
