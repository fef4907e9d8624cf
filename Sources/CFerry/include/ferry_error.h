// For the library itself.
#ifndef FERRY_ERROR_H
#define FERRY_ERROR_H

// What ferry_error() returns on this thread; what does not fit is cut off.
void ferry_set_error(const char *text);

#endif
