// What a process that may fork without exec keeps apart from its children. What runs in the child is async-signal-safe
// (signal-safety(7)): the threads that held its other locks are gone there.
#ifndef FERRY_CFORKS_H
#define FERRY_CFORKS_H

#include <stdint.h>

// Counts forks from now on, and keeps what follows apart from the children.
void ferry_watch_forks(void);

// How many forks lie between this process and the one that called ferry_watch_forks() first. A fork that runs no handlers, as fork(2) called
// by its number, is noticed here.
int ferry_fork_count(void);

// Has `handler` called in children. `is_late`: the fork ran no handlers, and is noticed at a later call; descriptors may be closed by then, and
// their numbers other files'. For a few parts of a program; in a child, everything is called once.
void ferry_on_fork(void (*handler)(int is_late));

// Holds forks back until ferry_allow_forks(): what a thread changes in between, a child finds whole. Not to be nested; for a few
// instructions, not for a wait.
void ferry_hold_forks(void);
void ferry_allow_forks(void);
// Around the creation of a file whose descriptor becomes this process's own. Many threads may create at once: one whose disk stands still holds up no
// other. A fork waits for them, and what would begin waits for the fork, each for a second at most: a handler of the program's may wait for a lock under
// which the program calls Ferry.
void ferry_begin_creating(void);
void ferry_end_creating(void);

// Work in which the Swift runtime may take a lock of its own for the first use of a type: a child that is forked in that moment would wait for it
// for ever. A fork waits until all other threads' work has ended, and work that would begin waits for the fork, each for a second at most.
void ferry_begin_work(void);
void ferry_end_work(void);

// The same for work that goes from thread to thread, as tasks do.
void ferry_begin_errand(void);
void ferry_end_errand(void);

// Whether a call of what is called often is one of the first of this process: later the runtime knows the types, and takes no lock for them.
int ferry_is_early_call(void);

// While a thread waits for another one it does not count as one that works.
int ferry_rest(void);
void ferry_end_rest(int has_rested);

// A descriptor that is this process's alone: of a file with a lock (flock(2)), which a fork would share, so that a child kept it after its
// parent's death; of a tracker's folders. It is closed in a child.
void ferry_own_descriptor(int descriptor);

// The descriptor is another's by now.
void ferry_disown_descriptor(int descriptor);

// A connection that is this process's alone: in a child it is closed, if the number is still that socket's. So it needs no word when a library
// closes it.
void ferry_own_socket(int descriptor);

// Closes a descriptor, unless a fork has closed it, or left it to its parent, since it was opened at `fork_count`. An own one's lock is given back
// at once, also where children hold copies of it.
void ferry_close_descriptor(int descriptor, int fork_count);

// Takes the exclusive lock of one byte of a file, which need not be there, unless another open file has it; fcntl(2), F_OFD_SETLK. It goes with the
// descriptor's file, as that of flock(2) does, and the two know nothing of one another. -1 with EAGAIN: another one has it.
int ferry_lock_place(int descriptor, int64_t place);
int ferry_unlock_place(int descriptor, int64_t place);

#endif
