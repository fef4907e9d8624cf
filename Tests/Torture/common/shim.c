// Preloaded into a program under test: counts the file calls that touch one folder, writes them down, and lets one of them fail, fall short,
// or be the program's last. Told by the environment, which it removes again, so that children of the program are left alone.
//
// TORTURE_PREFIX  the folder
// TORTURE_LOG     write each call down into this file, see log.py; with TORTURE_DATA also the bytes
// TORTURE_FAULT   NAME:N:KIND, what becomes of the N-th call of that name, see faults.py
// TORTURE_FIRED   a file for a line that says that it did
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

// --- What was asked for ---

static char prefix[PATH_MAX];
static size_t prefix_length;
static int log_file = -1;
static int logs_data;
static char fired_path[PATH_MAX];

enum kind { NONE, ERROR, SHORT, FULL, DEAD, READONLY_LOCK, KILL, KILL_HALF, KILL_AFTER };
static struct {
    char name[20];
    unsigned number;
    enum kind kind;
    int error;
    // Every later call of the name fails as well.
    int stays;
} fault;

static atomic_int has_fired;

static const struct { const char *name; int error; } errors[] = {
    {"EIO", EIO}, {"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT}, {"EMFILE", EMFILE}, {"EACCES", EACCES}, {"EINTR", EINTR},
    {"ENOLCK", ENOLCK}, {"ENOMEM", ENOMEM}, {"EROFS", EROFS}, {"EBADF", EBADF}, {"EWOULDBLOCK", EWOULDBLOCK},
    {"ESTALE", ESTALE}, {"EOPNOTSUPP", EOPNOTSUPP}, {"EINVAL", EINVAL}, {"ENOSYS", ENOSYS}, {"EPERM", EPERM},
};

static void parse_fault(char *text) {
    char *number = strchr(text, ':');
    char *kind = number ? strchr(number + 1, ':') : NULL;
    if (!kind || (size_t)(number - text) >= sizeof fault.name) return;
    memcpy(fault.name, text, (size_t)(number - text));
    fault.number = (unsigned)atoi(number + 1);
    kind++;
    size_t length = strlen(kind);
    if (length && kind[length - 1] == '+') {
        fault.stays = 1;
        kind[--length] = 0;
    }
    if (!strcmp(kind, "short")) fault.kind = SHORT;
    else if (!strcmp(kind, "full")) fault.kind = FULL;
    else if (!strcmp(kind, "dead")) fault.kind = DEAD;
    else if (!strcmp(kind, "nfs")) fault.kind = READONLY_LOCK;
    else if (!strcmp(kind, "kill")) fault.kind = KILL;
    else if (!strcmp(kind, "killhalf")) fault.kind = KILL_HALF;
    else if (!strcmp(kind, "killafter")) fault.kind = KILL_AFTER;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (!strcmp(kind, errors[i].name)) {
            fault.kind = ERROR;
            fault.error = errors[i].error;
        }
}

__attribute__((constructor)) static void set_up(void) {
    const char *value = getenv("TORTURE_PREFIX");
    if (!value || !realpath(value, prefix)) return;
    prefix_length = strlen(prefix);
    if ((value = getenv("TORTURE_LOG"))) {
        int opened = (int)syscall(SYS_openat, AT_FDCWD, value, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        // Far away from the numbers that the program gets.
        log_file = (int)syscall(SYS_fcntl, opened, F_DUPFD_CLOEXEC, 900);
        syscall(SYS_close, opened);
    }
    logs_data = getenv("TORTURE_DATA") != NULL;
    if ((value = getenv("TORTURE_FIRED"))) snprintf(fired_path, sizeof fired_path, "%s", value);
    if ((value = getenv("TORTURE_FAULT"))) {
        char text[64];
        snprintf(text, sizeof text, "%s", value);
        parse_fault(text);
    }
    unsetenv("LD_PRELOAD");
}

// --- Which calls touch the folder ---

static int is_watched(const char *path) {
    return prefix_length && !strncmp(path, prefix, prefix_length) && (path[prefix_length] == '/' || !path[prefix_length]);
}

static int path_of(int fd, char *out) {
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    int saved = errno;
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, out, PATH_MAX - 1);
    errno = saved;
    if (length < 0) return 0;
    out[length] = 0;
    return is_watched(out);
}

static int resolve(int directory, const char *path, char *out) {
    if (!prefix_length || !path) return 0;
    if (path[0] == '/') {
        snprintf(out, PATH_MAX, "%s", path);
        return is_watched(out);
    }
    char base[PATH_MAX];
    if (directory == AT_FDCWD) {
        if (syscall(SYS_getcwd, base, sizeof base) < 0) return 0;
    } else {
        path_of(directory, base);
    }
    if (!strcmp(path, ".") || !path[0]) snprintf(out, PATH_MAX, "%s", base);
    else if (snprintf(out, PATH_MAX, "%s/%s", base, path) >= PATH_MAX) return 0;
    return is_watched(out);
}

static int is_socket(int fd) {
    struct stat status;
    int saved = errno;
    int result = prefix_length && syscall(SYS_fstat, fd, &status) == 0 && S_ISSOCK(status.st_mode);
    errno = saved;
    return result;
}

static unsigned long inode_of(int fd) {
    struct stat status;
    int saved = errno;
    unsigned long inode = syscall(SYS_fstat, fd, &status) == 0 ? status.st_ino : 0;
    errno = saved;
    return inode;
}

static unsigned long inode_at(int directory, const char *path, int flags) {
    struct stat status;
    int saved = errno;
    unsigned long inode = syscall(SYS_newfstatat, directory, path, &status, flags) == 0 ? status.st_ino : 0;
    errno = saved;
    return inode;
}

// --- Counting and deciding ---

static struct { char name[20]; atomic_uint count; } counters[64];
static pthread_mutex_t counters_lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned count(const char *name) {
    for (size_t i = 0; i < 64; i++) {
        if (!counters[i].name[0]) {
            pthread_mutex_lock(&counters_lock);
            if (!counters[i].name[0]) strcpy(counters[i].name, name);
            pthread_mutex_unlock(&counters_lock);
        }
        if (!strcmp(counters[i].name, name)) return atomic_fetch_add(&counters[i].count, 1) + 1;
    }
    return 0;
}

static void tell_fired(const char *name, unsigned number, const char *path) {
    if (atomic_exchange(&has_fired, 1) || !fired_path[0]) return;
    int saved = errno;
    char line[PATH_MAX + 64];
    int length = snprintf(line, sizeof line, "%s %u %.4000s\n", name, number, path ? path : "");
    int file = (int)syscall(SYS_openat, AT_FDCWD, fired_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    syscall(SYS_write, file, line, (size_t)length);
    syscall(SYS_close, file);
    errno = saved;
}

static void die(void) {
    syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
    while (1) syscall(SYS_pause);
}

static int takes_room(const char *name) {
    return !strcmp(name, "write") || !strcmp(name, "create") || !strcmp(name, "mkdir") || !strcmp(name, "link")
        || !strcmp(name, "setxattr") || !strcmp(name, "fallocate");
}

// Returns NONE, or what is to become of this call; for ERROR errno is set already.
static enum kind decide(const char *name, unsigned number, const char *path, int is_readonly_lock) {
    if (fault.kind == NONE) return NONE;
    int is_named = !strcmp(name, fault.name);
    int is_it = is_named && (number == fault.number || (fault.stays && number > fault.number));
    if (fault.kind == READONLY_LOCK) {
        if (!is_readonly_lock) return NONE;
        tell_fired(name, number, path);
        errno = EBADF;
        return ERROR;
    }
    if (!is_it) {
        if (!atomic_load(&has_fired)) return NONE;
        if (fault.kind == DEAD && strcmp(name, "net")) {
            errno = EIO;
            return ERROR;
        }
        if (fault.kind == FULL && takes_room(name)) {
            errno = ENOSPC;
            return ERROR;
        }
        return NONE;
    }
    tell_fired(name, number, path);
    switch (fault.kind) {
    case KILL: die();
    case ERROR: errno = fault.error; return ERROR;
    case DEAD: errno = EIO; return ERROR;
    case FULL:
        if (!strcmp(name, "write")) return SHORT;
        errno = ENOSPC;
        return ERROR;
    default: return fault.kind;
    }
}

static void die_if(enum kind action) {
    if (action == KILL_AFTER || action == KILL_HALF) die();
}

static size_t half(size_t length) { return length > 1 ? length / 2 : length; }

// --- The log ---

struct record {
    unsigned length;
    char name[20];
    long time;
    long result;
    unsigned long inode, inode2;
    long offset;
    int error;
    unsigned flags, number;
    unsigned short path1, path2;
    unsigned data;
} __attribute__((packed));

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

// The order of the log is the order of what happened: calls that change something are made under this lock.
static void hold(void) { if (log_file >= 0) pthread_mutex_lock(&log_lock); }
static void release(void) { if (log_file >= 0) pthread_mutex_unlock(&log_lock); }

struct note {
    const char *name;
    unsigned number;
    const char *path, *path2;
    unsigned long inode, inode2;
    long offset;
    unsigned flags;
    const struct iovec *data;
    int pieces;
};

static void note(const struct note *call, long result) {
    if (log_file < 0) return;
    int saved = errno;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    struct record record = {
        .time = now.tv_sec * 1000000000L + now.tv_nsec, .result = result, .inode = call->inode, .inode2 = call->inode2,
        .offset = call->offset, .error = result < 0 ? saved : 0, .flags = call->flags, .number = call->number,
        .path1 = call->path ? (unsigned short)strlen(call->path) : 0, .path2 = call->path2 ? (unsigned short)strlen(call->path2) : 0};
    strcpy(record.name, call->name);
    struct iovec parts[3 + 64] = {
        {&record, sizeof record}, {(void *)call->path, record.path1}, {(void *)call->path2, record.path2}};
    int used = 3;
    long left = logs_data && result > 0 && call->data ? result : 0;
    for (int i = 0; i < call->pieces && i < 64 && left > 0; i++) {
        size_t piece = call->data[i].iov_len < (size_t)left ? call->data[i].iov_len : (size_t)left;
        parts[used++] = (struct iovec){call->data[i].iov_base, piece};
        record.data += (unsigned)piece;
        left -= (long)piece;
    }
    record.length = (unsigned)sizeof record + record.path1 + record.path2 + record.data;
    syscall(SYS_writev, log_file, parts, used);
    errno = saved;
}

// --- Opening ---

static int opens(int directory, const char *path, int flags, mode_t mode) {
    char full[PATH_MAX];
    if (!resolve(directory, path, full)) return (int)syscall(SYS_openat, directory, path, flags, mode);
    int makes = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
    const char *name = makes ? "create" : "open";
    unsigned number = count(name);
    enum kind action = decide(name, number, full, 0);
    if (action == ERROR) {
        note(&(struct note){.name = name, .number = number, .path = full}, -1);
        return -1;
    }
    int changes = makes || (flags & O_TRUNC);
    if (changes) hold();
    unsigned long before = changes ? inode_at(directory, path, AT_SYMLINK_NOFOLLOW) : 0;
    int result = (int)syscall(SYS_openat, directory, path, flags, mode);
    note(&(struct note){.name = name, .number = number, .path = full, .inode = result >= 0 ? inode_of(result) : 0, .inode2 = before,
                        .flags = (unsigned)flags}, result);
    if (changes) release();
    die_if(action);
    return result;
}

#define MODE(flags) \
    mode_t mode = 0; \
    if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE) { \
        va_list list; \
        va_start(list, flags); \
        mode = va_arg(list, mode_t); \
        va_end(list); \
    }

EXPORT int open(const char *path, int flags, ...) { MODE(flags) return opens(AT_FDCWD, path, flags, mode); }
EXPORT int open64(const char *path, int flags, ...) { MODE(flags) return opens(AT_FDCWD, path, flags, mode); }
EXPORT int openat(int directory, const char *path, int flags, ...) { MODE(flags) return opens(directory, path, flags, mode); }
EXPORT int openat64(int directory, const char *path, int flags, ...) { MODE(flags) return opens(directory, path, flags, mode); }
EXPORT int creat(const char *path, mode_t mode) { return opens(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
EXPORT int __open_2(const char *path, int flags) { return opens(AT_FDCWD, path, flags, 0); }
EXPORT int __openat_2(int directory, const char *path, int flags) { return opens(directory, path, flags, 0); }

EXPORT int close(int fd) {
    char full[PATH_MAX];
    if (!prefix_length || fd == log_file || !path_of(fd, full)) return REAL(close)(fd);
    unsigned number = count("close");
    // The descriptor is gone even when close fails.
    int result = (int)syscall(SYS_close, fd);
    if (decide("close", number, full, 0) == ERROR) result = -1;
    note(&(struct note){.name = "close", .number = number, .path = full}, result);
    return result;
}

// --- Calls that look: an error, or they are made ---

#define LOOK(label, failure, is_ours, call) \
    char full[PATH_MAX]; \
    if (!(is_ours)) return call; \
    unsigned number = count(label); \
    if (decide(label, number, full, 0) == ERROR) { \
        note(&(struct note){.name = label, .number = number, .path = full}, -1); \
        return failure; \
    } \
    note(&(struct note){.name = label, .number = number, .path = full}, 0); \
    return call;

EXPORT int fstat(int fd, struct stat *status) { LOOK("stat", -1, path_of(fd, full), (int)syscall(SYS_fstat, fd, status)) }
EXPORT int fstat64(int fd, struct stat64 *status) { LOOK("stat", -1, path_of(fd, full), (int)syscall(SYS_fstat, fd, status)) }
EXPORT int stat(const char *path, struct stat *status) {
    LOOK("stat", -1, resolve(AT_FDCWD, path, full), (int)syscall(SYS_newfstatat, AT_FDCWD, path, status, 0))
}
EXPORT int stat64(const char *path, struct stat64 *status) {
    LOOK("stat", -1, resolve(AT_FDCWD, path, full), (int)syscall(SYS_newfstatat, AT_FDCWD, path, status, 0))
}
EXPORT int lstat(const char *path, struct stat *status) {
    LOOK("stat", -1, resolve(AT_FDCWD, path, full), (int)syscall(SYS_newfstatat, AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW))
}
EXPORT int lstat64(const char *path, struct stat64 *status) {
    LOOK("stat", -1, resolve(AT_FDCWD, path, full), (int)syscall(SYS_newfstatat, AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW))
}
EXPORT int fstatat(int directory, const char *path, struct stat *status, int flags) {
    LOOK("stat", -1, resolve(directory, path, full), (int)syscall(SYS_newfstatat, directory, path, status, flags))
}
EXPORT int fstatat64(int directory, const char *path, struct stat64 *status, int flags) {
    LOOK("stat", -1, resolve(directory, path, full), (int)syscall(SYS_newfstatat, directory, path, status, flags))
}
EXPORT int statx(int directory, const char *path, int flags, unsigned mask, struct statx *status) {
    LOOK("stat", -1, resolve(directory, path, full), (int)syscall(SYS_statx, directory, path, flags, mask, status))
}
EXPORT int access(const char *path, int mode) {
    LOOK("access", -1, resolve(AT_FDCWD, path, full), (int)syscall(SYS_faccessat, AT_FDCWD, path, mode))
}
EXPORT int faccessat(int directory, const char *path, int mode, int flags) {
    LOOK("access", -1, resolve(directory, path, full), REAL(faccessat)(directory, path, mode, flags))
}
EXPORT int fstatfs(int fd, struct statfs *status) { LOOK("statfs", -1, path_of(fd, full), REAL(fstatfs)(fd, status)) }
EXPORT int fstatvfs(int fd, struct statvfs *status) { LOOK("statfs", -1, path_of(fd, full), REAL(fstatvfs)(fd, status)) }
EXPORT int statvfs(const char *path, struct statvfs *status) {
    LOOK("statfs", -1, resolve(AT_FDCWD, path, full), REAL(statvfs)(path, status))
}
EXPORT DIR *opendir(const char *path) { LOOK("opendir", NULL, resolve(AT_FDCWD, path, full), REAL(opendir)(path)) }
EXPORT DIR *fdopendir(int fd) { LOOK("opendir", NULL, path_of(fd, full), REAL(fdopendir)(fd)) }
EXPORT struct dirent *readdir(DIR *stream) { LOOK("readdir", NULL, path_of(dirfd(stream), full), REAL(readdir)(stream)) }
EXPORT struct dirent64 *readdir64(DIR *stream) { LOOK("readdir", NULL, path_of(dirfd(stream), full), REAL(readdir64)(stream)) }
EXPORT ssize_t fgetxattr(int fd, const char *name, void *value, size_t size) {
    LOOK("getxattr", -1, path_of(fd, full), REAL(fgetxattr)(fd, name, value, size))
}
EXPORT int inotify_add_watch(int fd, const char *path, uint32_t mask) {
    LOOK("watch", -1, resolve(AT_FDCWD, path, full), REAL(inotify_add_watch)(fd, path, mask))
}
EXPORT void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
    LOOK((flags & MAP_SHARED) && (protection & PROT_WRITE) ? "mapwrite" : "mmap", MAP_FAILED, fd >= 0 && path_of(fd, full),
         (void *)syscall(SYS_mmap, address, length, protection, flags, fd, offset))
}

EXPORT int flock(int fd, int operation) {
    char full[PATH_MAX];
    if (!path_of(fd, full)) return (int)syscall(SYS_flock, fd, operation);
    unsigned number = count("flock");
    int access = (int)syscall(SYS_fcntl, fd, F_GETFL) & O_ACCMODE;
    enum kind action = decide("flock", number, full, (operation & LOCK_EX) && access == O_RDONLY);
    note(&(struct note){.name = "flock", .number = number, .path = full, .flags = (unsigned)operation}, action == ERROR ? -1 : 0);
    return action == ERROR ? -1 : (int)syscall(SYS_flock, fd, operation);
}

// Locks that NFS passes on are made with fcntl.
static int fcntls(int fd, int command, long argument) {
    char full[PATH_MAX];
    int locks = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;
    if (!locks || !path_of(fd, full)) return (int)syscall(SYS_fcntl, fd, command, argument);
    unsigned number = count("flock");
    enum kind action = decide("flock", number, full, 0);
    note(&(struct note){.name = "flock", .number = number, .path = full}, action == ERROR ? -1 : 0);
    return action == ERROR ? -1 : (int)syscall(SYS_fcntl, fd, command, argument);
}
EXPORT int fcntl(int fd, int command, ...) {
    va_list list;
    va_start(list, command);
    long argument = va_arg(list, long);
    va_end(list);
    return fcntls(fd, command, argument);
}
EXPORT int fcntl64(int fd, int command, ...) {
    va_list list;
    va_start(list, command);
    long argument = va_arg(list, long);
    va_end(list);
    return fcntls(fd, command, argument);
}

// --- Reading ---

#define READS(call_whole, call_half) \
    char full[PATH_MAX]; \
    if (!path_of(fd, full)) return call_whole; \
    unsigned number = count("read"); \
    enum kind action = decide("read", number, full, 0); \
    note(&(struct note){.name = "read", .number = number, .path = full}, action == ERROR ? -1 : 0); \
    if (action == ERROR) return -1; \
    return action == SHORT ? call_half : call_whole;

EXPORT ssize_t read(int fd, void *buffer, size_t size) {
    READS(syscall(SYS_read, fd, buffer, size), syscall(SYS_read, fd, buffer, half(size)))
}
EXPORT ssize_t pread(int fd, void *buffer, size_t size, off_t offset) {
    READS(syscall(SYS_pread64, fd, buffer, size, offset), syscall(SYS_pread64, fd, buffer, half(size), offset))
}
EXPORT ssize_t pread64(int fd, void *buffer, size_t size, off64_t offset) {
    READS(syscall(SYS_pread64, fd, buffer, size, offset), syscall(SYS_pread64, fd, buffer, half(size), offset))
}
EXPORT ssize_t readv(int fd, const struct iovec *pieces, int count_) {
    READS(syscall(SYS_readv, fd, pieces, count_), syscall(SYS_read, fd, pieces[0].iov_base, half(pieces[0].iov_len)))
}

// --- Writing: into files, and into sockets, where only a kill is of interest ---

static ssize_t sends(int fd, const struct iovec *pieces, int count_, ssize_t (*make)(void *), void *context) {
    unsigned number = count("net");
    enum kind action = decide("net", number, "", 0);
    hold();
    ssize_t result = make(context);
    note(&(struct note){.name = "net", .number = number, .data = pieces, .pieces = count_}, result);
    release();
    die_if(action);
    return result;
}

struct transfer { int fd; const struct iovec *pieces; int count; const struct msghdr *message; int flags; };

static ssize_t make_writev(void *context) {
    struct transfer *call = context;
    return syscall(SYS_writev, call->fd, call->pieces, call->count);
}
static ssize_t make_sendmsg(void *context) {
    struct transfer *call = context;
    return syscall(SYS_sendmsg, call->fd, call->message, call->flags);
}

static ssize_t writes(int fd, const struct iovec *pieces, int count_, off_t offset) {
    char full[PATH_MAX];
    if (!path_of(fd, full)) {
        if (fd == 1 || is_socket(fd)) {
            struct transfer call = {.fd = fd, .pieces = pieces, .count = count_};
            return sends(fd, pieces, count_, make_writev, &call);
        }
        return offset < 0 ? syscall(SYS_writev, fd, pieces, count_) : syscall(SYS_pwritev, fd, pieces, count_, offset, 0);
    }
    unsigned number = count("write");
    enum kind action = decide("write", number, full, 0);
    if (action == ERROR) {
        note(&(struct note){.name = "write", .number = number, .path = full}, -1);
        return -1;
    }
    struct iovec first = {pieces[0].iov_base, half(pieces[0].iov_len)};
    if (action == SHORT || action == KILL_HALF) {
        pieces = &first;
        count_ = 1;
    }
    hold();
    ssize_t result = offset < 0 ? syscall(SYS_writev, fd, pieces, count_) : syscall(SYS_pwritev, fd, pieces, count_, offset, 0);
    long place = offset < 0 ? syscall(SYS_lseek, fd, 0, SEEK_CUR) - (result > 0 ? result : 0) : offset;
    note(&(struct note){.name = "write", .number = number, .path = full, .inode = inode_of(fd), .offset = place, .data = pieces,
                        .pieces = count_}, result);
    release();
    die_if(action);
    return result;
}

EXPORT ssize_t write(int fd, const void *buffer, size_t size) {
    struct iovec piece = {(void *)buffer, size};
    return writes(fd, &piece, 1, -1);
}
EXPORT ssize_t pwrite(int fd, const void *buffer, size_t size, off_t offset) {
    struct iovec piece = {(void *)buffer, size};
    return writes(fd, &piece, 1, offset);
}
EXPORT ssize_t pwrite64(int fd, const void *buffer, size_t size, off64_t offset) {
    struct iovec piece = {(void *)buffer, size};
    return writes(fd, &piece, 1, offset);
}
EXPORT ssize_t writev(int fd, const struct iovec *pieces, int count_) { return writes(fd, pieces, count_, -1); }

EXPORT ssize_t send(int fd, const void *buffer, size_t size, int flags) {
    struct iovec piece = {(void *)buffer, size};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    struct transfer call = {.fd = fd, .message = &message, .flags = flags};
    return sends(fd, &piece, 1, make_sendmsg, &call);
}
EXPORT ssize_t sendto(int fd, const void *buffer, size_t size, int flags, const struct sockaddr *to, socklen_t length) {
    struct iovec piece = {(void *)buffer, size};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_name = (void *)to, .msg_namelen = length};
    struct transfer call = {.fd = fd, .message = &message, .flags = flags};
    return sends(fd, &piece, 1, make_sendmsg, &call);
}
EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    struct transfer call = {.fd = fd, .message = message, .flags = flags};
    return sends(fd, message->msg_iov, (int)message->msg_iovlen, make_sendmsg, &call);
}

