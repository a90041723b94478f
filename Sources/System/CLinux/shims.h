#ifndef ALDABA_CLINUX_H
#define ALDABA_CLINUX_H
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <malloc.h>
#include <net/if.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

/// The peer of a connected Unix socket, as the kernel saw it at connect time.
struct aldaba_peer {
    pid_t pid;
    uid_t uid;
    gid_t gid;
};

/// SO_PEERCRED, whose value has the layout of `struct aldaba_peer`.
static const int aldaba_peer_credentials_option = 17;

/// Reads SO_PEERCRED; `struct ucred` itself needs _GNU_SOURCE, which Swift's importer does not set.
static inline int aldaba_peer_credentials(int socket, struct aldaba_peer *peer) {
    socklen_t length = sizeof(*peer);
    return getsockopt(socket, SOL_SOCKET, aldaba_peer_credentials_option, peer, &length);
}

/// Reads, or raises by one, a counter in memory that processes share.
static inline uint64_t aldaba_shared_counter_read(const void *counter) {
    return __atomic_load_n((const uint64_t *)counter, __ATOMIC_ACQUIRE);
}
static inline void aldaba_shared_counter_raise(void *counter) {
    __atomic_add_fetch((uint64_t *)counter, 1, __ATOMIC_ACQ_REL);
    syscall(SYS_futex, counter, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/// Waits until a counter, whose lower half is its first, is another than one that was seen, or for so many milliseconds.
static inline void aldaba_shared_counter_wait(const void *counter, uint64_t seen, int milliseconds) {
    struct timespec timeout = {milliseconds / 1000, (milliseconds % 1000) * 1000000L};
    syscall(SYS_futex, counter, FUTEX_WAIT, (uint32_t)seen, &timeout, NULL, 0);
}

/// A non-blocking counter that wakes a poll.
static inline int aldaba_wake_up_open(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

/// A timer of the wall clock that can be polled; -1 with errno.
static inline int aldaba_alarm_open(void) { return timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK); }

/// Lets the timer expire at an instant, in milliseconds since 1970, at once for one that has passed; also when the clock
/// is set: then reading it fails with ECANCELED. 0 turns it off.
static inline int aldaba_alarm_set(int alarm, long long milliseconds) {
    struct itimerspec when = { { 0, 0 }, { milliseconds / 1000, (milliseconds % 1000) * 1000000 } };
    return timerfd_settime(alarm, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &when, 0);
}

/// Whether the timer has expired since that was asked last: 1 or 0; a negative errno value otherwise, -ECANCELED when the
/// clock was set.
static inline int aldaba_alarm_read(int alarm) {
    uint64_t expirations = 0;
    if (read(alarm, &expirations, sizeof expirations) > 0) return 1;
    return errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

/// A clock in milliseconds; CLOCK_BOOTTIME is 7, hidden without _GNU_SOURCE.
static const int aldaba_clock_wall = CLOCK_REALTIME, aldaba_clock_boot = 7;
static inline long long aldaba_clock_read(int clock) {
    struct timespec now;
    return clock_gettime(clock, &now) == 0 ? now.tv_sec * 1000LL + now.tv_nsec / 1000000 : 0;
}

/// Names the thread that calls it, in up to 15 bytes: prctl(2).
static inline void aldaba_thread_name(const char *name) { prctl(PR_SET_NAME, name); }

/// What the calling thread starts from now on gains no rights by the programs that it runs: PR_SET_NO_NEW_PRIVS of prctl(2),
/// which belongs to a thread and is inherited. 0, or -1 with errno.
static inline int aldaba_gain_no_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

/// A descriptor that is readable once the process has ended: pidfd_open(2), Linux 5.3; -1 with errno. It needs no reaping.
static inline int aldaba_process_open(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

/// Tells of files that come, go and change in folders; -1 with errno.
static inline int aldaba_watch_open(void) { return inotify_init1(IN_CLOEXEC | IN_NONBLOCK); }

/// Watches a folder for its own move and end, with `names` also for what becomes of the files in it, beside what it was
/// watched for before; -1 with errno.
static inline int aldaba_watch_add(int watch, const char *folder, int names) {
    const unsigned itself = IN_MOVE_SELF | IN_DELETE_SELF | IN_ONLYDIR | IN_MASK_ADD;
    const unsigned files = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_ATTRIB;
    return inotify_add_watch(watch, folder, names ? itself | files : itself);
}

/// What is printed is seen line by line, also where no terminal reads it: setvbuf(3).
static inline void aldaba_print_by_lines(void) { setvbuf(stdout, NULL, _IOLBF, 0); }
static inline int aldaba_prints_by_lines(void) { return __flbf(stdout); }

/// The bytes that the program has from the C library and has not given back to it: mallinfo2(3).
static inline size_t aldaba_memory_in_use(void) {
    struct mallinfo2 told = mallinfo2();
    return told.uordblks + told.hblkhd;
}

/// How many free bytes at the end of each of its heaps the C library keeps, and from which size on a piece of memory is one that the
/// system gives and takes by itself: mallopt(3).
static inline void aldaba_keep_memory(int free_bytes, int mapped_from) {
    mallopt(M_TRIM_THRESHOLD, free_bytes);
    mallopt(M_MMAP_THRESHOLD, mapped_from);
}

/// The C library gives the system all that it keeps for later: malloc_trim(3).
static inline void aldaba_give_back_memory(void) { malloc_trim(0); }

/// Tells of links, addresses and routes that come and go: rtnetlink(7). Reading does not wait; -1 with errno.
static inline int aldaba_network_open(void) {
    int news = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (news < 0) return -1;
    struct sockaddr_nl address = {
        .nl_family = AF_NETLINK,
        .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE,
    };
    if (bind(news, (struct sockaddr *)&address, sizeof(address)) == 0) return news;
    int reason = errno;
    close(news);
    errno = reason;
    return -1;
}

/// A pipe that no program inherits: pipe2(2) with O_CLOEXEC.
extern int pipe2(int ends[2], int flags);
static inline int aldaba_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

/// glibc 2.34; its header shows it only with _GNU_SOURCE.
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

/// Starts a program, in a session of its own if so wished: standard input, output and errors are these descriptors, or empty
/// where one is negative, and descriptor 3 is `further`, unless negative; no other descriptor inherited, no signal blocked or
/// ignored. Returns 0 or an errno value.
static inline int aldaba_spawn(
    pid_t *pid, const char *path, int input, int output, int errors, int further, int is_detached,
    char *const arguments[], char *const environment[]
) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    int result = posix_spawn_file_actions_init(&actions);
    if (result != 0) return result;
    result = posix_spawnattr_init(&attributes);
    if (result != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return result;
    }
    sigemptyset(&none);
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    const short new_session = is_detached ? 0x80 : 0; /* POSIX_SPAWN_SETSID, hidden without _GNU_SOURCE */
    const int standard[3] = { input, output, errors };
    for (int each = 0; each < 3 && result == 0; each++) {
        result = standard[each] < 0
            ? posix_spawn_file_actions_addopen(&actions, each, "/dev/null", each == 0 ? O_RDONLY : O_WRONLY, 0)
            : posix_spawn_file_actions_adddup2(&actions, standard[each], each);
    }
    if (result == 0 && further >= 0) result = posix_spawn_file_actions_adddup2(&actions, further, 3);
    if (result == 0
        && (result = posix_spawn_file_actions_addclosefrom_np(&actions, further < 0 ? 3 : 4)) == 0
        && (result = posix_spawnattr_setsigmask(&attributes, &none)) == 0
        && (result = posix_spawnattr_setsigdefault(&attributes, &all)) == 0
        && (result = posix_spawnattr_setflags(
                &attributes, (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | new_session))) == 0) {
        result = posix_spawn(pid, path, &actions, &attributes, arguments, environment);
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return result;
}

/// Puts an empty folder in memory over a folder, or a file over a file: mount(2). 0, or -1 with errno.
static inline int aldaba_mount_memory(const char *folder) {
    return mount("tmpfs", folder, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0700");
}
static inline int aldaba_mount_file(const char *file, const char *over) {
    return mount(file, over, NULL, MS_BIND, NULL);
}

/// Starts the loopback interface of a network namespace: netdevice(7). 0, or -1 with errno.
static inline int aldaba_start_loopback(void) {
    struct ifreq request = { .ifr_name = "lo" };
    int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (any < 0) return -1;
    int result = ioctl(any, SIOCGIFFLAGS, &request);
    request.ifr_flags |= IFF_UP | IFF_RUNNING;
    if (result == 0) result = ioctl(any, SIOCSIFFLAGS, &request);
    int reason = errno;
    close(any);
    errno = reason;
    return result;
}

/// What the calling thread starts from now on has no capabilities by it: PR_CAP_AMBIENT_CLEAR_ALL of prctl(2), which belongs to a
/// thread. 0, or -1 with errno.
static inline int aldaba_drop_capabilities(void) { return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); }
#endif
