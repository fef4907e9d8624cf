// Ferry's tracker for C and for every language that can call C: events into a spool folder, from any thread.
//
//     ferry_tracker *tracker = ferry_open("/var/spool/myapp", "{\"appName\": \"myapp\"}");
//     if (!tracker) { fprintf(stderr, "%s\n", ferry_error()); exit(1); }
//     ferry_track(tracker, "export finished", "{\"rows\": 1200}", FERRY_NORMAL);
//     ferry_close(tracker);
//
// Texts are UTF-8 and end with a zero byte; properties and options are JSON objects, and NULL means none. An event survives the death of
// the process when ferry_track returns FERRY_OK. Whole numbers have at most 64 bits, signed or not (larger ones are refused: pass them as texts); a
// property that is null is left out, and a null in a list is refused. Functions that return int return one of the codes below. Link with
// -lferrytracker.
//
// After a fork the tracker is the parent's: in the child every function does nothing and returns FERRY_FORKED (what returns no code sets
// ferry_error()). A child that tracks opens a tracker of its own, on the same spool if it likes. It can send if no process that it was forked from
// has begun to: else ferry_start_sending returns FERRY_FORKED, for the threads that would send are not there. SIGTERM and SIGINT end a child as
// if the parent had no tracker, unless it opens one. fork(2) waits for what other threads are doing in this library, for a second at most.
//
// A program that closes all its files (closefrom(3), a loop over the numbers, as some daemons do) closes its tracker first: ferry_close. Otherwise
// events go into the file that the program opens next. The next flush or close, or the next segment, notices: the call returns FERRY_FILE, what was
// tracked before is published, and the tracker goes on with new files; events that were tracked in between are lost.
#ifndef FERRY_H
#define FERRY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ferry_tracker ferry_tracker;

// What a call came to. ferry_error() has the reason in words.
enum {
    FERRY_OK = 0,
    FERRY_INVALID = 1,   // an argument: no name, no number (NaN), no JSON object, no such option, no such timer
    FERRY_LIMIT = 2,     // the event is beyond a limit whose policy is to drop, or has more than 1 MiB
    FERRY_DISABLED = 3,  // the spool stores nothing
    FERRY_FULL = 4,      // the spool's size limit is reached, and everything stored is more urgent
    FERRY_FILE = 5,      // the disk or the folder
    FERRY_FORKED = 6,    // the process is a fork: open a tracker in it, and let its parent send
};

// Priorities go from 0 to 9; what is more urgent is smaller.
enum { FERRY_CRITICAL = 0, FERRY_NORMAL = 5, FERRY_BULK = 9 };

// ---- Opening and closing

// What a tracker calls, from any thread, until ferry_close returns. A callback may call any function but ferry_close. What sends waits for `warning` to
// return: there ferry_dispatch is refused with FERRY_INVALID, and ferry_stop_sending does not wait.
typedef struct ferry_callbacks {
    // The properties of every event, besides its own: a JSON object, asked for at each event on the thread that tracks. NULL: none. The tracker
    // frees nothing; the text must last until the thread's next event.
    const char *(*properties)(void *context);
    // A line that the program should know of: a text that was cut off, segments that a limit dropped, a disk that is full, what is refused when
    // the program sends by itself. Without it the line goes to standard error.
    void (*warning)(void *context, const char *line);
    void *context;
} ferry_callbacks;

// Opens a spool, and makes it when there is none. Returns NULL when that fails. `callbacks` may be NULL, and is copied.
//
// Options, all optional: "profile" (appcenter, google-analytics, sensors), "appName", "appVersion", "country", "stream",
// "makeSpool" (bool: false refuses a missing or empty folder, which may be the place of a file system that is not mounted),
// "durability" (process, disk), "batchEvents", "interval" (seconds: 6 to 86400, with sensors at least 5; with google-analytics any, 0 or less: only when
// asked), "limits" (truncate, drop, off), "names" (process, spool: where the 200 names that events may have are counted), "maxBytes", "maxAge" (seconds), "sessions" (automatic, manual), "sessionTimeout" (seconds in
// the background), "lifecycle" (bool: $AppStart and $AppEnd), "startsInBackground" (bool: without a person before it), "crashes" (bool: record fatal
// signals), and "termination" (bool: publish on SIGTERM and SIGINT, for 10 s at most; events that are not published by then are safe in their journal).
//
// A stack that overflowed is recorded as a crash on threads with an alternate signal stack (sigaltstack(2)). The thread that opens the first
// tracker is given one if it has none.
ferry_tracker *ferry_open(const char *spool, const char *options);
ferry_tracker *ferry_open_with(const char *spool, const char *options, const ferry_callbacks *callbacks);

// Ends the session and the sending, publishes everything, waits for it and frees the tracker, with any return value. In a fork's child it frees
// nothing.
int ferry_close(ferry_tracker *tracker);

// ---- Events

// Stores an event.
int ferry_track(ferry_tracker *tracker, const char *name, const char *properties, int priority);