EXPORT ssize_t sendfile(int out, int in, off_t *offset, size_t size) {
    char full[PATH_MAX];
    if (path_of(in, full)) {
        unsigned number = count("sendfile");
        enum kind action = decide("sendfile", number, full, 0);
        note(&(struct note){.name = "sendfile", .number = number, .path = full}, action == ERROR ? -1 : 0);
        if (action == ERROR) return -1;
        if (action == SHORT || action == KILL_HALF) size = half(size);
        ssize_t result = syscall(SYS_sendfile, out, in, offset, size);
        die_if(action);
        return result;
    }
    return syscall(SYS_sendfile, out, in, offset, size);
}
EXPORT ssize_t sendfile64(int out, int in, off64_t *offset, size_t size) { return sendfile(out, in, offset, size); }

// --- Calls that change something: an error, or a kill before or after ---

#define CHANGE(label, failure, is_ours, call, ...) \
    char full[PATH_MAX]; \
    if (!(is_ours)) return call; \
    unsigned number = count(label); \
    enum kind action = decide(label, number, full, 0); \
    if (action == ERROR) { \
        note(&(struct note){.name = label, .number = number, .path = full}, -1); \
        return failure; \
    } \
    hold(); \
    struct note change = {.name = label, .number = number, .path = full, __VA_ARGS__}; \
    long result = call; \
    note(&change, result); \
    release(); \
    die_if(action); \
    return (int)result;

