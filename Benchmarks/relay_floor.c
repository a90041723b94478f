/* What calls through the relay are measured beside: a question of 256 bytes and its answer, one after the other.
 *
 *   relay_floor echo                a process that answers over TCP, nothing between
 *   relay_floor nats PORT           asker and answerer at a NATS server
 *   relay_floor mqtt PORT           the same at an MQTT broker, QoS 0
 *   relay_floor natss PORT          as nats, over TLS 1.3
 *   relay_floor mqtts PORT          as mqtt, over TLS 1.3
 *   relay_floor chain FOLDER        the way of a call and nothing else: a process that passes on, one between TLS 1.3 and TLS 1.3, one
 *                                   that answers; FOLDER has broker.pem and broker.key
 *   ... [COUNT]
 *
 * Prints the 50th and the 99th percentile in microseconds, and calls a second. All on loopback, with TCP_NODELAY.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 256, WARM = 200 };

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

/* The one connection of this process, where it is over TLS. The certificate is not checked: it costs the handshake alone. */
static SSL *secure;

static SSL *accepted(int peer, const char *folder) {
    char path[4096];
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
    snprintf(path, sizeof path, "%s/broker.pem", folder);
    if (SSL_CTX_use_certificate_file(context, path, SSL_FILETYPE_PEM) != 1) fail(path);
    snprintf(path, sizeof path, "%s/broker.key", folder);
    if (SSL_CTX_use_PrivateKey_file(context, path, SSL_FILETYPE_PEM) != 1) fail(path);
    SSL *ssl = SSL_new(context);
    SSL_set_fd(ssl, peer);
    if (SSL_accept(ssl) != 1) fail("TLS");
    return ssl;
}

static void encrypt(int peer) {
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
    secure = SSL_new(context);
    SSL_set_fd(secure, peer);
    if (SSL_connect(secure) != 1) fail("TLS");
}

static void say(int peer, const void *bytes, size_t count) {
    const char *at = bytes;
    while (count > 0) {
        ssize_t done = secure ? SSL_write(secure, at, (int)count) : write(peer, at, count);
        if (done <= 0) fail("write");
        at += done, count -= (size_t)done;
    }
}

static void hear(int peer, void *bytes, size_t count) {
    char *at = bytes;
    while (count > 0) {
        ssize_t done = secure ? SSL_read(secure, at, (int)count) : read(peer, at, count);
        if (done <= 0) exit(0);
        at += done, count -= (size_t)done;
    }
}

static int tcp(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int peer = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    if (peer < 0 || connect(peer, (struct sockaddr *)&address, sizeof address)) fail("connect");
    setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return peer;
}

/* Reads a line of NATS' protocol; answers pings. */
static void line(int peer, char *text, size_t room) {
    do {
        size_t count = 0;
        do {
            if (count + 1 >= room) exit(1);
            hear(peer, text + count, 1);
        } while (text[count++] != '\n');
        text[count] = 0;
        if (!strncmp(text, "PING", 4)) say(peer, "PONG\r\n", 6);
    } while (!strncmp(text, "PING", 4) || !strncmp(text, "PONG", 4) || !strncmp(text, "+OK", 3));
}

static void nats_send(int peer, const char *subject, const char *body) {
    char frame[SIZE + 64];
    int head = sprintf(frame, "PUB %s %d\r\n", subject, SIZE);
    memcpy(frame + head, body, SIZE);
    memcpy(frame + head + SIZE, "\r\n", 2);
    say(peer, frame, (size_t)head + SIZE + 2);
}

static void nats_hear(int peer, char *body) {
    char text[512], end[2];
    line(peer, text, sizeof text);
    hear(peer, body, SIZE);
    hear(peer, end, 2);
}

static int nats(int port, const char *subject, int isSecure) {
    char text[8192];
    int peer = tcp(port);
    line(peer, text, sizeof text); /* INFO */
    if (isSecure) encrypt(peer);
    sprintf(text, "CONNECT {\"verbose\":false}\r\nSUB %s 1\r\nPING\r\n", subject);
    say(peer, text, strlen(text));
    do hear(peer, text, 1);
    while (*text != 'P');
    hear(peer, text, 5); /* ONG\r\n: the subscription is there */
    return peer;
}

static void mqtt_send(int peer, const char *topic, const char *body) {
    unsigned char frame[SIZE + 16];
    size_t name = strlen(topic), count = 2 + name + SIZE;
    frame[0] = 0x30, frame[1] = (unsigned char)(count % 128 | 128), frame[2] = (unsigned char)(count / 128);
    frame[3] = 0, frame[4] = (unsigned char)name;
    memcpy(frame + 5, topic, name);
    memcpy(frame + 5 + name, body, SIZE);
    say(peer, frame, 3 + count);
}

static void mqtt_hear(int peer, char *body) {
    unsigned char head[5];
    hear(peer, head, 5);
    hear(peer, body, head[4]);
    hear(peer, body, SIZE);
}

