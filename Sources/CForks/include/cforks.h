// What a process that may fork without exec keeps apart from its children. Whatever runs in the child is async-signal-safe
// (signal-safety(7)): the threads that held its other locks are gone there.
#ifndef FERRY_CFORKS_H
#define FERRY_CFORKS_H

// Counts forks from now on, and keeps what follows apart from the children.
void ferry_watch_forks(void);

// How many forks lie between this process and the one that called ferry_watch_forks() first.
int ferry_fork_count(void);

// Holds forks back until ferry_allow_forks(): what a thread changes in between, a child finds whole. Not to be nested; for a few
// instructions, not for a wait.
void ferry_hold_forks(void);
void ferry_allow_forks(void);

// A descriptor whose lock (flock(2)) is this process's alone. A fork shares locks: a child that keeps the descriptor keeps the lock after its
// parent's death. So in a child /dev/null takes its place; its number stays taken until the child closes it.
void ferry_own_descriptor(int descriptor);

// The descriptor is about to be closed.
void ferry_disown_descriptor(int descriptor);

#endif
