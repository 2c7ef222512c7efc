/* The sockets of one member: a PAIR to each other member, REQ and REP between the first two, and for each number of members a
 * XPUB of the leader's with a SUB in each of the others. */
#ifndef SOCKETS_H
#define SOCKETS_H

#include "members.h"

struct sockets {
    void *pair[MEMBERS_MOST];
    void *rpc;                          /* REQ in the leader, REP in member 1 */
    void *broadcast[MEMBERS_MOST + 1];  /* by number of members */
};

/* For members that are threads, before the first of them starts. */
void make_shared_context(void);

/* Of the calling member. */
extern _Thread_local struct sockets sockets;

#endif
