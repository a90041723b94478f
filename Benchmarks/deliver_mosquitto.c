// The clients that `Benchmarks/deliver` uses with mosquitto: many subscribers in one process, and one publisher.
// All connections are TLS and QoS 1; device number N has the topic `d/N`.
//
//   receive HOST PORT CA FIRST DEVICES CLEAN
//       Connects and subscribes so many devices from number FIRST on; CLEAN is 1 for sessions that end with their
//       connection. Prints `ready`, then `RECEIVED SECONDS` (CLOCK_MONOTONIC) whenever the number has changed. Ends
//       when standard input does. libmosquitto keeps three files open for each connection.
//   publish HOST PORT CA DEVICES MESSAGES WINDOW PAYLOAD-FILE
//       Publishes to the devices in turn, at most WINDOW unconfirmed. Prints how many were confirmed.
#include <errno.h>
#include <mosquitto.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { keepalive_seconds = 600, handshakes_at_a_time = 64, progress_milliseconds = 20, events_per_wait = 1024 };

typedef struct {
    struct mosquitto *connection;
    int number;
    bool waits_for_write;
} Device;

static long received, subscribed, confirmed;

static void fail(const char *what, const char *reason) {
    fprintf(stderr, "%s: %s\n", what, reason);
    exit(1);
}

static void check(int result, const char *what) {
    if (result != MOSQ_ERR_SUCCESS) fail(what, result == MOSQ_ERR_ERRNO ? strerror(errno) : mosquitto_strerror(result));
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// One context for all connections: each of libmosquitto's own would read the certificate anew.
static SSL_CTX *trust(const char *authority) {
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (!context || SSL_CTX_load_verify_locations(context, authority, NULL) != 1) fail(authority, "cannot be trusted");
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    return context;
}

static struct mosquitto *client(const char *name, bool clean, SSL_CTX *context, void *object) {
    struct mosquitto *connection = mosquitto_new(name, clean, object);
    if (!connection) fail(name, "no memory");
    check(mosquitto_int_option(connection, MOSQ_OPT_TCP_NODELAY, 1), "TCP_NODELAY");
    check(mosquitto_void_option(connection, MOSQ_OPT_SSL_CTX, context), "TLS");
    check(mosquitto_int_option(connection, MOSQ_OPT_SSL_CTX_WITH_DEFAULTS, 0), "TLS");
    check(mosquitto_max_inflight_messages_set(connection, 0), "window");
    return connection;
}

// MARK: Receiving

static void device_connected(struct mosquitto *connection, void *object, int result) {
    if (result != 0) fail("a device was not let in", mosquitto_connack_string(result));
    char topic[32];
    snprintf(topic, sizeof topic, "d/%d", ((Device *)object)->number);
    check(mosquitto_subscribe(connection, NULL, topic, 1), "subscribe");
}

static void device_subscribed(struct mosquitto *connection, void *object, int id, int count, const int *granted) {
    (void)connection, (void)object, (void)id;
    if (count != 1 || granted[0] != 1) fail("a subscription", "QoS 1 was not granted");
    subscribed += 1;
}

static void device_received(struct mosquitto *connection, void *object, const struct mosquitto_message *message) {
    (void)connection, (void)object, (void)message;
    received += 1;
}

static void begin(Device *device, const char *host, int port, bool clean, SSL_CTX *context, int poll) {
    char name[32];
    snprintf(name, sizeof name, "device-%d", device->number);
    device->connection = client(name, clean, context, device);
    mosquitto_connect_callback_set(device->connection, device_connected);
    mosquitto_subscribe_callback_set(device->connection, device_subscribed);
    mosquitto_message_callback_set(device->connection, device_received);
    check(mosquitto_connect(device->connection, host, port, keepalive_seconds), "connect");
    device->waits_for_write = true;
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT, .data.ptr = device};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, mosquitto_socket(device->connection), &event)) fail("epoll", strerror(errno));
}

