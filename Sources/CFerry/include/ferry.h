// Ferry's tracker for C and for every language that can call C: events into a spool folder, from any thread.
//
//     ferry_tracker *tracker = ferry_open("/var/spool/myapp", "{\"appName\": \"myapp\"}");
//     if (!tracker) { fprintf(stderr, "%s\n", ferry_error()); exit(1); }
//     ferry_track(tracker, "export finished", "{\"rows\": 1200}", FERRY_NORMAL);
//     ferry_close(tracker);
//
// Texts are UTF-8 and end with a zero byte; properties and options are JSON objects, and NULL means none. An event survives the death of
// the process when ferry_track returns FERRY_OK. Whole numbers have at most 64 bits, signed or not (larger ones are refused: pass them as texts); a
// property that is null is left out, and a null in a list is refused. Link with -lferrytracker.
//
// After a fork the tracker is the parent's: in the child every function does nothing and returns FERRY_FORKED (what returns no code sets
// ferry_error()). A child that tracks opens a tracker of its own, on the same spool if it likes. SIGTERM and SIGINT end a child as if the parent
// had no tracker, unless it opens one.
//
// A program that closes all its files (closefrom(3), a loop over the numbers, as some daemons do) closes its tracker first: ferry_close. Otherwise
// events go into whatever file the program opens next. The next flush or close, or the next segment, notices: the call returns FERRY_FILE, what was
// tracked before is published, and the tracker goes on with new files; events that were tracked in between are lost.
#ifndef FERRY_H
#define FERRY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ferry_tracker ferry_tracker;

// What a call came to. ferry_error() has the reason in words.
enum {
    FERRY_OK = 0,
    FERRY_INVALID = 1,   // an argument: no name, no JSON object, no such option, no such timer
    FERRY_LIMIT = 2,     // the event is beyond a limit whose policy is to drop
    FERRY_DISABLED = 3,  // the spool stores nothing
    FERRY_FULL = 4,      // the spool's size limit is reached, and everything stored is more urgent
    FERRY_FILE = 5,      // the disk or the folder
    FERRY_FORKED = 6,    // the process is a fork: open a tracker in it
};

// Priorities go from 0 to 9; what is more urgent is smaller.
enum { FERRY_CRITICAL = 0, FERRY_NORMAL = 5, FERRY_BULK = 9 };

// Opens a spool, and makes it when there is none. Returns NULL when that fails.
//
// Options, all optional: "profile" (appcenter, google-analytics, sensors), "appName", "appVersion", "country", "stream",
// "durability" (process, disk), "batchEvents", "interval" (seconds: 6 to 86400, from 5 with sensors), "limits" (truncate, drop, off), "maxBytes", "maxAge" (seconds),
// "sessions" (automatic, manual), "lifecycle" (bool: $AppStart and $AppEnd), "crashes" (bool: record fatal signals), and
// "termination" (bool: publish on SIGTERM and SIGINT, for 10 s at most; events that are not published by then are safe in their journal).
//
// A stack that overflowed is recorded as a crash on threads with an alternate signal stack (sigaltstack(2)). The thread that opens the first
// tracker is given one if it has none.
ferry_tracker *ferry_open(const char *spool, const char *options);

// Stores an event.
int ferry_track(ferry_tracker *tracker, const char *name, const char *properties, int priority);

// Publishes everything, waits for it, and asks whoever uploads to send it now.
int ferry_flush(ferry_tracker *tracker);

// Ends the session, publishes everything, waits for it and frees the tracker, whatever it returns. In a fork's child it frees nothing.
int ferry_close(ferry_tracker *tracker);

// Events are this user's from now on; NULL: nobody's.
int ferry_login(ferry_tracker *tracker, const char *user);

// Properties of every event from now on, besides those that are set already; NULL removes them all.
int ferry_set_super_properties(ferry_tracker *tracker, const char *properties);

// Whether events are stored, and whether what is stored is sent: remembered in the spool.
int ferry_set_enabled(ferry_tracker *tracker, int enabled);
int ferry_is_enabled(ferry_tracker *tracker);
int ferry_set_paused(ferry_tracker *tracker, int paused);

// The program comes before a person, or leaves them.
void ferry_foreground(ferry_tracker *tracker);
void ferry_background(ferry_tracker *tracker);

// Begins a session.
void ferry_start_session(ferry_tracker *tracker);

// Times an event: ferry_timer_end tracks it with its "$event_duration" in seconds.
int ferry_timer_start(ferry_tracker *tracker, const char *name);
int ferry_timer_pause(ferry_tracker *tracker, const char *name);
int ferry_timer_resume(ferry_tracker *tracker, const char *name);
int ferry_timer_end(ferry_tracker *tracker, const char *name, const char *properties, int priority);

// Why the thread's last call failed; valid until its next.
const char *ferry_error(void);

// "0.1.0"
const char *ferry_version(void);

#ifdef __cplusplus
}
#endif

#endif
