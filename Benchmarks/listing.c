// List, sort and stat of a folder that exists: the limit for `ferry status`. Usage: listing DIR
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
static int order(const void *a, const void *b) { return strcmp(*(char **)a, *(char **)b); }
int main(int count, char **arguments) {
    int folder = open(arguments[1], O_RDONLY | O_DIRECTORY);
    DIR *stream = opendir(arguments[1]);
    struct dirent *entry;
    char **names = NULL;
    long used = 0, room = 0, bytes = 0;
    while ((entry = readdir(stream))) {
        if (entry->d_name[0] == '.') continue;
        if (used == room) names = realloc(names, (room = room ? room * 2 : 1024) * sizeof *names);
        names[used++] = strdup(entry->d_name);
    }
    qsort(names, used, sizeof *names, order);
    struct stat status;
    for (long index = 0; index < used; index++)
        if (!fstatat(folder, names[index], &status, 0)) bytes += status.st_size;
    printf("%ld names, %ld bytes\n", used, bytes);
}