static int mqtt(int port, const char *topic, int isSecure) {
    unsigned char text[64] = {0x10, 13, 0, 4, 'M', 'Q', 'T', 'T', 4, 2, 0, 0, 0, 1, (unsigned char)topic[0]};
    int peer = tcp(port);
    if (isSecure) encrypt(peer);
    say(peer, text, 15);
    hear(peer, text, 4);
    unsigned char wish[] = {0x82, 6, 0, 1, 0, 1, (unsigned char)topic[0], 0};
    say(peer, wish, sizeof wish);
    hear(peer, text, 5);
    return peer;
}

static int listening(int *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t room = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, room) || listen(listener, 2)) fail("listen");
    getsockname(listener, (struct sockaddr *)&address, &room);
    *port = ntohs(address.sin_port);
    return listener;
}

static int one_peer(int listener) {
    int one = 1, peer = accept(listener, NULL, NULL);
    setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return peer;
}

/* Passes each question from one to the other, and the answer back. */
static void pass(int from, SSL *from_secure, int to, SSL *to_secure) {
    char body[SIZE];
    for (;;) {
        secure = from_secure, hear(from, body, SIZE);
        secure = to_secure, say(to, body, SIZE);
        hear(to, body, SIZE);
        secure = from_secure, say(from, body, SIZE);
    }
}

/* Begins the three processes between which a call goes, in order; the asker's end of the first one's socket. */
static int chain(const char *folder, pid_t *processes) {
    int port, listener = listening(&port), ends[2], began[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) fail("socketpair");
    if (pipe(began)) fail("pipe");
    if ((processes[0] = fork()) == 0) {
        int asking = one_peer(listener);
        SSL *asking_secure = accepted(asking, folder);
        if (write(began[1], "r", 1) != 1) fail("write");
        int answering = one_peer(listener);
        pass(asking, asking_secure, answering, accepted(answering, folder));
    }
    if ((processes[1] = fork()) == 0) {
        int peer = tcp(port);
        encrypt(peer);
        pass(ends[1], NULL, peer, secure);
    }
    close(ends[1]);
    char body[SIZE];
    if ((processes[2] = fork()) == 0) {
        close(ends[0]);
        /* The one that asks comes first. */
        if (read(began[0], body, 1) != 1) fail("read");
        int peer = tcp(port);
        encrypt(peer);
        for (;;) hear(peer, body, SIZE), say(peer, body, SIZE);
    }
    return ends[0];
}

static int compare(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

int main(int count, char **words) {
    if (count < 2)
        return fprintf(stderr, "relay_floor echo | nats PORT | mqtt PORT | natss PORT | mqtts PORT | chain FOLDER [COUNT]\n"), 2;
    char kind = words[1][0], body[SIZE];
    int isEcho = kind == 'e', isSecure = !strcmp(words[1], "natss") || !strcmp(words[1], "mqtts");
    int port = isEcho || count < 3 ? 0 : atoi(words[2]), listener = -1, ready[2];
    int calls = count > (isEcho ? 2 : 3) ? atoi(words[isEcho ? 2 : 3]) : 5000;
    pid_t processes[3] = {0, 0, 0};
    if (calls < 1) return 2;
    memset(body, 'x', SIZE);
    if (pipe(ready)) fail("pipe");
    if (isEcho) listener = listening(&port);
    int peer = kind == 'c' ? chain(words[2], processes) : -1;
    if (kind != 'c' && (processes[0] = fork()) == 0) {
        if (isEcho) {
            say(ready[1], "r", 1);
            peer = one_peer(listener);
        } else {
            peer = kind == 'n' ? nats(port, "q", isSecure) : mqtt(port, "q", isSecure);
            if (write(ready[1], "r", 1) != 1) fail("write");
        }
        for (;;) {
            if (isEcho) hear(peer, body, SIZE), say(peer, body, SIZE);
            if (kind == 'n') nats_hear(peer, body), nats_send(peer, "a", body);
            if (kind == 'm') mqtt_hear(peer, body), mqtt_send(peer, "a", body);
        }
    }
    if (kind != 'c') {
        hear(ready[0], words[1], 1);
        peer = isEcho ? tcp(port) : kind == 'n' ? nats(port, "a", isSecure) : mqtt(port, "a", isSecure);
    }
    double *times = malloc(sizeof(double) * (size_t)calls), began = 0;
    for (int call = -WARM; call < calls; call++) {
        double start = now();
        if (call == 0) began = start;
        if (isEcho || kind == 'c') say(peer, body, SIZE), hear(peer, body, SIZE);
        if (kind == 'n') nats_send(peer, "q", body), nats_hear(peer, body);
        if (kind == 'm') mqtt_send(peer, "q", body), mqtt_hear(peer, body);
        if (call >= 0) times[call] = now() - start;
    }
    double rate = calls / (now() - began) * 1e6;
    qsort(times, (size_t)calls, sizeof(double), compare);
    printf("%.1f %.1f %.0f\n", times[calls / 2], times[calls * 99 / 100], rate);
    close(peer);
    for (int each = 0; each < 3; each++)
        if (processes[each] > 0) kill(processes[each], SIGTERM), waitpid(processes[each], NULL, 0);
    return 0;
}
