/* Loaded in front of the C library: below the folder of READONLY_FOLDER nothing can be written while the file READONLY_FLAG exists,
   as after a kernel has put a disk to read-only because of its errors: also what was open for writing gets EROFS. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int flagged(void) {
    const char *flag = getenv("READONLY_FLAG");
    return flag && access(flag, F_OK) == 0;
}

static int below(const char *path) {
    const char *folder = getenv("READONLY_FOLDER");
    return folder && path && strncmp(path, folder, strlen(folder)) == 0;
}

static int refused(int file) {
    if (!flagged()) return 0;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return below(path);
}

#define FAIL(file) if (refused(file)) { errno = EROFS; return -1; }
#define REAL(name, result, ...) \
    static result (*real)(__VA_ARGS__); \
    if (!real) real = (result (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name);

ssize_t write(int file, const void *data, size_t count) {
    REAL("write", ssize_t, int, const void *, size_t)
    FAIL(file)
    return real(file, data, count);
}
ssize_t writev(int file, const struct iovec *parts, int count) {
    REAL("writev", ssize_t, int, const struct iovec *, int)
    FAIL(file)
    return real(file, parts, count);
}
ssize_t pwrite(int file, const void *data, size_t count, off_t at) {
    REAL("pwrite", ssize_t, int, const void *, size_t, off_t)
    FAIL(file)
    return real(file, data, count, at);
}
ssize_t pwrite64(int file, const void *data, size_t count, off64_t at) {
    REAL("pwrite64", ssize_t, int, const void *, size_t, off64_t)
    FAIL(file)
    return real(file, data, count, at);
}
int ftruncate(int file, off_t size) {
    REAL("ftruncate", int, int, off_t)
    FAIL(file)
    return real(file, size);
}
int ftruncate64(int file, off64_t size) {
    REAL("ftruncate64", int, int, off64_t)
    FAIL(file)
    return real(file, size);
}
int fallocate64(int file, int mode, off64_t at, off64_t size) {
    REAL("fallocate64", int, int, int, off64_t, off64_t)
    FAIL(file)
    return real(file, mode, at, size);
}
int unlink(const char *path) {
    REAL("unlink", int, const char *)
    if (flagged() && below(path)) { errno = EROFS; return -1; }
    return real(path);
}
int rename(const char *from, const char *to) {
    REAL("rename", int, const char *, const char *)
    if (flagged() && below(to)) { errno = EROFS; return -1; }
    return real(from, to);
}
static int changes(int flags) { return (flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC); }
int open(const char *path, int flags, ...) {
    REAL("open", int, const char *, int, ...)
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    if (changes(flags) && flagged() && below(path)) { errno = EROFS; return -1; }
    return real(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    REAL("open64", int, const char *, int, ...)
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    if (changes(flags) && flagged() && below(path)) { errno = EROFS; return -1; }
    return real(path, flags, mode);
}
