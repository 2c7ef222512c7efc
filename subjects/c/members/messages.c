/* The storage of messages, a pair of buffers for each member; a member may be a thread. */
#include "channel.h"

#include <stdlib.h>
#include <string.h>

static _Thread_local unsigned char *buffer[2]; /* going out, coming in */
static _Thread_local size_t buffer_bytes;

unsigned char *outgoing(void)
{
    return buffer[0];
}

unsigned char *incoming(void)
{
    return buffer[1];
}

/* Written to here, so that no page is first touched while timing runs. Not with zeros: a compiler makes calloc of that, which touches nothing, and what is sent would be the
   system's one page of zeros again and again, which no cache ever lacks. */
static unsigned char *touched(size_t bytes)
{
    unsigned char *storage = malloc(bytes);
    if (storage)
        memset(storage, 7, bytes);
    return storage;
}

bool buffers_fit(const struct turn *turn)
{
    bool for_each = turn->operation == ALLTOALL || turn->operation == GATHER || turn->operation == SCATTER;
    size_t bytes = turn->bytes * (for_each ? turn->members : 1);
    bytes = bytes < sizeof(uint64_t) ? sizeof(uint64_t) : bytes; /* what confirms a slice has eight */
    if (bytes == buffer_bytes)
        return true;
    for (int i = 0; i < 2; i++) {
        free(buffer[i]);
        buffer[i] = touched(bytes);
    }
    buffer_bytes = buffer[0] && buffer[1] ? bytes : 0;
    return buffer_bytes > 0;
}

void stamp_message(unsigned char *message, size_t bytes, uint64_t number)
{
    if (bytes >= sizeof number)
        memcpy(message, &number, sizeof number);
    else if (bytes > 0)
        message[0] = (unsigned char)number;
}

uint64_t message_stamp(const unsigned char *message, size_t bytes)
{
    uint64_t number = 0;
    if (bytes >= sizeof number)
        memcpy(&number, message, sizeof number);
    else if (bytes > 0)
        number = message[0];
    return number;
}
