/* Unix sockets in the abstract name space, which leave no file behind; sequenced packets, which keep the bounds of messages. */
#include "channel.h"

#include <errno.h>
#include <libgen.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void member_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", program_invocation_short_name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    _exit(EXIT_FAILURE);
}

void member_program(char path[PATH_MAX])
{
    char own[PATH_MAX] = "";
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length < 0 || snprintf(path, PATH_MAX, "%s/member", dirname(own)) >= PATH_MAX)
        member_fail("the path of the members' program cannot be had: %s", strerror(errno));
}

static socklen_t address_of(const char *name, unsigned rank, struct sockaddr_un *address)
{
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    int length = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "%s-%u", name, rank);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

static int new_socket(void)
{
    int channel = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (channel < 0)
        member_fail("no socket for the members' channel: %s", strerror(errno));
    return channel;
}

int channel_listen(const char *name, unsigned rank)
{
    struct sockaddr_un address;
    socklen_t length = address_of(name, rank, &address);
    int listening = new_socket();
    if (bind(listening, (struct sockaddr *)&address, length) != 0 || listen(listening, 1) != 0)
        member_fail("member %u cannot wait for its leader at @%s-%u: %s", rank, name, rank, strerror(errno));
    return listening;
}

static bool same_user(int channel)
{
    struct ucred peer;
    socklen_t length = sizeof peer;
    return getsockopt(channel, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == getuid();
}

static int known(int channel)
{
    if (channel >= 0 && !same_user(channel)) {
        close(channel);
        return -1;
    }
    return channel;
}

int channel_accept(int listening, int patience_ms)
{
    struct pollfd coming = {.fd = listening, .events = POLLIN};
    if (poll(&coming, 1, patience_ms) == 0)
        member_fail("no leader came within %d s", patience_ms / 1000);
    return known(accept4(listening, NULL, NULL, SOCK_CLOEXEC));
}

int channel_connect(const char *name, unsigned rank)
{
    struct sockaddr_un address;
    socklen_t length = address_of(name, rank, &address);
    int channel = new_socket();
    if (connect(channel, (struct sockaddr *)&address, length) == 0)
        return known(channel);
    close(channel);
    return -1;
}

bool channel_send(int channel, const void *message, size_t bytes)
{
    return send(channel, message, bytes, MSG_NOSIGNAL) == (ssize_t)bytes;
}

bool channel_receive(int channel, void *message, size_t bytes)
{
    ssize_t got;
    do
        got = recv(channel, message, bytes, 0);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)bytes;
}

/* The watch ------------------------------------------------------------------------------------------------------------- */

static struct pollfd watched[MEMBERS_MOST];
static nfds_t watched_count;
static atomic_bool over;

/* Asks for nothing but the end of the connection, so messages do not wake it. */
static void *watch(void *unused)
{
    while (poll(watched, watched_count, -1) < 0 && errno == EINTR)
        continue;
    if (!atomic_load(&over))
        member_fail("the process at the other end is gone");
    return unused;
}

void channel_watch(const int *channels, size_t count)
{
    pthread_t thread;
    for (size_t i = 0; i < count; i++)
        watched[i] = (struct pollfd){.fd = channels[i], .events = POLLRDHUP};
    watched_count = count;
    int error = pthread_create(&thread, NULL, watch, NULL);
    if (error != 0)
        member_fail("no thread to watch the members: %s", strerror(error));
    pthread_detach(thread);
}

void channel_watch_ends(void)
{
    atomic_store(&over, true);
}
