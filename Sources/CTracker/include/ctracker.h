// The parts of FerryTracker that run inside signal handlers and forks, where Swift must not: only async-signal-safe calls
// (signal-safety(7)).
#ifndef FERRY_CTRACKER_H
#define FERRY_CTRACKER_H

extern int ferry_forks;

// Counts forks from now on.
void ferry_watch_forks(void);

// How many forks lie between this process and the one that called ferry_watch_forks() first.
static inline int ferry_fork_count(void) { return __atomic_load_n(&ferry_forks, __ATOMIC_RELAXED); }

// Records the next fatal signal in an open file: a line of fields, then a line for each frame of the stack. What handled the
// signal before handles it afterwards. -1 ends the recording.
void ferry_record_crashes(int descriptor);

// Which session a crash belongs to: up to 36 characters.
void ferry_set_crash_session(const char *session);

// Writes the signal's number as one byte to a descriptor on SIGTERM and SIGINT, where nothing handles them yet.
void ferry_announce_termination(int descriptor);

// Ends the process by the signal, as if nobody had handled it. Returns if somebody else handles the signal by now.
void ferry_end_by(int signal);

// Lowers the calling thread's priority.
void ferry_give_way(int nice);

#endif
