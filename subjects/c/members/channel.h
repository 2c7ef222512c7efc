/* The channel between leader and members: what leader.c and member.c share. */
#ifndef CHANNEL_H
#define CHANNEL_H

#include "kit.h"
#include "members.h"

enum verb { OPEN, MEET, RUN, CLOSE };

struct order {
    enum verb verb;
    int processor;  /* where the member belongs, -1 for anywhere: with OPEN */
    bool reports;   /* whether it reports of itself: with RUN */
    struct turn turn;
    char address[MEMBERS_MOST][ADDRESS_BYTES]; /* with MEET */
};

struct answer {
    uint64_t switches;
    struct kit_report report;
    char address[ADDRESS_BYTES];
};

/* The socket on which member `rank` waits for its leader; member_fail where the system refuses. */
int channel_listen(const char *name, unsigned rank);

/* One end each of the connection; -1 where there is nobody yet. Only processes of the same user are let in. Where nobody
 * comes in the time (-1: any), the process ends. */
int channel_accept(int listening, int patience_ms);
int channel_connect(const char *name, unsigned rank);

/* Whole messages; false when the other end is gone. */
bool channel_send(int channel, const void *message, size_t bytes);
bool channel_receive(int channel, void *message, size_t bytes);

/* Ends the process when the other end of one of the channels goes away, whatever else this process waits for. */
void channel_watch(const int *channels, size_t count);
void channel_watch_ends(void); /* from now on that is as it should be */

/* The storage that the turn's messages take; false if there is none. */
bool buffers_fit(const struct turn *turn);

#endif