EXPORT int fsync(int fd) { CHANGE("sync", -1, path_of(fd, full), syscall(SYS_fsync, fd), .inode = inode_of(fd)) }
EXPORT int fdatasync(int fd) { CHANGE("sync", -1, path_of(fd, full), syscall(SYS_fdatasync, fd), .inode = inode_of(fd)) }
// What else the machine has written does not belong to the test, and takes long: the folder's files alone would do.
EXPORT int syncfs(int fd) { CHANGE("syncfs", -1, path_of(fd, full), 0, .inode = inode_of(fd)) }
EXPORT int ftruncate(int fd, off_t length) {
    CHANGE("truncate", -1, path_of(fd, full), syscall(SYS_ftruncate, fd, length), .inode = inode_of(fd), .offset = length)
}
EXPORT int ftruncate64(int fd, off64_t length) {
    CHANGE("truncate", -1, path_of(fd, full), syscall(SYS_ftruncate, fd, length), .inode = inode_of(fd), .offset = length)
}
EXPORT int fallocate(int fd, int mode, off_t offset, off_t length) {
    CHANGE("fallocate", -1, path_of(fd, full), syscall(SYS_fallocate, fd, mode, offset, length), .inode = inode_of(fd),
           .offset = offset + length, .flags = (unsigned)mode)
}
EXPORT int fchmod(int fd, mode_t mode) { CHANGE("chmod", -1, path_of(fd, full), syscall(SYS_fchmod, fd, mode), .inode = inode_of(fd)) }
EXPORT int fchmodat(int directory, const char *path, mode_t mode, int flags) {
    CHANGE("chmod", -1, resolve(directory, path, full), REAL(fchmodat)(directory, path, mode, flags))
}
EXPORT int fchown(int fd, uid_t owner, gid_t group) { CHANGE("chown", -1, path_of(fd, full), syscall(SYS_fchown, fd, owner, group)) }
EXPORT int fchownat(int directory, const char *path, uid_t owner, gid_t group, int flags) {
    CHANGE("chown", -1, resolve(directory, path, full), syscall(SYS_fchownat, directory, path, owner, group, flags))
}
EXPORT int futimens(int fd, const struct timespec times[2]) {
    struct iovec data = {(void *)times, times ? 2 * sizeof *times : 0};
    CHANGE("utimes", -1, path_of(fd, full), REAL(futimens)(fd, times), .inode = inode_of(fd), .data = &data, .pieces = 1)
}
EXPORT int utimensat(int directory, const char *path, const struct timespec times[2], int flags) {
    struct iovec data = {(void *)times, times ? 2 * sizeof *times : 0};
    CHANGE("utimes", -1, resolve(directory, path, full), REAL(utimensat)(directory, path, times, flags),
           .inode = inode_at(directory, path, flags), .data = &data, .pieces = 1)
}
EXPORT int fsetxattr(int fd, const char *name, const void *value, size_t size, int flags) {
    CHANGE("setxattr", -1, path_of(fd, full), REAL(fsetxattr)(fd, name, value, size, flags), .inode = inode_of(fd), .path2 = name)
}
EXPORT int mkdirat(int directory, const char *path, mode_t mode) {
    CHANGE("mkdir", -1, resolve(directory, path, full), syscall(SYS_mkdirat, directory, path, mode))
}
EXPORT int mkdir(const char *path, mode_t mode) {
    CHANGE("mkdir", -1, resolve(AT_FDCWD, path, full), syscall(SYS_mkdirat, AT_FDCWD, path, mode))
}
EXPORT int unlinkat(int directory, const char *path, int flags) {
    CHANGE("unlink", -1, resolve(directory, path, full), syscall(SYS_unlinkat, directory, path, flags), .flags = (unsigned)flags)
}
EXPORT int unlink(const char *path) {
    CHANGE("unlink", -1, resolve(AT_FDCWD, path, full), syscall(SYS_unlinkat, AT_FDCWD, path, 0))
}
EXPORT int rmdir(const char *path) {
    CHANGE("unlink", -1, resolve(AT_FDCWD, path, full), syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR), .flags = AT_REMOVEDIR)
}

