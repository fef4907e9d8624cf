#include <ferry.h>
#include <stdio.h>
#include <string.h>

// Every function once: track SPOOL
int main(int count, char **arguments) {
    if (count < 2) return 64;
    if (ferry_open(arguments[1], "{\"batchEvent\": 1}")) return 1;
    printf("%s\n", ferry_error());
    if (ferry_open(arguments[1], "{\"interval\": -1}")) return 1;
    printf("%s\n", ferry_error());
    if (ferry_open("/proc/none/such", NULL)) return 1;
    printf("%s\n", ferry_error());
    ferry_tracker *tracker = ferry_open(arguments[1], "{\"lifecycle\": false, \"sessions\": \"manual\", \"limits\": \"drop\"}");
    if (!tracker) return 2;
    if (ferry_track(tracker, "no session", NULL, FERRY_NORMAL) != FERRY_OK) return 3;
    ferry_start_session(tracker);
    if (ferry_login(tracker, "ada") != FERRY_OK) return 4;
    if (ferry_set_super_properties(tracker, "{\"plan\": \"free\"}") != FERRY_OK) return 5;
    if (ferry_timer_start(tracker, "job") != FERRY_OK || ferry_timer_pause(tracker, "job") != FERRY_OK) return 6;
    if (ferry_timer_resume(tracker, "job") != FERRY_OK) return 7;
    ferry_background(tracker);
    ferry_foreground(tracker);
    if (ferry_timer_end(tracker, "job", "{\"n\": 1}", FERRY_BULK) != FERRY_OK) return 8;
    if (ferry_timer_end(tracker, "job", NULL, FERRY_BULK) != FERRY_INVALID) return 9;
    printf("%s\n", ferry_error());
    if (ferry_track(tracker, "bad", "[1]", FERRY_NORMAL) != FERRY_INVALID) return 10;
    printf("%s\n", ferry_error());
    if (ferry_track(tracker, NULL, NULL, FERRY_NORMAL) != FERRY_INVALID) return 11;
    if (ferry_track(tracker, "wide", "{\"a\":\"-\\\"1\",\"id\":18446744073709551616}", FERRY_NORMAL) != FERRY_INVALID) return 33;
    if (ferry_track(tracker, "x", NULL, 10) != FERRY_INVALID || ferry_track(NULL, "x", NULL, 5) != FERRY_INVALID) return 12;
    char long_name[300] = {0};
    memset(long_name, 'x', sizeof long_name - 1);
    if (ferry_track(tracker, long_name, NULL, FERRY_NORMAL) != FERRY_LIMIT) return 13;
    if (ferry_set_super_properties(tracker, NULL) != FERRY_OK || ferry_login(tracker, NULL) != FERRY_OK) return 14;
    if (ferry_set_paused(tracker, 1) != FERRY_OK || ferry_set_paused(tracker, 0) != FERRY_OK) return 15;
    if (ferry_flush(tracker) != FERRY_OK || !ferry_is_enabled(tracker)) return 16;
    if (ferry_set_enabled(tracker, 0) != FERRY_OK || ferry_is_enabled(tracker)) return 17;
    if (ferry_track(tracker, "refused", NULL, FERRY_CRITICAL) != FERRY_DISABLED) return 18;
    if (ferry_set_enabled(tracker, 1) != FERRY_OK) return 19;
    if (ferry_track(tracker, "last", NULL, FERRY_CRITICAL) != FERRY_OK) return 20;
    printf("%s\n", ferry_version());
    return ferry_close(tracker);
}
