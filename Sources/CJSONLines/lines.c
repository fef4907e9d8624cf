#include "ferry_json_lines.h"

#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

// One pass over the bytes. Those that may mean something in a string are found 64 at a time, ahead of where the check is, so that it waits for no
// byte; digits are passed over 16 at a time. Every load is checked against the end.

enum { WINDOW = 64, DIGITS = 16, DEEPEST = 512 };

struct text {
    const uint8_t *end;
    // The window, and a bit for each of its odd bytes that the check has not come to. Odd is what is no plain ASCII in a string: control
    // characters, quotes, backslashes, and bytes above 127.
    const uint8_t *window;
    uint64_t odd;
};

#if defined(__SSE2__)
static inline uint64_t odd_of_16(const uint8_t *at) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)at);
    // Signed: bytes above 127 are below the space, too.
    __m128i odd = _mm_or_si128(
        _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20)),
        _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))));
    return (uint64_t)(unsigned)_mm_movemask_epi8(odd);
}

static inline unsigned digits_of_16(const uint8_t *at) {
    // '0' to '9' become the ten highest signed values.
    __m128i bytes = _mm_add_epi8(_mm_loadu_si128((const __m128i *)at), _mm_set1_epi8((char)(127 - '9')));
    int other = _mm_movemask_epi8(_mm_cmplt_epi8(bytes, _mm_set1_epi8(118)));
    return (unsigned)__builtin_ctz((unsigned)other | 1u << DIGITS);
}
#else
static inline uint64_t odd_of_16(const uint8_t *at) {
    uint64_t odd = 0;
    for (int i = 0; i < 16; i++)
        odd |= (uint64_t)(at[i] < 0x20 || at[i] >= 0x80 || at[i] == '"' || at[i] == '\\') << i;
    return odd;
}

static inline unsigned digits_of_16(const uint8_t *at) {
    unsigned count = 0;
    while (count < DIGITS && (uint8_t)(at[count] - '0') < 10) count++;
    return count;
}
#endif

static inline uint64_t odd_of_window(const struct text *text) {
    const uint8_t *at = text->window;
    uint8_t rest[WINDOW];
    if (__builtin_expect(text->end - at < WINDOW, 0)) {
        memset(rest, 0, WINDOW);
        memcpy(rest, at, (size_t)(text->end - at));
        at = rest;
    }
    return odd_of_16(at) | odd_of_16(at + 16) << 16 | odd_of_16(at + 32) << 32 | odd_of_16(at + 48) << 48;
}

// Goes to the next odd byte. There is one: the last byte is a line feed, and the check goes behind it only at its end.
static inline const uint8_t *next_odd(struct text *text) {
    while (text->odd == 0) {
        text->window += WINDOW;
        text->odd = odd_of_window(text);
    }
    const uint8_t *at = text->window + __builtin_ctzll(text->odd);
    text->odd &= text->odd - 1;
    return at;
}

static inline unsigned digits(const struct text *text, const uint8_t *at) {
    if (__builtin_expect(text->end - at >= DIGITS, 1)) return digits_of_16(at);
    uint8_t rest[DIGITS] = {0};
    memcpy(rest, at, (size_t)(text->end - at));
    return digits_of_16(rest);
}

static inline int is_tail(uint8_t byte) { return (byte & 0xc0) == 0x80; }

// Returns the length of the well-formed sequence of several bytes that starts here (RFC 3629, section 4); 0 when there is none.
static inline unsigned utf8(const uint8_t *at) {
    uint8_t first = at[0];
    if (first < 0xc2 || first > 0xf4 || !is_tail(at[1])) return 0;
    if (first < 0xe0) return 2;
    if (!is_tail(at[2])) return 0;
    if (first < 0xf0) return (first == 0xe0 && at[1] < 0xa0) || (first == 0xed && at[1] > 0x9f) ? 0 : 3;
    return !is_tail(at[3]) || (first == 0xf0 && at[1] < 0x90) || (first == 0xf4 && at[1] > 0x8f) ? 0 : 4;
}

static inline int is_hex(uint8_t byte) { return (uint8_t)(byte - '0') < 10 || (uint8_t)((byte | 0x20) - 'a') < 6; }

