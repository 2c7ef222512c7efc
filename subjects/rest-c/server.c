/* A REST server by evhttp of libevent: GET /api is answered with a greeting. */
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Connections that may wait to be accepted. `evhttp_bind_socket` asks for 128: of 256 that come at once some would then wait a second for their client to
   ask again. */
#define BACKLOG 1024

static const char greeting[] = "{\"greeting\":\"Hello World!\"}";

static void answer(struct evhttp_request *request, void *unused)
{
    (void)unused;
    struct evbuffer *content = evhttp_request_get_output_buffer(request);
    struct evkeyvalq *fields = evhttp_request_get_output_headers(request);
    if (evhttp_request_get_command(request) != EVHTTP_REQ_GET) {
        (void)evhttp_add_header(fields, "Allow", "GET");
        evhttp_send_reply(request, HTTP_BADMETHOD, "Method Not Allowed", NULL);
        return;
    }
    if (evhttp_add_header(fields, "Content-Type", "application/json") != 0 ||
        evbuffer_add_reference(content, greeting, sizeof greeting - 1, NULL, NULL) != 0) {
        evhttp_send_error(request, HTTP_INTERNAL, NULL);
        return;
    }
    evhttp_send_reply(request, HTTP_OK, "OK", NULL);
}

static void fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

static in_port_t parse_port(const char *text)
{
    char *end;
    unsigned long port = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || port == 0 || port > 65535) {
        fprintf(stderr, "`%s` is no port: write a number from 1 to 65535\n", text);
        exit(EXIT_FAILURE);
    }
    return (in_port_t)port;
}

static void accept_again(evutil_socket_t none, short events, void *listener)
{
    (void)none;
    (void)events;
    evconnlistener_enable(listener);
}

/* There may be no files left: the connection would be tried again at once, and for ever. It waits for some to be closed. */
static void pause_accepting(struct evconnlistener *listener, void *unused)
{
    (void)unused;
    static const struct timeval second = {1, 0};
    fprintf(stderr, "a connection was not accepted: %s\n", evutil_socket_error_to_string(EVUTIL_SOCKET_ERROR()));
    if (event_base_once(evconnlistener_get_base(listener), -1, EV_TIMEOUT, accept_again, listener, &second) == 0)
        evconnlistener_disable(listener);
}

/* What connections take over from it is set once: they send at once. */
static struct evconnlistener *listen_at(struct event_base *base, in_port_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons(port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    struct evconnlistener *listener =
        evconnlistener_new_bind(base, NULL, NULL, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE,
                                BACKLOG, (struct sockaddr *)&address, sizeof address);
    if (listener == NULL)
        fail("the port cannot be listened on");
    int on = 1;
    if (setsockopt(evconnlistener_get_fd(listener), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0)
        fail("TCP_NODELAY");
    evconnlistener_set_error_cb(listener, pause_accepting);
    return listener;
}

int main(int count, char *words[])
{
    if (count != 2) {
        fputs("usage: server PORT\n", stderr);
        return EXIT_FAILURE;
    }
    in_port_t port = parse_port(words[1]);
    /* A client that broke off is an error of writing to it, and no end of the server's. */
    signal(SIGPIPE, SIG_IGN);
    struct event_base *base = event_base_new();
    struct evhttp *server = base == NULL ? NULL : evhttp_new(base);
    if (server == NULL)
        fail("the server does not start");
    if (evhttp_set_cb(server, "/api", answer, NULL) != 0 || evhttp_bind_listener(server, listen_at(base, port)) == NULL)
        fail("the server does not serve");
    return event_base_dispatch(base) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
