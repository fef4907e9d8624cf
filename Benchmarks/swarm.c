// Load generator: as many machines as the file has tokens, each on a connection of its own, all at once; each sends COUNT segments, the next
// when the one before is answered. Prints how many were taken and refused, the rate, and the time from a request's first byte to its answer.
// usage: swarm PORT TOKENS SEGMENT COUNT
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct machine { int fd, number, sent, headLength, answerLength; size_t written; double begun; char token[128], head[1024], answer[4096]; };

static char *body; static size_t bodyLength; static int port, count, taken, refused, left, epoll; static double *latencies;

static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }

static void fail(const char *what) { perror(what); exit(1); }

static void begin(struct machine *m) {
    m->headLength = snprintf(m->head, sizeof m->head,
        "POST /v1/segments HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\nContent-Type: application/x-ndjson\r\n"
        "Content-Encoding: gzip\r\nContent-Length: %zu\r\nIdempotency-Key: \"%08d%08d\"\r\n"
        "Ferry-Segment: 5-20261101T0000%02d.000Z-%08d%08d.jsonl.gz\r\n\r\n",
        port, m->token, bodyLength, m->number, m->sent, m->sent % 60, m->number, m->sent);
    m->written = 0; m->answerLength = 0; m->begun = now();
}

// Writes what the socket takes.
static void push(struct machine *m) {
    size_t total = m->headLength + bodyLength;
    while (m->written < total) {
        int inHead = m->written < (size_t)m->headLength;
        const char *from = inHead ? m->head + m->written : body + (m->written - m->headLength);
        size_t size = inHead ? m->headLength - m->written : total - m->written;
        ssize_t n = send(m->fd, from, size, MSG_NOSIGNAL | (inHead ? MSG_MORE : 0));
        if (n < 0) { if (errno == EAGAIN) return; fail("send"); }
        m->written += n;
    }
}

// Returns whether an answer is complete.
static int pull(struct machine *m) {
    for (;;) {
        ssize_t n = read(m->fd, m->answer + m->answerLength, sizeof m->answer - 1 - m->answerLength);
        if (n < 0 && errno == EAGAIN) return 0;
        if (n <= 0) { fprintf(stderr, "machine %d: the connection closed after %d\n", m->number, m->sent); exit(1); }
        m->answerLength += n; m->answer[m->answerLength] = 0;
        char *end = strstr(m->answer, "\r\n\r\n");
        if (!end) continue;
        char *length = strcasestr(m->answer, "content-length:");
        if (!length || m->answerLength >= (end + 4 - m->answer) + atoi(length + 15)) return 1;
    }
}

static int ascending(const void *a, const void *b) { double x = *(double *)a, y = *(double *)b; return (x > y) - (x < y); }

int main(int argc, char **v) {
    if (argc != 5) { fprintf(stderr, "usage: swarm PORT TOKENS SEGMENT COUNT\n"); return 64; }
    struct rlimit limit; getrlimit(RLIMIT_NOFILE, &limit); limit.rlim_cur = limit.rlim_max; setrlimit(RLIMIT_NOFILE, &limit);
    port = atoi(v[1]); count = atoi(v[4]);
    int file = open(v[3], O_RDONLY); struct stat s; if (file < 0 || fstat(file, &s)) fail(v[3]);
    bodyLength = s.st_size; body = malloc(bodyLength); if (read(file, body, bodyLength) != s.st_size) fail("read");
    FILE *tokens = fopen(v[2], "r"); if (!tokens) fail(v[2]);
    struct machine *machines = 0; int n = 0; char line[128];
    while (fgets(line, sizeof line, tokens)) {
        machines = realloc(machines, (n + 1) * sizeof *machines);
        line[strcspn(line, "\n")] = 0; strcpy(machines[n].token, line); machines[n].number = n; n++;
    }
    latencies = malloc((size_t)n * count * sizeof *latencies);
    epoll = epoll_create1(0);
    double start = now();
    for (int i = 0; i < n; i++) {
        struct machine *m = &machines[i]; m->sent = 0;
        m->fd = socket(AF_INET, SOCK_STREAM, 0);
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        if (connect(m->fd, (void *)&address, sizeof address)) fail("connect");
        int one = 1; setsockopt(m->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        fcntl(m->fd, F_SETFL, O_NONBLOCK);
        struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = m};
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, m->fd, &e)) fail("epoll_ctl");
    }
    for (int i = 0; i < n; i++) { begin(&machines[i]); push(&machines[i]); }
    left = n;
    int done = 0;
    while (left) {
        struct epoll_event events[256];
        int ready = epoll_wait(epoll, events, 256, 60000);
        if (ready == 0) { fprintf(stderr, "no answer for 60 s: %d of %d machines wait\n", left, n); return 1; }
        for (int i = 0; i < ready; i++) {
            struct machine *m = events[i].data.ptr;
            if (m->fd < 0) continue;
            push(m);
            if (!pull(m)) continue;
            latencies[done++] = now() - m->begun;
            if (strncmp(m->answer + 9, "200", 3) == 0) taken++;
            else if (refused++ < 3) fprintf(stderr, "machine %d: %.*s\n", m->number, (int)strcspn(m->answer, "\r"), m->answer);
            if (++m->sent == count) { close(m->fd); m->fd = -1; left--; continue; }
            begin(m); push(m);
        }
    }
    double seconds = now() - start;
    qsort(latencies, done, sizeof *latencies, ascending);
    printf("%d machines, %d taken, %d refused in %.2f s, %.0f/s; median %.3f s, 99 %% %.3f s, most %.3f s\n", n, taken, refused, seconds,
           done / seconds, latencies[done / 2], latencies[(int)(done * 0.99)], latencies[done - 1]);
    return refused != 0;
}