// Goes behind the string whose quote is here. NULL when it is none.
static inline const uint8_t *string(struct text *text) {
    next_odd(text);
    for (;;) {
        const uint8_t *at = next_odd(text);
        if (__builtin_expect(*at == '"', 1)) return at + 1;
        if (*at == '\\') {
            switch (at[1]) {
            case '"': case '\\':
                next_odd(text);
                break;
            case '/': case 'b': case 'f': case 'n': case 'r': case 't': break;
            case 'u':
                if (!is_hex(at[2]) || !is_hex(at[3]) || !is_hex(at[4]) || !is_hex(at[5])) return NULL;
                break;
            default: return NULL;
            }
        } else {
            // A control character is none either.
            unsigned length = utf8(at);
            if (length == 0) return NULL;
            while (--length > 0) next_odd(text);
        }
    }
}

static inline const uint8_t *some_digits(const struct text *text, const uint8_t *at) {
    unsigned count = digits(text, at);
    if (count == 0) return NULL;
    at += count;
    while (__builtin_expect(count == DIGITS, 0)) {
        count = digits(text, at);
        at += count;
    }
    return at;
}

// Goes behind the number that starts here.
static inline const uint8_t *number(const struct text *text, const uint8_t *at) {
    if (*at == '-') at++;
    if (*at == '0') {
        at++;
    } else {
        at = some_digits(text, at);
        if (!at) return NULL;
    }
    if (*at == '.') {
        at = some_digits(text, at + 1);
        if (!at) return NULL;
    }
    if ((*at | 0x20) == 'e') {
        at++;
        if (*at == '+' || *at == '-') at++;
        at = some_digits(text, at);
    }
    return at;
}

static inline const uint8_t *spaces(struct text *text, const uint8_t *at) {
    if (__builtin_expect(*at > ' ', 1)) return at;
    for (;; at++) {
        if (*at == ' ') continue;
        if (*at != '\t' && *at != '\r') return at;
        next_odd(text);
    }
}

static inline const uint8_t *literal(const struct text *text, const uint8_t *at, const char *word, size_t length) {
    return (size_t)(text->end - at) >= length && memcmp(at, word, length) == 0 ? at + length : NULL;
}

// Goes behind the value that starts here, which is not blank. NULL when it is none.
static inline const uint8_t *value(struct text *text, const uint8_t *at) {
    // Which of the brackets around the innermost one are objects'.
    uint8_t outer[DEEPEST];
    unsigned depth = 0;
    int in_object = 0;
    for (;;) {
        uint8_t first = *at;
        if (first == '{' || first == '[') {
            if (depth == DEEPEST) return NULL;
            at = spaces(text, at + 1);
            // Both closing brackets are two above the opening ones.
            if (*at == first + 2) {
                at++;
            } else {
                outer[depth++] = (uint8_t)in_object;
                in_object = first == '{';
                if (in_object) goto key;
                continue;
            }
        } else {
            if (first == '"') at = string(text);
            else if ((uint8_t)(first - '0') < 10 || first == '-') at = number(text, at);
            else if (first == 't') at = literal(text, at, "true", 4);
            else if (first == 'f') at = literal(text, at, "false", 5);
            else if (first == 'n') at = literal(text, at, "null", 4);
            else return NULL;
            if (!at) return NULL;
        }
        // Behind a value.
        for (;;) {
            if (depth == 0) return at;
            at = spaces(text, at);
            if (__builtin_expect(*at == ',', 1)) break;
            if (*at != (in_object ? '}' : ']')) return NULL;
            at++;
            in_object = outer[--depth];
        }
        at = spaces(text, at + 1);
        if (!in_object) continue;
    key:
        if (*at != '"') return NULL;
        at = string(text);
        if (!at) return NULL;
        at = spaces(text, at);
        if (*at != ':') return NULL;
        at = spaces(text, at + 1);
    }
}

int ferry_check_json_lines(const uint8_t *bytes, size_t count, struct ferry_json_lines *found) {
    if (count == 0 || bytes[count - 1] != '\n') return 0;
    struct text text = {bytes + count, bytes, 0};
    text.odd = odd_of_window(&text);
    const uint8_t *at = bytes;
    int64_t lines = 0, events = 0;
    while (at < text.end) {
        at = spaces(&text, at);
        if (*at != '\n') {
            at = value(&text, at);
            if (!at) return 0;
            at = spaces(&text, at);
            if (*at != '\n') return 0;
            events++;
        }
        next_odd(&text);
        at++;
        lines++;
    }
    found->lines = lines;
    found->events = events;
    return 1;
}
