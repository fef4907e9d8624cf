#include "ferry_json_lines.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

// Quotes and backslashes are looked for 16 bytes at a time while as many are left, then one by one.

enum { WIDTH = 16 };

// Returns the first quote or backslash from `at` on; `end` when there is none.
static inline const uint8_t *quote_or_backslash(const uint8_t *at, const uint8_t *end) {
#if defined(__SSE2__)
    const __m128i quotes = _mm_set1_epi8('"'), backslashes = _mm_set1_epi8('\\');
    while (end - at >= WIDTH) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)at);
        int found = _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(bytes, quotes), _mm_cmpeq_epi8(bytes, backslashes)));
        if (found) return at + __builtin_ctz((unsigned)found);
        at += WIDTH;
    }
#endif
    while (at < end && *at != '"' && *at != '\\') at++;
    return at;
}

static inline const uint8_t *string_end(const uint8_t *at, const uint8_t *end, int *is_escaped) {
    for (;;) {
        at = quote_or_backslash(at, end);
        if (at == end) return NULL;
        if (*at == '"') return at;
        *is_escaped = 1;
        // What is escaped may be a quote, and may be missing.
        if (end - at < 2) return NULL;
        at += 2;
    }
}

const uint8_t *ferry_json_string_end(const uint8_t *at, const uint8_t *end, int *is_escaped) {
    *is_escaped = 0;
    return string_end(at, end, is_escaped);
}

// Returns the first quote or bracket from `at` on; `end` when there is none.
static inline const uint8_t *quote_or_bracket(const uint8_t *at, const uint8_t *end) {
#if defined(__SSE2__)
    // Square brackets become curly ones with this bit; no other byte but these and quotes matters.
    const __m128i bit = _mm_set1_epi8(0x20), open = _mm_set1_epi8('{'), closed = _mm_set1_epi8('}'), quotes = _mm_set1_epi8('"');
    while (end - at >= WIDTH) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)at), curly = _mm_or_si128(bytes, bit);
        __m128i brackets = _mm_or_si128(_mm_cmpeq_epi8(curly, open), _mm_cmpeq_epi8(curly, closed));
        int found = _mm_movemask_epi8(_mm_or_si128(brackets, _mm_cmpeq_epi8(bytes, quotes)));
        if (found) return at + __builtin_ctz((unsigned)found);
        at += WIDTH;
    }
#endif
    while (at < end && *at != '"' && (*at | 0x20) != '{' && (*at | 0x20) != '}') at++;
    return at;
}

const uint8_t *ferry_json_nested_end(const uint8_t *at, const uint8_t *end) {
    size_t depth = 0;
    for (;;) {
        at = quote_or_bracket(at, end);
        if (at == end) return NULL;
        if (*at == '"') {
            int is_escaped;
            at = string_end(at + 1, end, &is_escaped);
            if (!at) return NULL;
        } else if ((*at | 0x20) == '{') {
            depth++;
        } else if (depth <= 1) {
            return at + 1;
        } else {
            depth--;
        }
        at++;
    }
}
