/* Tests whose partners are processes that a message-passing system connects.
 *
 * The leader is the program that speaks the protocol, and member 0. It tells the others what to do over a channel of its own
 * (Unix sockets), so that nothing but what is measured goes through the system, and a member that takes no part sleeps:
 *
 *     leader    begin: order ──▶ … ready ◀──   frame, timed: release, loop, confirm    reset: settle, answer ◀──
 *     member    asleep           set up                      release, loop, confirm           settle, answer, asleep
 *
 * A system is one file that defines what stands under "What a system defines"; `tests.h` makes the table of tests.
 */
#ifndef MEMBERS_H
#define MEMBERS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMBERS_MOST 8
#define ADDRESS_BYTES 128
#define NAME_BYTES 64
#define BYTES_MOST (UINT64_C(1) << 30) /* of a message */

enum operation { ROUNDTRIP, RPC, STREAM, ALLTOALL, BARRIER, BROADCAST, REDUCE, ALLREDUCE, GATHER, SCATTER, OPERATIONS };

/* The operations of one slice, as one member sees them. */
struct turn {
    enum operation operation;
    unsigned rank, members;
    unsigned processors; /* that the members share */
    size_t bytes;
    uint64_t iterations;
};

/* A member's operations: all members that take part run the same loop with the same turn. The sum is made of what the
 * member received, equal for equal iterations and bytes. */
typedef uint64_t member_loop(const struct turn *turn);

/* What a system defines ------------------------------------------------------------------------------------------------ */

extern member_loop *const system_loops[OPERATIONS]; /* NULL: it has none */
bool system_members_are_threads(void);                /* of the leader's process */

/* In the leader, before its first test: sees to it that members 1 … MEMBERS_MOST − 1 serve a name, and gives the name. When the others have left the system: waits for their ends. */
void system_start_members(char name[NAME_BYTES]);
void system_stop_members(void);

/* In the leader: context switches so far of processes of the system that are no members; 0 if it has none. */
uint64_t system_switches(void);

/* In each member at once, the leader among them: enters the system and says where it can be reached; then meets the
 * others, whose addresses it is given by rank. */
void system_open(unsigned rank, char address[ADDRESS_BYTES]);
void system_meet(unsigned rank, char address[][ADDRESS_BYTES]);

/* In each member that takes part, untimed: before the turn, and after it until nothing more is under way. */
void system_prepare(const struct turn *turn);
void system_settle(const struct turn *turn);

/* What encloses the loops of control and test alike, by messages of the system itself, so that it cancels: nobody begins
 * before the leader does, and the leader has the sum of what all have received when the last of them is done. */
void system_release(const struct turn *turn);
uint64_t system_confirm(const struct turn *turn, uint64_t received);

/* In each member at once: leaves the system. */
void system_close(unsigned rank);

/* What a system may call ------------------------------------------------------------------------------------------------ */

/* Ends this process with a message on standard error: the leader's end is the end of all. */
_Noreturn void member_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The path of the members' program, beside the leader's. */
void member_program(char path[PATH_MAX]);

/* Serves the leader until it is gone. Fails if none comes in this time, -1 for any. */
void member_serve(const char *name, unsigned rank, int patience_ms);

/* The messages of this member: each holds `bytes` of the turn, once for every member where the operation is ALLTOALL. */
unsigned char *outgoing(void);
unsigned char *incoming(void);

/* A message carries the number of its operation: in its first eight bytes, or what there is of them. */
void stamp_message(unsigned char *message, size_t bytes, uint64_t number);
uint64_t message_stamp(const unsigned char *message, size_t bytes);

#endif