// Publishes everything, waits for it, and asks the uploader of the spool to send it now.
int ferry_flush(ferry_tracker *tracker);

// At the latest so long after its first event a segment is published, in seconds; 0 or less: only by a flush. Setting it flushes, and is refused
// with the profile appcenter.
int ferry_set_interval(ferry_tracker *tracker, double seconds);
double ferry_interval(ferry_tracker *tracker);

// ---- Sending from this process, where no `ferry run` does it

// Begins to send what is stored, until ferry_stop_sending or ferry_close, by the profile's numbers: its intervals, how many requests at once and in
// which order, what waits after a failure. Not in a fork of a process that has.
//
// Options: "to" (where, an http or https URL; required), "headers" (object), "tokenFile" (a file with a bearer token), "body" (ndjson, json-array,
// sensors, appcenter, measurement, otlp, elastic, loki, splunk), "trackingId" (with measurement), "parallel" (requests at once), "order" (priority, live, strict), "timeout" (seconds
// without progress), "ca", "cert" and "key" (PEM files), "keepSent" (true: delivered segments stay in sent/ for ever; false:
// they are deleted at once, as with a profile by default; without one they stay for 7 days, and less where the disk is full).
int ferry_start_sending(ferry_tracker *tracker, const char *options);

// Finishes what is under way, and waits for it.
int ferry_stop_sending(ferry_tracker *tracker);

// What came of a dispatch.
typedef enum ferry_dispatched {
    FERRY_NO_DATA = 0,  // there was nothing to send
    FERRY_SENT = 1,     // everything was sent
    FERRY_MORE = 2,     // something was sent, and something is left
    FERRY_NOT_SENT = 3  // something is there, and it could not be sent, or not to the end
} ferry_dispatched;

// Sends everything that was tracked, by the options of ferry_start_sending, and waits for it: at most `seconds`, or without an end if it is 0
// or less. Nothing is started that is not likely to arrive in time. `result` may be NULL.
int ferry_dispatch(ferry_tracker *tracker, double seconds, ferry_dispatched *result);

// ---- Sessions

// The program comes before a person, or leaves them: then everything is published, and is to be sent.
void ferry_foreground(ferry_tracker *tracker);
void ferry_background(ferry_tracker *tracker);

// Begins a session.
void ferry_start_session(ferry_tracker *tracker);

// The session that events belong to now, a UUID; NULL when there is none. As all texts that functions return: valid until the thread's next call.
const char *ferry_session_id(ferry_tracker *tracker);

// ---- Identity and properties

// Events are this user's from now on; NULL: of no user. With the profile of Sensors Analytics a new one is reported by $SignUp; where that cannot be stored, the
// call fails and the user stays.
int ferry_login(ferry_tracker *tracker, const char *user);
const char *ferry_user(ferry_tracker *tracker);

// The random ID that the spool was given at its first start.
const char *ferry_anonymous_id(ferry_tracker *tracker);

// Two letters (A-Z, stored in upper case) instead of the locale's country, else FERRY_INVALID; NULL: none.
int ferry_set_country(ferry_tracker *tracker, const char *country);

// Properties of every event from now on, besides those that are set already; NULL removes them all.
int ferry_set_super_properties(ferry_tracker *tracker, const char *properties);
int ferry_remove_super_property(ferry_tracker *tracker, const char *name);

// ---- Timers

// Times an event: ferry_timer_end tracks it with its "$event_duration" in seconds. ferry_timer_remove forgets it; NULL: all of them.
int ferry_timer_start(ferry_tracker *tracker, const char *name);
int ferry_timer_pause(ferry_tracker *tracker, const char *name);
int ferry_timer_resume(ferry_tracker *tracker, const char *name);
int ferry_timer_end(ferry_tracker *tracker, const char *name, const char *properties, int priority);
int ferry_timer_remove(ferry_tracker *tracker, const char *name);

// ---- The spool

// Whether events are stored, and whether what is stored is sent: remembered in the spool.
int ferry_set_enabled(ferry_tracker *tracker, int enabled);
int ferry_is_enabled(ferry_tracker *tracker);
int ferry_set_paused(ferry_tracker *tracker, int paused);
int ferry_is_paused(ferry_tracker *tracker);

// Stores nothing from now on, and deletes what waits in the spool, also what other trackers have not published yet (within a second); the ledger names
// each segment.
int ferry_disable_and_delete(ferry_tracker *tracker);

// ---- What happened

// What a tracker has done so far.
typedef struct ferry_statistics {
    uint64_t stored;     // events that were stored
    uint64_t failed;     // events that a limit refused, or that the disk did not take; not calls with unreadable arguments
    uint64_t truncated;  // stored events of which a limit left something out
} ferry_statistics;
int ferry_get_statistics(ferry_tracker *tracker, ferry_statistics *statistics);

// Why the thread's last call failed; valid until its next.
const char *ferry_error(void);

// "0.1.0"
const char *ferry_version(void);

#ifdef __cplusplus
}
#endif

#endif