static void serve(Device *device, uint32_t events, int poll) {
    if (events & (EPOLLIN | EPOLLERR | EPOLLHUP)) check(mosquitto_loop_read(device->connection, 1), "read");
    if (events & EPOLLOUT) check(mosquitto_loop_write(device->connection, 1), "write");
    bool wants_write = mosquitto_want_write(device->connection);
    if (wants_write == device->waits_for_write) return;
    device->waits_for_write = wants_write;
    struct epoll_event event = {.events = EPOLLIN | (wants_write ? EPOLLOUT : 0), .data.ptr = device};
    if (epoll_ctl(poll, EPOLL_CTL_MOD, mosquitto_socket(device->connection), &event)) fail("epoll", strerror(errno));
}

static int receive(const char *host, int port, const char *authority, int first, int count, bool clean) {
    SSL_CTX *context = trust(authority);
    Device *devices = calloc((size_t)count, sizeof *devices);
    int poll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event input = {.events = EPOLLIN, .data.ptr = NULL};
    if (!devices || poll < 0 || epoll_ctl(poll, EPOLL_CTL_ADD, STDIN_FILENO, &input)) fail("begin", strerror(errno));
    struct epoll_event events[events_per_wait];
    int begun = 0;
    long told = 0;
    bool is_ready = false;
    double due = 0;
    for (;;) {
        while (begun < count && begun - subscribed < handshakes_at_a_time) {
            devices[begun].number = first + begun;
            begin(&devices[begun++], host, port, clean, context, poll);
        }
        int ready = epoll_wait(poll, events, events_per_wait, progress_milliseconds);
        if (ready < 0 && errno != EINTR) fail("epoll", strerror(errno));
        for (int index = 0; index < ready; index += 1) {
            if (!events[index].data.ptr) return 0;
            serve(events[index].data.ptr, events[index].events, poll);
        }
        if (!is_ready && subscribed == count) {
            is_ready = true;
            puts("ready");
            fflush(stdout);
        }
        double now = seconds();
        if (received != told && now >= due) {
            told = received;
            due = now + progress_milliseconds / 1000.0;
            printf("%ld %.6f\n", received, now);
            fflush(stdout);
        }
    }
}

// MARK: Publishing

static void publisher_connected(struct mosquitto *connection, void *object, int result) {
    (void)connection;
    if (result != 0) fail("the publisher was not let in", mosquitto_connack_string(result));
    *(bool *)object = true;
}

static void publisher_confirmed(struct mosquitto *connection, void *object, int id) {
    (void)connection, (void)object, (void)id;
    confirmed += 1;
}

static int publish(const char *host, int port, const char *authority, int devices, long count, long window,
                   const char *path) {
    char payload[65536];
    FILE *file = fopen(path, "rb");
    if (!file) fail(path, strerror(errno));
    int size = (int)fread(payload, 1, sizeof payload, file);
    fclose(file);
    bool is_connected = false;
    struct mosquitto *connection = client("publisher", true, trust(authority), &is_connected);
    mosquitto_connect_callback_set(connection, publisher_connected);
    mosquitto_publish_callback_set(connection, publisher_confirmed);
    check(mosquitto_connect(connection, host, port, keepalive_seconds), "connect");
    while (!is_connected) check(mosquitto_loop(connection, 1000, 1), "connect");
    long sent = 0;
    while (confirmed < count) {
        for (; sent < count && sent - confirmed < window; sent += 1) {
            char topic[32];
            snprintf(topic, sizeof topic, "d/%ld", sent % devices);
            check(mosquitto_publish(connection, NULL, topic, size, payload, 1, false), "publish");
        }
        check(mosquitto_loop(connection, 1000, 1), "publish");
    }
    printf("%ld\n", confirmed);
    mosquitto_disconnect(connection);
    return 0;
}

int main(int count, char **words) {
    mosquitto_lib_init();
    if (count == 8 && !strcmp(words[1], "receive"))
        return receive(words[2], atoi(words[3]), words[4], atoi(words[5]), atoi(words[6]), atoi(words[7]) == 1);
    if (count == 9 && !strcmp(words[1], "publish"))
        return publish(words[2], atoi(words[3]), words[4], atoi(words[5]), atol(words[6]), atol(words[7]), words[8]);
    fprintf(stderr, "usage: receive HOST PORT CA FIRST DEVICES CLEAN\n"
                    "       publish HOST PORT CA DEVICES MESSAGES WINDOW PAYLOAD-FILE\n");
    return 2;
}
