/* The least that a live delivery can cost a server: one TLS record written, one read, for each message.
 *
 *     deliver_floor CERTIFICATE KEY SESSIONS MESSAGES PAYLOAD ACKNOWLEDGEMENT IN_FLIGHT
 *
 * A process with SESSIONS TLS connections over loopback TCP sends MESSAGES records of PAYLOAD bytes in turn, and reads a
 * record of ACKNOWLEDGEMENT bytes for each. It does nothing else: no parsing, no store, no acceptance. The other ends
 * live in a child. Prints the server's processor time per message, in microseconds: all, user, system.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void raise_descriptors(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) fail("getrlimit");
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) fail("setrlimit");
}

static void be_ready(int descriptor, SSL *session, int poll, uint32_t number) {
    int on = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
    SSL_set_mode(session, SSL_MODE_RELEASE_BUFFERS);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = number};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event) != 0) fail("epoll_ctl");
}

/* Answers each record of `payload` bytes with one of `acknowledgement` bytes, until the connections end. */
static void receive(uint16_t port, int sessions, int payload, int acknowledgement) {
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL **tls = calloc(sessions, sizeof *tls);
    int poll = epoll_create1(0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    for (int i = 0; i < sessions; i++) {
        int descriptor = socket(AF_INET, SOCK_STREAM, 0);
        if (descriptor < 0 || connect(descriptor, (void *)&address, sizeof address) != 0) fail("connect");
        tls[i] = SSL_new(context);
        SSL_set_fd(tls[i], descriptor);
        if (SSL_connect(tls[i]) != 1) fail("SSL_connect");
        be_ready(descriptor, tls[i], poll, i);
    }
    char *bytes = calloc(1, payload > acknowledgement ? payload : acknowledgement);
    struct epoll_event events[64];
    for (;;) {
        int count = epoll_wait(poll, events, 64, -1);
        for (int i = 0; i < count; i++) {
            SSL *session = tls[events[i].data.u32];
            int got;
            while ((got = SSL_read(session, bytes, payload)) == payload) SSL_write(session, bytes, acknowledgement);
            if (got <= 0 && SSL_get_error(session, got) != SSL_ERROR_WANT_READ) _exit(0);
        }
    }
}

int main(int count, char **words) {
    if (count != 8) {
        fprintf(stderr, "deliver_floor CERTIFICATE KEY SESSIONS MESSAGES PAYLOAD ACKNOWLEDGEMENT IN_FLIGHT\n");
        return 2;
    }
    int sessions = atoi(words[3]), payload = atoi(words[5]), acknowledgement = atoi(words[6]);
    long messages = atol(words[4]), in_flight = atol(words[7]);
    raise_descriptors();
    signal(SIGPIPE, SIG_IGN);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    if (bind(listener, (void *)&address, sizeof address) != 0 || listen(listener, 64) != 0) fail("listen");
    getsockname(listener, (void *)&address, &length);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        receive(address.sin_port, sessions, payload, acknowledgement);
    }

    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (SSL_CTX_use_certificate_chain_file(context, words[1]) != 1
        || SSL_CTX_use_PrivateKey_file(context, words[2], SSL_FILETYPE_PEM) != 1) {
        fprintf(stderr, "no certificate\n");
        return 1;
    }
    SSL **tls = calloc(sessions, sizeof *tls);
    int poll = epoll_create1(0);
    for (int i = 0; i < sessions; i++) {
        int descriptor = accept(listener, NULL, NULL);
        if (descriptor < 0) fail("accept");
        tls[i] = SSL_new(context);
        SSL_set_fd(tls[i], descriptor);
        if (SSL_accept(tls[i]) != 1) fail("SSL_accept");
        be_ready(descriptor, tls[i], poll, i);
    }

    char *bytes = calloc(1, payload > acknowledgement ? payload : acknowledgement);
    struct epoll_event events[64];
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    long sent = 0, acknowledged = 0;
    while (acknowledged < messages) {
        for (; sent < messages && sent - acknowledged < in_flight; sent++)
            if (SSL_write(tls[sent % sessions], bytes, payload) != payload) fail("SSL_write");
        int ready = epoll_wait(poll, events, 64, -1);
        for (int i = 0; i < ready; i++)
            while (SSL_read(tls[events[i].data.u32], bytes, acknowledgement) == acknowledgement) acknowledged++;
    }
    getrusage(RUSAGE_SELF, &after);
    double user = (after.ru_utime.tv_sec - before.ru_utime.tv_sec) * 1e6 + after.ru_utime.tv_usec - before.ru_utime.tv_usec;
    double system = (after.ru_stime.tv_sec - before.ru_stime.tv_sec) * 1e6 + after.ru_stime.tv_usec - before.ru_stime.tv_usec;
    printf("%.2f %.2f %.2f\n", (user + system) / messages, user / messages, system / messages);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return 0;
}
