// A program that tracks numbered events through the C interface, and tells each number when it is safe: produce SPOOL FIRST COUNT PAUSE_MS
#include <ferry.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **arguments) {
    if (count < 5) return 64;
    ferry_tracker *tracker = ferry_open(arguments[1], "{\"lifecycle\": false, \"limits\": \"off\", \"batchEvents\": 4}");
    if (!tracker) {
        fprintf(stderr, "%s\n", ferry_error());
        return 1;
    }
    int first = atoi(arguments[2]);
    for (int number = first; number < first + atoi(arguments[3]); number++) {
        char properties[32];
        snprintf(properties, sizeof properties, "{\"e\": %d}", number);
        if (ferry_track(tracker, "numbered", properties, number % 5 == 0 ? FERRY_CRITICAL : FERRY_NORMAL) == FERRY_OK) {
            // One write a line, so that a kill cannot tear it.
            dprintf(1, "%d\n", number);
        } else {
            fprintf(stderr, "%s\n", ferry_error());
        }
        if (atoi(arguments[4])) usleep(1000 * atoi(arguments[4]));
    }
    return ferry_close(tracker);
}
