// The parts of FerryTracker that run inside signal handlers and after forks, where Swift must not: only async-signal-safe calls
// (signal-safety(7)).
#ifndef FERRY_CTRACKER_H
#define FERRY_CTRACKER_H

// Records the next fatal signal in an open file, beside the other files that record: a line of fields, then a line for each frame of the
// stack. What handled the signal before handles it afterwards. A stack that overflowed is recorded on threads that have an alternate
// signal stack; the calling thread is given one if it has none.
//
// Returns the recording, or -1 where there are 16 already. A fork's child has none of its parent's recordings.
int ferry_record_crashes(int descriptor);

// Ends a recording. The others go on.
void ferry_end_crash_recording(int recording);

// What else a crash's line has: up to 2399 bytes. To be called by one thread at a time.
void ferry_set_crash_context(int recording, const char *context);

// Calls `prepare` on a thread of its own on SIGTERM and SIGINT, where nothing handles them yet, then ends the process by the signal; also
// when `prepare` has not returned after 10 s, or when another signal comes. To be called again after a fork: the child's signals are as they
// were before.
//
// Returns 0, or the error number.
int ferry_watch_termination(void (*prepare)(void));

// A bell that one thread waits for. It goes by the steady clock: the semaphores of libdispatch wait until a time of the wall clock, which may be
// set back. Begins as 0.
void ferry_ring(unsigned *bell);

// Waits until it rings, or has rung since the last wait, or for so long; below 0 for ever. May return for nothing.
void ferry_wait_for_ring(unsigned *bell, long long nanoseconds);

// Lowers the calling thread's priority.
void ferry_give_way(int nice);

#endif
