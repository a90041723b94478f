/* Opens TLS connections to a server that sends one byte to each, and keeps them.
 *
 *     tls_clients PORT COUNT PROTOCOL
 *
 * PROTOCOL is what ALPN asks for ("h2"), or "-" for nothing. With "h2" the client's preface and an empty SETTINGS are sent,
 * since such a server speaks later than others. COUNT connections to 127.0.0.1:PORT are opened, 64 under way at a time. Each is there
 * once the first byte has come. Then "ready" is printed, and the program waits for the end of its standard input.
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
#include <unistd.h>

enum { UNDER_WAY = 64 };

static SSL_CTX *context;
static SSL **tls;
static char *greeted;
static int poll_descriptor;
static struct sockaddr_in address;
static int is_http2;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void begin(uint32_t number) {
    int descriptor = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    if (descriptor < 0 || connect(descriptor, (void *)&address, sizeof address) != 0) fail("connect");
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
    tls[number] = SSL_new(context);
    SSL_set_fd(tls[number], descriptor);
    SSL_set_connect_state(tls[number]);
    if (is_http2) SSL_set_alpn_protos(tls[number], (const unsigned char *)"\x02h2", 3);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = number};
    if (epoll_ctl(poll_descriptor, EPOLL_CTL_ADD, descriptor, &event) != 0) fail("epoll_ctl");
    SSL_do_handshake(tls[number]);
}

/* Whether the first byte has come. */
static int go_on(uint32_t number) {
    static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";
    SSL *session = tls[number];
    if (!SSL_is_init_finished(session)) {
        int done = SSL_do_handshake(session);
        if (done != 1) {
            if (SSL_get_error(session, done) != SSL_ERROR_WANT_READ) fail("SSL_do_handshake");
            return 0;
        }
        if (is_http2 && SSL_write(session, preface, sizeof preface - 1) <= 0) fail("SSL_write");
    }
    char bytes[512];
    int count = SSL_read(session, bytes, sizeof bytes);
    if (count <= 0 && SSL_get_error(session, count) != SSL_ERROR_WANT_READ) fail("SSL_read");
    return count > 0;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: tls_clients PORT COUNT PROTOCOL\n");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) fail("getrlimit");
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) fail("setrlimit");
    uint32_t count = atoi(argv[2]), begun = 0, ready = 0;
    is_http2 = strcmp(argv[3], "h2") == 0;
    address = (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    tls = calloc(count, sizeof *tls);
    greeted = calloc(count, 1);
    poll_descriptor = epoll_create1(0);
    while (ready < count) {
        while (begun < count && begun - ready < UNDER_WAY) begin(begun++);
        struct epoll_event events[UNDER_WAY];
        int came = epoll_wait(poll_descriptor, events, UNDER_WAY, 30000);
        if (came <= 0) fail("epoll_wait");
        for (int i = 0; i < came; i++) {
            uint32_t number = events[i].data.u32;
            int has_greeting = go_on(number);
            if (!has_greeting || greeted[number]) continue;
            greeted[number] = 1;
            ready++;
        }
    }
    printf("ready\n");
    fflush(stdout);
    char byte;
    while (read(0, &byte, 1) > 0) {}
    return 0;
}
