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

// Passes over what is known to be sound, or is looked at nowhere else. Both return NULL where the end comes first, and read nothing beyond it.

// Returns the closing quote of the string whose text begins at `at`, and notes whether there is a backslash before it.
const uint8_t *ferry_json_string_end(const uint8_t *at, const uint8_t *end, int *is_escaped);

// Returns what is behind the bracket that closes the object or array that begins at `at`. Brackets of both kinds count alike.
const uint8_t *ferry_json_nested_end(const uint8_t *at, const uint8_t *end);

#endif
