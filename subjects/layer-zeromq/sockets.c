/* Who binds what: of a pair the one of lower rank; REP; and the leader all that it publishes. A member's address lists the
 * endpoints that it has bound, by slots: a pair's slot is the other's rank. */
#include "sockets.h"
#include "over.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

enum { RPC_SLOT = MEMBERS_MOST, BROADCAST_SLOT = MEMBERS_MOST, SLOTS = 2 * MEMBERS_MOST + 1 };

_Thread_local struct sockets sockets;
static _Thread_local void *context;
static _Thread_local unsigned port[SLOTS];
static pid_t leader;

/* Members that are threads share one, which the leader makes. */
static void *shared_context;

/* Where a slot is reached. Ports are what the system chose; names are known before. */
static void endpoint(char *text, size_t bytes, unsigned rank, unsigned slot, unsigned its_port)
{
    if (over() == TCP)
        snprintf(text, bytes, "tcp://127.0.0.1:%u", its_port);
    else
        snprintf(text, bytes, "%s-%d-%u-%u", over() == IPC ? "ipc://@antiphon-zeromq" : "inproc://members", (int)leader,
                 rank, slot);
}

static void *new_socket(int type)
{
    const int no_linger = 0, yes = 1;
    void *made = zmq_socket(context, type);
    if (!made)
        member_fail("no socket: %s", zmq_strerror(errno));
    zmq_setsockopt(made, ZMQ_LINGER, &no_linger, sizeof no_linger);
    if (type == ZMQ_XPUB) {
        zmq_setsockopt(made, ZMQ_XPUB_NODROP, &yes, sizeof yes);   /* waits for whom it would overrun; else messages get lost */
        zmq_setsockopt(made, ZMQ_XPUB_VERBOSE, &yes, sizeof yes);  /* hears of each subscriber, not of the first alone */
    }
    if (type == ZMQ_SUB)
        zmq_setsockopt(made, ZMQ_SUBSCRIBE, "", 0);
    return made;
}

static void *bound(int type, unsigned rank, unsigned slot)
{
    char text[ADDRESS_BYTES];
    size_t length = sizeof text;
    void *made = new_socket(type);
    if (over() == TCP)
        snprintf(text, sizeof text, "tcp://127.0.0.1:*");
    else
        endpoint(text, sizeof text, rank, slot, 0);
    if (zmq_bind(made, text) != 0 || zmq_getsockopt(made, ZMQ_LAST_ENDPOINT, text, &length) != 0)
        member_fail("%s: %s", text, zmq_strerror(errno));
    const char *number = strrchr(text, ':');
    port[slot] = over() == TCP && number ? (unsigned)strtoul(number + 1, NULL, 10) : 0;
    return made;
}

/* To a slot of another member, whose ports stand in its address. */
static void *connected(int type, char address[][ADDRESS_BYTES], unsigned rank, unsigned slot)
{
    char text[ADDRESS_BYTES];
    char *rest = address[rank];
    unsigned its_port = 0;
    for (unsigned i = 0; i <= slot; i++)
        its_port = (unsigned)strtoul(rest, &rest, 10);
    endpoint(text, sizeof text, rank, slot, its_port);
    void *made = new_socket(type);
    if (zmq_connect(made, text) != 0)
        member_fail("%s: %s", text, zmq_strerror(errno));
    return made;
}

void make_shared_context(void)
{
    shared_context = zmq_ctx_new();
}

void system_open(unsigned rank, char address[ADDRESS_BYTES])
{
    size_t used = 0;
    context = shared_context ? shared_context : zmq_ctx_new();
    leader = rank == 0 || shared_context ? getpid() : getppid();
    for (unsigned other = rank + 1; other < MEMBERS_MOST; other++)
        sockets.pair[other] = bound(ZMQ_PAIR, rank, other);
    for (unsigned members = 2; rank == 0 && members <= MEMBERS_MOST; members++)
        sockets.broadcast[members] = bound(ZMQ_XPUB, rank, BROADCAST_SLOT + members);
    if (rank == 1)
        sockets.rpc = bound(ZMQ_REP, rank, RPC_SLOT);
    for (unsigned slot = 0; slot < SLOTS; slot++)
        used += (size_t)snprintf(address + used, ADDRESS_BYTES - used, "%u ", port[slot]);
}

/* Each subscriber tells the publisher, once, that it is there. Before that it would miss what is sent. */
static void await_subscribers(void)
{
    unsigned char subscription[1];
    for (unsigned members = 2; members <= MEMBERS_MOST; members++)
        for (unsigned rank = 1; rank < members; rank++)
            if (zmq_recv(sockets.broadcast[members], subscription, sizeof subscription, 0) < 0)
                member_fail("no subscription came: %s", zmq_strerror(errno));
}

void system_meet(unsigned rank, char address[][ADDRESS_BYTES])
{
    for (unsigned other = 0; other < rank; other++)
        sockets.pair[other] = connected(ZMQ_PAIR, address, other, rank);
    for (unsigned members = rank + 1; rank != 0 && members <= MEMBERS_MOST; members++)
        if (members >= 2)
            sockets.broadcast[members] = connected(ZMQ_SUB, address, 0, BROADCAST_SLOT + members);
    if (rank == 0) {
        sockets.rpc = connected(ZMQ_REQ, address, 1, RPC_SLOT);
        await_subscribers();
    }
}

/* The leader is the last to leave a context that is shared. */
void system_close(unsigned rank)
{
    for (unsigned i = 0; i < MEMBERS_MOST; i++)
        if (sockets.pair[i])
            zmq_close(sockets.pair[i]);
    for (unsigned i = 0; i <= MEMBERS_MOST; i++)
        if (sockets.broadcast[i])
            zmq_close(sockets.broadcast[i]);
    if (sockets.rpc)
        zmq_close(sockets.rpc);
    if (rank == 0 || !shared_context)
        zmq_ctx_term(context);
}