static int moves(const char *name, int from, const char *old, int to, const char *new, unsigned flags, int is_link) {
    char full[PATH_MAX], target[PATH_MAX];
    int comes = resolve(from, old, full);
    if (!resolve(to, new, target) && !comes)
        return (int)(is_link ? syscall(SYS_linkat, from, old, to, new, flags) : syscall(SYS_renameat2, from, old, to, new, flags));
    unsigned number = count(name);
    enum kind action = decide(name, number, target, 0);
    if (action == ERROR) {
        note(&(struct note){.name = name, .number = number, .path = full, .path2 = target}, -1);
        return -1;
    }
    hold();
    int follow = is_link && (flags & AT_SYMLINK_FOLLOW) ? 0 : AT_SYMLINK_NOFOLLOW;
    unsigned long inode = is_link && (flags & AT_EMPTY_PATH) && !old[0] ? inode_of(from) : inode_at(from, old, follow);
    unsigned long replaced = inode_at(to, new, AT_SYMLINK_NOFOLLOW);
    int result = (int)(is_link ? syscall(SYS_linkat, from, old, to, new, flags) : syscall(SYS_renameat2, from, old, to, new, flags));
    note(&(struct note){.name = name, .number = number, .path = full, .path2 = target, .inode = inode, .inode2 = replaced,
                        .flags = flags}, result);
    release();
    die_if(action);
    return result;
}

