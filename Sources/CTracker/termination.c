#include "ctracker.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

static const int signals[] = {SIGTERM, SIGINT};
static volatile int announce_to = -1;

static void announce(int signal) {
    int saved = errno;
    unsigned char byte = (unsigned char)signal;
    if (write(announce_to, &byte, 1) < 0) { /* a full pipe says the same */ }
    errno = saved;
}

void ferry_announce_termination(int descriptor) {
    announce_to = descriptor;
    for (unsigned index = 0; index < sizeof signals / sizeof signals[0]; index++) {
        struct sigaction action = {0};
        if (sigaction(signals[index], NULL, &action) != 0 || action.sa_handler != SIG_DFL) continue;
        action.sa_handler = announce;
        action.sa_flags = SA_RESTART;
        sigfillset(&action.sa_mask);
        sigaction(signals[index], &action, NULL);
    }
}

void ferry_end_by(int number) {
    struct sigaction action = {0};
    if (sigaction(number, NULL, &action) != 0 || action.sa_handler != announce) return;
    signal(number, SIG_DFL);
    kill(getpid(), number);
}
