#include <ferry.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *properties(void *context) {
    ++*(int *)context;
    return "{\"host\": \"c\"}";
}

static void warning(void *context, const char *line) { printf("warning %d: %s\n", *(int *)context > 0, line); }

// What a program asks its tracker, the answers, and sending from this process: SPOOL URL
static int talk(const char *spool, const char *url) {
    int asked = 0;
    ferry_callbacks callbacks = {properties, warning, &asked};
    ferry_tracker *tracker =
        ferry_open_with(spool, "{\"profile\": \"google-analytics\", \"interval\": 0, \"startsInBackground\": true}", &callbacks);
    if (!tracker) return 30;
    if (!ferry_session_id(tracker) || strlen(ferry_session_id(tracker)) != 36 || ferry_user(tracker)) return 31;
    if (ferry_login(tracker, "ada") != FERRY_OK || strcmp(ferry_user(tracker), "ada")) return 32;
    if (strlen(ferry_anonymous_id(tracker)) != 36) return 33;
    if (ferry_interval(tracker) != 0 || ferry_set_interval(tracker, -5) != FERRY_OK || ferry_interval(tracker) != -5) return 34;
    if (ferry_set_interval(tracker, NAN) != FERRY_INVALID || ferry_interval(tracker) != -5) return 71;
    if (ferry_set_country(tracker, "PT") != FERRY_OK || ferry_set_country(tracker, NULL) != FERRY_OK) return 35;
    if (ferry_set_country(tracker, "DEU") != FERRY_INVALID) return 70;
    if (ferry_set_super_properties(tracker, "{\"a\": 1, \"b\": 2}") != FERRY_OK) return 36;
    if (ferry_remove_super_property(tracker, "a") != FERRY_OK) return 37;
    if (ferry_timer_start(tracker, "t") != FERRY_OK || ferry_timer_remove(tracker, "t") != FERRY_OK) return 38;
    if (ferry_timer_end(tracker, "t", NULL, FERRY_NORMAL) != FERRY_INVALID || ferry_timer_remove(tracker, NULL) != FERRY_OK) return 39;
    ferry_dispatched result = FERRY_SENT;
    if (ferry_dispatch(tracker, NAN, &result) != FERRY_INVALID) return 72;
    if (ferry_dispatch(tracker, 0, &result) != FERRY_INVALID || ferry_stop_sending(tracker) != FERRY_OK) return 40;
    printf("%s\n", ferry_error());
    if (ferry_start_sending(tracker, "{}") != FERRY_INVALID) return 41;
    printf("%s\n", ferry_error());
    char options[512];
    snprintf(options, sizeof options, "{\"to\": \"%s\", \"headers\": {\"X-Site\": \"c\"}, \"timeout\": 20}", url);
    if (ferry_start_sending(tracker, options) != FERRY_OK) return 42;
    if (ferry_start_sending(tracker, options) != FERRY_INVALID) return 43;
    if (ferry_track(tracker, "sent from c", NULL, FERRY_NORMAL) != FERRY_OK || asked == 0) return 44;
    if (ferry_dispatch(tracker, 50, &result) != FERRY_OK || result != FERRY_SENT) return 45;
    if (ferry_dispatch(tracker, 50, &result) != FERRY_OK || result != FERRY_NO_DATA) return 46;
    if (ferry_stop_sending(tracker) != FERRY_OK) return 47;
    ferry_statistics statistics;
    if (ferry_get_statistics(tracker, &statistics) != FERRY_OK || statistics.stored == 0 || statistics.failed != 0) return 48;
    if (ferry_set_paused(tracker, 1) != FERRY_OK || !ferry_is_paused(tracker)) return 49;
    if (ferry_set_paused(tracker, 0) != FERRY_OK || ferry_is_paused(tracker)) return 50;
    if (ferry_track(tracker, "deleted", NULL, FERRY_NORMAL) != FERRY_OK || ferry_disable_and_delete(tracker) != FERRY_OK) return 51;
    if (ferry_track(tracker, "refused", NULL, FERRY_NORMAL) != FERRY_DISABLED || ferry_set_enabled(tracker, 1) != FERRY_OK) return 52;
    if (ferry_get_statistics(tracker, &statistics) != FERRY_OK || statistics.failed != 1) return 53;
    return ferry_close(tracker);
}

// Every function once: track SPOOL [URL]
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
    if (ferry_close(tracker) != FERRY_OK) return 21;
    return count > 2 ? talk(arguments[1], arguments[2]) : 0;
}