EXPORT int rename(const char *old, const char *new) { return moves("rename", AT_FDCWD, old, AT_FDCWD, new, 0, 0); }
EXPORT int renameat(int from, const char *old, int to, const char *new) { return moves("rename", from, old, to, new, 0, 0); }
EXPORT int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
    return moves("rename", from, old, to, new, flags, 0);
}
EXPORT int link(const char *old, const char *new) { return moves("link", AT_FDCWD, old, AT_FDCWD, new, 0, 1); }
EXPORT int linkat(int from, const char *old, int to, const char *new, int flags) {
    return moves("link", from, old, to, new, (unsigned)flags, 1);
}

// What the harness does not model, it must at least see.
#define UNMODELLED(fd, label) \
    char full[PATH_MAX]; \
    if (path_of(fd, full)) note(&(struct note){.name = "unmodelled", .path = full, .path2 = label}, 0);

EXPORT ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t size, unsigned flags) {
    UNMODELLED(out, "copy_file_range")
    return REAL(copy_file_range)(in, from, out, to, size, flags);
}
EXPORT ssize_t pwritev(int fd, const struct iovec *pieces, int count_, off_t offset) { return writes(fd, pieces, count_, offset); }
EXPORT int symlinkat(const char *old, int directory, const char *path) {
    UNMODELLED(directory, "symlinkat")
    return REAL(symlinkat)(old, directory, path);
}
