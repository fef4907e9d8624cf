// The GNU calls that Ferry needs and Swift's Glibc module does not show: they hide behind _GNU_SOURCE.
#ifndef FERRY_CLINUX_H
#define FERRY_CLINUX_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

// renameat2(2), since Linux 3.15 and glibc 2.28.
extern int renameat2(int old_directory, const char *old_path, int new_directory, const char *new_path,
                     unsigned int flags);

// linux/fs.h: fail with EEXIST instead of replacing the target.
static const unsigned int FERRY_RENAME_NOREPLACE = 1;

// memfd_create(2), since Linux 3.17 and glibc 2.27.
extern int memfd_create(const char *name, unsigned int flags);

// syncfs(2).
extern int syncfs(int descriptor);

// fallocate(2), with numbers of linux/falloc.h. FALLOC_FL_KEEP_SIZE: blocks behind a file's end are its own from then on. With
// FALLOC_FL_PUNCH_HOLE: gives a part of a file back to the disk; it reads as zeros.
extern int fallocate(int descriptor, int mode, off_t offset, off_t length);
static const int FERRY_KEEP_SIZE = 0x01;
static const int FERRY_PUNCH_HOLE = 0x01 | 0x02;

// copy_file_range(2), since Linux 4.5 and glibc 2.27.
extern ssize_t copy_file_range(int source, off_t *source_offset, int target, off_t *target_offset, size_t length,
                               unsigned int flags);

// open(2): a file without a name, in a folder. With O_DIRECTORY beside it, as asm-generic/fcntl.h has it.
static const int FERRY_TMPFILE = 020000000;

// sync_file_range(2), with numbers of linux/fs.h. FERRY_START_WRITING: has the kernel begin to write a part of a file. With FERRY_AWAIT_WRITING: and
// waits for the end of it.
extern int sync_file_range(int descriptor, off_t offset, off_t length, unsigned int flags);
static const unsigned int FERRY_START_WRITING = 2;
static const unsigned int FERRY_AWAIT_WRITING = 1 | 2 | 4;

// ioctl_ficlone(2): two files share their blocks until one of them is written to. Swift knows no ioctl that takes any request.
// The number of FICLONE is that of linux/fs.h, which would make this module the home of what Swift's Glibc declares.
extern int ioctl(int descriptor, unsigned long request, ...);
static inline int ferry_clone(int target, int source) {
#if defined(__x86_64__) || defined(__aarch64__) || defined(__riscv) || defined(__arm__) || defined(__i386__)
    return ioctl(target, 0x40049409UL, source);
#else
    return -1;
#endif
}

// memmem(3) and memrchr(3).
extern void *memmem(const void *haystack, size_t haystack_length, const void *needle, size_t needle_length);
extern void *memrchr(const void *bytes, int byte, size_t length);

// The file system's magic number, statfs(2); 0 when it cannot be told. Swift's Glibc has statvfs, which lacks it.
static inline unsigned long ferry_file_system(int descriptor) {
    struct statfs status;
    return fstatfs(descriptor, &status) == 0 ? (unsigned long)status.f_type & 0xffffffffUL : 0;
}

#endif
