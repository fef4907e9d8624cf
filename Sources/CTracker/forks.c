#include "ctracker.h"

#include <pthread.h>

int ferry_forks = 0;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void in_child(void) { ferry_forks++; }

static void watch(void) { pthread_atfork(NULL, NULL, in_child); }

void ferry_watch_forks(void) { pthread_once(&once, watch); }
