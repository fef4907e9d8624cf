// Says of JSON lines that all of them are sound, fast, or nothing.
#ifndef FERRY_JSON_LINES_H
#define FERRY_JSON_LINES_H

#include <stddef.h>
#include <stdint.h>

// What a check of whole lines found.
struct ferry_json_lines {
    // Line feeds, and lines that are not blank.
    int64_t lines, events;
};

// Whether each of the lines in `bytes` is blank or one JSON value (RFC 8259) in valid UTF-8 (RFC 3629), with objects and arrays at most
// 512 deep. The last byte must be a line feed. Returns 0 when one is not, or when it is not sure; reads nothing beyond `count` bytes.
int ferry_check_json_lines(const uint8_t *bytes, size_t count, struct ferry_json_lines *found);

#endif
