/* Panda: messages, calls, groups, collective operations and threads for run-time systems, over
 * platforms that are chosen when a program is started.
 *
 * A program is started as N processes, for instance by `antiphon launch -n 4 --over tcp ./program`.
 * Each process joins the session and gets a rank. A program is compiled and linked with
 *     cc program.c $(pkg-config --cflags --libs panda)
 * docs/reference/panda.md describes sessions. This file describes each function. It is made from
 * the library's source.
 *
 * Statuses. A function that can fail returns a panda_status. panda_last_error() has its words, and
 * panda_last_rank() the rank that it names. Out parameters are written only with PANDA_OK. NULL for
 * a required argument is PANDA_BAD_ARGUMENT. A function without a status then returns 0, NULL or
 * PANDA_ANY.
 *
 * Ownership. The caller owns each result, and gives it back by the function `free` or `end` of its
 * kind. Handles of ports, groups, communicators and replies may be given back after their session.
 * A function that takes a message takes it whatever it returns (but see panda_comm_scatter()).
 * Arguments of upcalls are lent.
 *
 * Upcalls are given with a context and a function that releases it. They run on a thread that
 * drives the session, so they must not wait for messages: functions that wait return
 * PANDA_IN_UPCALL there. An exception of C++ or panda_thread_exit() that leaves an upcall ends the
 * process. So it is with every function that the library is given, except the body of a thread.
 *
 * Threads. All threads may use a handle at once. One thread at a time may use a message. No thread
 * may use an object that another thread gives back. Ranks are below the session's population.
 * Times are in nanoseconds, strings in UTF-8. A process that forks uses its session in the parent
 * alone. */
#ifndef ANTIPHON_PANDA_H
#define ANTIPHON_PANDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#if defined(__GNUC__)
#define PANDA_NORETURN __attribute__((noreturn))
#else
#define PANDA_NORETURN
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- statuses -------------------------------------------------------------------------------------------- */

/**
 * Any sender, any tag; no rank.
 */
#define PANDA_ANY UINT32_MAX

/**
 * A time that does not end, in nanoseconds.
 */
#define PANDA_FOREVER UINT64_MAX

/**
 * The result of an operation. For every status but PANDA_OK and PANDA_NOT_NOW, panda_last_error()
 * has words.
 */
typedef enum {
    /**
     * Success.
     */
    PANDA_OK = 0,
    /**
     * Not now: there is no matching message, or another thread has the mutex. This is no error, so
     * panda_last_error() does not change.
     */
    PANDA_NOT_NOW = 1,
    /**
     * A peer is lost: panda_last_rank(). The requested operation may or may not have happened.
     */
    PANDA_LOST = 2,
    /**
     * The caller's time limit has passed. The requested operation may still happen.
     */
    PANDA_TIMED_OUT = 3,
    /**
     * The session of this process is over.
     */
    PANDA_OVER = 4,
    /**
     * The peer has no such service: register it before the first call, for instance before a
     * barrier.
     */
    PANDA_NO_SERVICE = 5,
    /**
     * The service ended the call without a reply.
     */
    PANDA_NO_REPLY = 6,
    /**
     * The group went on without this process, or could not go on.
     */
    PANDA_EXPELLED = 7,
    /**
     * This process is in the group, or joins it already.
     */
    PANDA_ALREADY_MEMBER = 8,
    /**
     * This process is no member of the group.
     */
    PANDA_NOT_MEMBER = 9,
    /**
     * The number of the name equals that of another one that this process uses: change one of
     * them.
     */
    PANDA_SAME_NUMBER = 10,
    /**
     * The session has no such rank.
     */
    PANDA_NO_SUCH_RANK = 11,
    /**
     * This process, or the root, is not a member of the communicator.
     */
    PANDA_NOT_IN_COMM = 12,
    /**
     * A process is twice in the list of a communicator.
     */
    PANDA_TWICE_IN_COMM = 13,
    /**
     * Processes of a communicator called different operations, or in another order:
     * panda_last_rank() names one that did.
     */
    PANDA_MISMATCH = 14,
    /**
     * Values of a collective operation could not be combined at panda_last_rank(); or the library
     * itself failed, which is a bug to report.
     */
    PANDA_PANICKED = 15,
    /**
     * An upcall must not wait: start a thread, or answer later.
     */
    PANDA_IN_UPCALL = 16,
    /**
     * A process that was to be spawned did not join.
     */
    PANDA_NOT_SPAWNED = 17,
    /**
     * The session could not be joined.
     */
    PANDA_NOT_JOINED = 18,
    /**
     * The message is shorter than the bytes to take from it.
     */
    PANDA_SHORT = 19,
    /**
     * An argument is NULL or invalid. The error names the function and the argument.
     */
    PANDA_BAD_ARGUMENT = 20,
    /**
     * No thread could be started.
     */
    PANDA_NO_THREAD = 21,
    /**
     * The message is too long for the session's platform. Nothing was sent.
     */
    PANDA_TOO_LONG = 22,
    /**
     * The port has an upcall, which takes its messages: have the upcall keep them, or receive at
     * another port.
     */
    PANDA_HAS_UPCALL = 23,
    /**
     * The signal was not sent.
     */
    PANDA_NOT_SIGNALLED = 24,
    /**
     * No member of the group gave the state with which this process wanted to join.
     */
    PANDA_NO_STATE = 25,
} panda_status;

/**
 * A process's number in a session, from 0.
 */
typedef uint32_t panda_rank;

/**
 * Releases the target of a context. It is called once, on any thread, and must not wait. It may
 * run inside a send, or while the library holds locks. So it must not call library functions on a
 * session, or on its ports, calls, groups and communicators. It must not take a mutex that any
 * thread holds during a send.
 */
typedef void (*panda_release)(void *context);

/**
 * Returns the error of the last operation that failed on this thread, in words; empty if none has.
 * The text is valid until the next operation that fails on this thread. Fibers of one processor
 * are one thread: read it before anything that may wait. In handlers of exit() and destructors of
 * thread keys it is empty.
 */
const char *panda_last_error(void);

/**
 * Returns the process that the last error names: the peer that is lost, did not answer in time or
 * called something else. PANDA_ANY if it names none.
 */
panda_rank panda_last_rank(void);

/**
 * Returns the name of a status, such as "PANDA_LOST"; "unknown" if there is none of that number.
 * It is valid for ever.
 */
const char *panda_status_name(int status);

/* ---- messages -------------------------------------------------------------------------------------------- */

/**
 * Bytes in pieces that are not copied on their way, with headers that are pushed and popped at the
 * front. A message is used by one thread at a time.
 *
 * A message is owned or lent. The program owns the messages of panda_message_new() and similar
 * functions, and those of receives and calls. It frees such a message, or passes it to a function
 * that takes it.
 *
 * An upcall's message is lent until the upcall returns. It may be read, popped from, and passed on
 * as if it were owned. The library frees the rest of it. panda_message_take() makes an owned
 * message of it.
 */
typedef struct panda_message panda_message;

/**
 * Returns an empty message, which the caller owns.
 */
panda_message *panda_message_new(void);

/**
 * Returns a message with a copy of these bytes, which the caller owns: panda_port_send(port, to,
 * tag, panda_message_of(&value, sizeof value)) sends a value. It is NULL if the bytes are NULL and
 * the length is not 0. Functions that take a message then return an error.
 */
panda_message *panda_message_of(const void *bytes, size_t length);

/**
 * Frees an owned message, or empties a lent one. NULL is ignored.
 */
void panda_message_free(panda_message *message);

/**
 * Returns an owned message with the content of this one, which is empty afterwards. An upcall uses
 * it to keep a lent message. NULL if the message is NULL.
 */
panda_message *panda_message_take(panda_message *message);

/**
 * Returns another message that shares the same bytes without a copy. The caller owns it. NULL if
 * the message is NULL.
 */
panda_message *panda_message_clone(const panda_message *message);

/**
 * Returns its length in bytes; 0 for NULL.
 */
size_t panda_message_length(const panda_message *message);

/**
 * Appends a copy of bytes.
 *
 * Errors: PANDA_BAD_ARGUMENT.
 */
panda_status panda_message_append(panda_message *message, const void *bytes, size_t length);

/**
 * Appends bytes of the program without copying them. They must not change until release(context)
 * is called: once, on any thread, when they are no longer needed. That may be long after the
 * message was sent. It is called at once if this fails or the length is 0. release may be NULL for
 * bytes that stay for ever.
 *
 * Errors: PANDA_BAD_ARGUMENT.
 */
panda_status panda_message_append_buffer(panda_message *message, const void *bytes, size_t length, panda_release release, void *context);

/**
 * Appends another message's bytes, and takes that message. Only headers are copied.
 *
 * Errors: PANDA_BAD_ARGUMENT, also if both are the same message, which is then unchanged.
 */
panda_status panda_message_append_message(panda_message *message, panda_message *other);

/**
 * Prepends a copy of a header. Headers of 64 bytes in all need no memory besides the message's
 * own.
 *
 * Errors: PANDA_BAD_ARGUMENT.
 */
panda_status panda_message_push(panda_message *message, const void *header, size_t length);

/**
 * Removes bytes from the front, and copies them to `header`.
 *
 * Errors: PANDA_SHORT, and the message is unchanged; PANDA_BAD_ARGUMENT.
 */
panda_status panda_message_pop(panda_message *message, void *header, size_t length);

/**
 * Copies bytes at the front, which stay there.
 *
 * Errors: PANDA_SHORT; PANDA_BAD_ARGUMENT.
 */
panda_status panda_message_look(const panda_message *message, void *header, size_t length);

/**
 * Removes the first bytes, and returns them as a message that the caller owns. Only headers are
 * copied.
 *
 * Errors: PANDA_SHORT, and the message is unchanged; PANDA_BAD_ARGUMENT.
 */
panda_status panda_message_split(panda_message *message, size_t length, panda_message **first);

/**
 * Writes the pieces that hold the bytes, in order and without copying, to `pieces`: at most `room`
 * of them, in the form of writev(). Returns their number. They are read-only, and valid until the
 * message is changed, passed on or freed.
 */
size_t panda_message_pieces(const panda_message *message, struct iovec *pieces, size_t room);

/**
 * Returns all bytes in one piece, copied only if they are in several. They may lie at any address,
 * so copy out values that must be aligned. They are read-only, and valid until the message is
 * changed, passed on or freed. NULL if the message is NULL.
 */
const void *panda_message_flatten(panda_message *message);

/* ---- sessions -------------------------------------------------------------------------------------------- */

/**
 * The kind of a peer's event.
 */
typedef enum {
    /**
     * It is there: it has joined, or it was lost and answers again.
     */
    PANDA_PEER_JOINED = 0,
    /**
     * It has ended its session.
     */
    PANDA_PEER_LEFT = 1,
    /**
     * It is lost for another reason: why.
     */
    PANDA_PEER_LOST = 2,
} panda_peer_event;

/**
 * The data with which a new process joins a session.
 */
typedef struct panda_launch_info panda_launch_info;

/**
 * A process's part in a session. All threads may use its handle at once.
 */
typedef struct panda_session panda_session;

/**
 * The outcome of each process of a spawn.
 */
typedef struct panda_spawned panda_spawned;

/**
 * Takes an event of a peer. For a loss, `why` gives the reason, in words that follow the peer's
 * name. It is lent until the upcall returns, and NULL for other events. It runs on the thread that
 * drives the session, one at a time, and must not wait for messages. It may send, reply and lock a
 * mutex for a moment.
 */
typedef void (*panda_peer_upcall)(void *context, panda_rank rank, panda_peer_event event, const char *why);

/**
 * Returns whether an awaited condition holds. It is called often, on the waiting thread, and must
 * not wait itself. Its reads must be safe while upcalls run on another thread.
 */
typedef bool (*panda_predicate)(void *context);

/**
 * Options of panda_session_spawn_with(). A member that is NULL means: as for this process, and for
 * `arguments` none.
 */
typedef struct {
    /**
     * The host, by its name in the launcher's file of hosts, or its address.
     */
    const char *host;
    /**
     * The directory where the processes start. A relative one is below this process's.
     */
    const char *directory;
    /**
     * Variables that differ from this process's environment, with NULL after the last:
     * "NAME=value" sets one, "NAME" removes one.
     */
    const char *const *environment;
    /**
     * The program's arguments without the program itself, with NULL after the last.
     */
    const char *const *arguments;
} panda_spawn_options;

/**
 * The main function of a program. It owns `session`, and frees it by panda_session_free().
 * `arguments` ends with NULL, does not contain the program itself, and is lent.
 */
typedef void (*panda_main)(void *context, panda_session *session, const char *const *arguments);

/**
 * A program that panda_session_spawn() starts on a thread of its own, as often as it is asked for.
 */
typedef struct {
    /**
     * The name by which it is started. It is lent.
     */
    const char *name;
    /**
     * Its main function. It may run on several threads at once.
     */
    panda_main main;
    /**
     * The context of the main function.
     */
    void *context;
    /**
     * Releases the context when the session is over for all and no thread runs the program; NULL
     * if there is nothing to release. If panda_session_local_with() fails it has been called.
     */
    panda_release release;
} panda_program;

/**
 * Joins the session in which `antiphon launch` or `mpirun` started this process, over the platform
 * that its environment names. The caller frees the handle by panda_session_free().
 *
 * Errors: PANDA_NOT_JOINED, with the reason; PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_join(panda_session **session);

/**
 * Joins in the same way, and sets how long a peer may be silent before it counts as lost, in
 * nanoseconds. The default is 3 s. A launcher may set another time, which takes precedence
 * (`antiphon launch --silence`). Processes of a session should set the same.
 *
 * Errors: as panda_session_join().
 */
panda_status panda_session_join_with_silence(uint64_t silence_ns, panda_session **session);

/**
 * Joins a running session of this user as one more process that was started by hand. `name` names
 * the session; NULL stands for the only one that can be joined. `antiphon launch --joinable NAME`
 * makes a session joinable, and the process must run on the launcher's host. It has no parent, and
 * may end at any time. The caller frees the handle by panda_session_free().
 *
 * Errors: PANDA_NOT_JOINED, with the reason, and the sessions that there are; PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_join_existing(const char *name, panda_session **session);

/**
 * Makes sessions of `size` parts of this process, for instance one for each thread, over the
 * platform `local`: sessions[rank] for each rank. The caller frees all of them.
 *
 * Errors: PANDA_NOT_JOINED: the system starts no more threads; PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_local(uint32_t size, panda_session **sessions);

/**
 * Ends this process's part. From now on operations fail with PANDA_OVER, also those that wait.
 * Messages that were sent before still reach the peers. All upcalls are released. When this
 * returns, the session's progress thread has ended. A further call does nothing. A call during
 * another thread's call may return earlier, before that thread has ended. The handle stays valid.
 * In an upcall it does not wait for the session's thread.
 *
 * Errors: PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_end(panda_session *session);

/**
 * Ends the session if that has not happened, and frees the handle: no thread may use it any more.
 * Ports, groups, communicators and replies stay the caller's. Operations of ports, groups and
 * communicators then fail with PANDA_OVER; for replies see panda_reply_send(). NULL is ignored.
 */
void panda_session_free(panda_session *session);

/**
 * Returns this process's rank; PANDA_ANY for NULL.
 */
panda_rank panda_session_rank(panda_session *session);

/**
 * Returns the number of processes with which the session began. Their ranks are below it. 0 for
 * NULL.
 */
uint32_t panda_session_size(panda_session *session);

/**
 * Returns the process that started this one by panda_session_spawn(). PANDA_ANY for the processes
 * with which the session began, and for NULL.
 */
panda_rank panda_session_parent(panda_session *session);

/**
 * Returns how many processes there have been, including spawned ones. 0 for NULL.
 */
uint32_t panda_session_population(panda_session *session);

/**
 * Returns the platform's name, such as "shm". It is valid as long as the handle. NULL for NULL.
 */
const char *panda_session_platform(panda_session *session);

/**
 * Writes a process's name, such as "rank 3", to `name` as snprintf() does: cut to `room` bytes
 * including the zero byte. Returns its whole length; 0 if there is no such rank.
 */
size_t panda_session_name_of(panda_session *session, panda_rank rank, char *name, size_t room);

/**
 * Writes why a process is lost to this one, in the way of panda_session_name_of(). Returns 0 and
 * an empty text if it is not known to be lost. Only processes that this one waits for are watched.
 */
size_t panda_session_why_lost(panda_session *session, panda_rank rank, char *why, size_t room);

/**
 * Registers an upcall for events of all other processes of the session, in place of an earlier
 * one. The events of one process alternate: PANDA_PEER_JOINED, then PANDA_PEER_LEFT or
 * PANDA_PEER_LOST. PANDA_PEER_JOINED comes again if another process takes the rank, or the lost
 * one answers again.
 *
 * The upcall first gets all that is known: PANDA_PEER_JOINED for every process that this one has
 * known of, and the end of those that are gone. From now on this process asks all others for signs
 * of life, including later ones.
 *
 * release(context) is called once, when the upcall is no longer needed: when another replaces it,
 * at the end of the session, or at once if this fails. It may be NULL.
 *
 * Errors: PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_on_peer(panda_session *session, panda_peer_upcall upcall, void *context, panda_release release);

/**
 * Writes the peers that are known to receive this process's multicasts to `to`: at most `room` of
 * them. Their number goes to `count`, and the number of multicast frames so far to `frames`. Each
 * may be NULL. On platforms without multicast there are none.
 *
 * Errors: PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_multicast(panda_session *session, panda_rank *to, size_t room, size_t *count, uint64_t *frames);

/**
 * Checks that the session goes on.
 *
 * Errors: PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_check(panda_session *session);

/**
 * Sets how many bytes other processes may leave unread at this process's ports. All ports count
 * together, with the overhead of each message. The default is half of the memory that the process
 * may use. Senders that may wait are held long before.
 *
 * Beyond the bound the process with the most unread bytes is lost to this one. Waits for it end
 * with PANDA_LOST, and the error names the port and the bytes. So do all later
 * panda_port_receive() from it, and the next one from any sender. Its later messages to ports are
 * dropped. Earlier ones can still be received, until others need the room.
 *
 * Errors: PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_limit_unread(panda_session *session, size_t bytes);

/**
 * Sets how many bytes may wait here for other processes that take nothing. All count together,
 * with the overhead of each message. The default is half of the memory that the process may use.
 * Threads that send wait long before. So this bounds what upcalls, answers and groups send.
 *
 * Beyond the bound the process with the most waiting bytes is lost to this one, and those are
 * dropped. Waits for it end with PANDA_LOST, and the error names the bytes. Over udp it may
 * return. Over other platforms the two have no further contact.
 *
 * Errors: PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_limit_untaken(panda_session *session, size_t bytes);

/**
 * Runs the upcalls for messages that have come, without waiting. It serves programs that compute
 * for long and want upcalls on this thread. It does nothing in an upcall.
 *
 * Errors: PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_poll(panda_session *session);

/**
 * Waits for a condition that upcalls bring about, for a time at most, in nanoseconds or
 * PANDA_FOREVER. This thread drives the session meanwhile, so upcalls run on it and no other
 * thread is woken.
 *
 * Errors: PANDA_TIMED_OUT; PANDA_OVER: the session ended before; PANDA_IN_UPCALL;
 * PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_wait_until(panda_session *session, panda_predicate holds, void *context, uint64_t timeout_ns);

/**
 * Makes an upcall that waits end the process, with a report of where it waits and where it was
 * registered. An upcall that runs for more than half a second is reported on standard error.
 * Otherwise such a wait fails with PANDA_IN_UPCALL, which is the default in a release build of the
 * library. It applies to the whole process.
 */
void panda_detect_waiting_upcalls(bool detects);

/**
 * Checks that the caller is not in an upcall, for functions of a program that wait. Otherwise it
 * returns PANDA_IN_UPCALL, or ends the process if panda_detect_waiting_upcalls() said so.
 *
 * Errors: PANDA_IN_UPCALL.
 */
panda_status panda_must_not_wait(void);

/**
 * Starts a program as `count` more processes, in this process's directory and with its
 * environment. Waits until they have joined and all others know them. `arguments` ends with NULL
 * and does not contain the program itself; NULL means none. Their `count` ranks go to `ranks`,
 * which may be NULL. If one does not join, all that were started are ended. Over `local` the
 * program is one of those that panda_session_local_with() got.
 *
 * Errors: PANDA_NOT_SPAWNED; PANDA_NOT_JOINED: the session takes no more; PANDA_IN_UPCALL;
 * PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_spawn(panda_session *session, const char *program, const char *const *arguments, uint32_t count, panda_rank *ranks);

/**
 * Spawns in the same way, with options, of which NULL means none. The outcome of each process goes
 * to `spawned`, which the caller frees by panda_spawned_free(). Processes that have joined stay,
 * even if others fail. Another host must be in the launcher's file of hosts
 * (`antiphon launch --hosts`). Over `mpi`, and without a launcher, processes start on this host.
 * Over `local` only arguments can be given.
 *
 * Errors: PANDA_NOT_JOINED: the session takes no more, or its starter does not answer;
 * PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_spawn_with(panda_session *session, const char *program, const panda_spawn_options *options, uint32_t count, panda_spawned **spawned);

/**
 * Returns how many processes a spawn asked for; 0 for NULL.
 */
uint32_t panda_spawned_count(panda_spawned *spawned);

/**
 * Returns the rank of one of them, counted from 0; PANDA_ANY if it did not join, and for NULL.
 */
panda_rank panda_spawned_rank(panda_spawned *spawned, uint32_t at);

/**
 * Returns why one of them did not join, in words, valid as long as the handle; empty if it joined.
 * NULL if there is no such process, and for NULL.
 */
const char *panda_spawned_error(panda_spawned *spawned, uint32_t at);

/**
 * Frees a handle. The processes remain. NULL is ignored.
 */
void panda_spawned_free(panda_spawned *spawned);

/**
 * Sends a signal, by its number in <signal.h>, to a process that the launcher or
 * panda_session_spawn() has started, on any host. The signal goes to its process group, with all
 * that it has started. For this process itself it goes to the process alone. It never reaches
 * another process that has reused the number. Over `mpi` processes of mpirun cannot be signalled,
 * and over `local` none can.
 *
 * Errors: PANDA_NOT_SIGNALLED, with the reason; PANDA_NO_SUCH_RANK; PANDA_IN_UPCALL; PANDA_OVER;
 * PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_signal(panda_session *session, panda_rank rank, int signal);

/**
 * As panda_session_local(), for sessions that can start these programs by panda_session_spawn().
 * Of two programs of one name the later one counts, and the other's context is released at once.
 *
 * Errors: as there.
 */
panda_status panda_session_local_with(uint32_t size, const panda_program *programs, size_t count, panda_session **sessions);

/**
 * Makes launch infos for `count` processes that the program starts itself, unlike
 * panda_session_spawn(): on another host, by another tool, or with an environment of their own.
 * Each joins by panda_session_join() at any time, with the variables of its launch info in its
 * environment. Over `local` a thread of this process joins by panda_launch_info_join(). The others
 * need not wait for it, and its panda_session_parent() is this process.
 *
 * The caller frees infos[0] and so on by panda_launch_info_free(). Anyone who can read the
 * variables may join, because they hold the session's secret.
 *
 * Errors: PANDA_NOT_JOINED: the session takes no more; PANDA_IN_UPCALL; PANDA_OVER;
 * PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_allot(panda_session *session, uint32_t count, panda_launch_info **infos);

/**
 * Joins in this process. Over `local` this is how a further thread joins. A launch info is used
 * once, and the caller still frees its handle. The caller frees the session by
 * panda_session_free().
 *
 * Errors: PANDA_NOT_JOINED, with the reason; PANDA_BAD_ARGUMENT.
 */
panda_status panda_launch_info_join(panda_launch_info *info, panda_session **session);

/**
 * Returns the rank of the process that joins with it; PANDA_ANY for NULL.
 */
panda_rank panda_launch_info_rank(panda_launch_info *info);

/**
 * Returns the variables that hold the launch info, in the form of `environ`: texts "NAME=value",
 * with NULL after the last. They are valid as long as the handle. They must come before, or
 * replace, variables of the same names, which a process of a session has itself. NULL for NULL.
 */
const char *const *panda_launch_info_environment(panda_launch_info *info);

/**
 * Frees a handle. The rank remains allotted. NULL is ignored.
 */
void panda_launch_info_free(panda_launch_info *info);

/* ---- ports ----------------------------------------------------------------------------------------------- */

/**
 * A named endpoint for messages, one at each process. All threads may use its handle at once.
 */
typedef struct panda_port panda_port;

/**
 * Takes a message that came to a port. The message is lent until this returns. It runs on the
 * thread that drives the session, one at a time for each port, and must not wait for messages. It
 * may send, reply and lock a mutex for a moment.
 */
typedef void (*panda_message_upcall)(void *context, panda_rank from, uint32_t tag, panda_message *message);

/**
 * A received message.
 */
typedef struct {
    /**
     * Its sender.
     */
    panda_rank from;
    /**
     * Its sender's tag.
     */
    uint32_t tag;
    /**
     * The message. The receiver owns it.
     */
    panda_message *message;
} panda_arrived;

/**
 * Decides whether a message is wanted. The message is lent until this returns. It is a copy that
 * shares its bytes, so popping from it does not change the message at the port. It runs on the
 * receiving thread, under the rules of upcalls: it must not wait, and may send, reply and lock a
 * mutex for a moment.
 */
typedef bool (*panda_message_predicate)(void *context, panda_rank from, uint32_t tag, panda_message *message);

/**
 * Metadata of an unread message, without taking it.
 */
typedef struct {
    /**
     * Its sender.
     */
    panda_rank from;
    /**
     * Its sender's tag.
     */
    uint32_t tag;
    /**
     * Its length in bytes.
     */
    size_t length;
} panda_probed;

/**
 * Gets the port of a name. Messages that come before a receive are kept. The caller frees the
 * handle by panda_port_free(). All handles of one name are one port.
 *
 * Errors: PANDA_SAME_NUMBER; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_port_open(panda_session *session, const char *name, panda_port **port);

/**
 * Frees a handle. The port remains, with its messages and its upcall. NULL is ignored.
 */
void panda_port_free(panda_port *port);

/**
 * Registers an upcall for the messages of this port, including those already queued. It replaces
 * an earlier one. release(context) is called once, when the upcall is no longer needed: when
 * another replaces it, at the end of the session, or at once if this fails. It may be NULL.
 *
 * Errors: PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_port_on_message(panda_port *port, panda_message_upcall upcall, void *context, panda_release release);

/**
 * Sends a message, which it takes, without waiting for its delivery. Outside of upcalls it waits
 * for a slow peer, while much is in flight to it or lies unread at its port of this name. A tag is
 * any number but PANDA_ANY.
 *
 * Errors: PANDA_NO_SUCH_RANK; PANDA_LOST: the peer was found lost while this waited for it, which
 * otherwise is no error here; PANDA_TOO_LONG; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_port_send(panda_port *port, panda_rank to, uint32_t tag, panda_message *message);

/**
 * Sends a copy of bytes, and is otherwise the same. For short messages it is the fastest way.
 *
 * Errors: as panda_port_send().
 */
panda_status panda_port_send_bytes(panda_port *port, panda_rank to, uint32_t tag, const void *bytes, size_t length);

/**
 * Sends a message, which it takes, and waits until it has been taken at the peer: its upcall has
 * returned, or it waits there to be received.
 *
 * Errors: PANDA_LOST; PANDA_NO_SUCH_RANK; PANDA_TOO_LONG; PANDA_IN_UPCALL; PANDA_OVER;
 * PANDA_BAD_ARGUMENT.
 */
panda_status panda_port_send_synchronously(panda_port *port, panda_rank to, uint32_t tag, panda_message *message);

/**
 * Returns whether a send to a rank would continue at once. An upcall never waits, and may ask this
 * before it sends much.
 */
bool panda_port_takes_more(panda_port *port, panda_rank to);

/**
 * Takes the first matching message: of a sender or PANDA_ANY, with a tag or PANDA_ANY. It does not
 * wait.
 *
 * Errors: PANDA_NOT_NOW: there is none; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_port_poll(panda_port *port, panda_rank from, uint32_t tag, panda_arrived *arrived);

/**
 * Waits for the first matching message, of a sender or PANDA_ANY and with a tag or PANDA_ANY, for
 * a time at most, in nanoseconds or PANDA_FOREVER.
 *
 * Errors: PANDA_LOST: the given sender is lost; for any sender, the last of the others is lost, or
 * one has left too much unread (panda_session_limit_unread()); PANDA_TIMED_OUT;
 * PANDA_NO_SUCH_RANK; PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_port_receive(panda_port *port, panda_rank from, uint32_t tag, uint64_t timeout_ns, panda_arrived *arrived);

/**
 * Takes the first unread message that a predicate accepts. The predicate gets the messages in the
 * order of their arrival, and those that it refuses stay. It does not wait.
 *
 * Errors: PANDA_NOT_NOW: there is none; PANDA_HAS_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_port_poll_where(panda_port *port, panda_message_predicate accepts, void *context, panda_arrived *arrived);

/**
 * Waits for the first message that a predicate accepts, and takes it; for a time at most, in
 * nanoseconds or PANDA_FOREVER. The predicate gets the unread messages in the order of their
 * arrival, then each new one, every message once. Those that it refuses stay.
 *
 * Errors: PANDA_LOST: the last of the other processes is lost, or one has left too much unread
 * (panda_session_limit_unread()); PANDA_TIMED_OUT; PANDA_HAS_UPCALL; PANDA_IN_UPCALL; PANDA_OVER;
 * PANDA_BAD_ARGUMENT.
 */
panda_status panda_port_receive_where(panda_port *port, panda_message_predicate accepts, void *context, uint64_t timeout_ns, panda_arrived *arrived);

/**
 * Describes the first matching unread message, of a sender or PANDA_ANY and with a tag or
 * PANDA_ANY, and leaves it there. Another thread may take it meanwhile. It does not wait.
 *
 * Errors: PANDA_NOT_NOW: there is none; PANDA_HAS_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_port_peek(panda_port *port, panda_rank from, uint32_t tag, panda_probed *probed);

/**
 * Describes the first unread message that a predicate accepts, and leaves it there. Another thread
 * may take it meanwhile. It does not wait.
 *
 * Errors: PANDA_NOT_NOW: there is none; PANDA_HAS_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_port_peek_where(panda_port *port, panda_message_predicate accepts, void *context, panda_probed *probed);

/**
 * Waits for a matching message, of a sender or PANDA_ANY and with a tag or PANDA_ANY, for a time
 * at most, in nanoseconds or PANDA_FOREVER. Describes the first one, and leaves it there.
 * panda_port_receive() of this sender and tag takes it, unless another thread has.
 *
 * Errors: as panda_port_receive(), and PANDA_HAS_UPCALL.
 */
panda_status panda_port_probe(panda_port *port, panda_rank from, uint32_t tag, uint64_t timeout_ns, panda_probed *probed);

/* ---- calls ----------------------------------------------------------------------------------------------- */

/**
 * The means to answer a call, once, from any thread. An upcall gets it lent. If the upcall neither
 * answers nor keeps it (panda_reply_keep()), the caller gets PANDA_NO_REPLY.
 */
typedef struct panda_reply panda_reply;

/**
 * Takes a call. The arguments and the reply are lent until this returns. It runs on the thread
 * that drives the session, one at a time for each service, and must not wait for messages. It may
 * send, answer and lock a mutex for a moment.
 */
typedef void (*panda_call_upcall)(void *context, panda_rank from, panda_message *arguments, panda_reply *reply);

/**
 * Registers a service, in place of an earlier one of that name. release(context) is called once,
 * when the upcall is no longer needed: when another replaces it, at the end of the session, or at
 * once if this fails. It may be NULL.
 *
 * Errors: PANDA_SAME_NUMBER; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_serve(panda_session *session, const char *service, panda_call_upcall upcall, void *context, panda_release release);

/**
 * Calls a service with arguments, which it takes, and waits for the reply, for a time at most, in
 * nanoseconds or PANDA_FOREVER. The call is executed at most once, and exactly once if a reply
 * comes. The caller owns the reply. If `reply` is NULL it is freed.
 *
 * Errors: PANDA_LOST; PANDA_NO_SERVICE; PANDA_NO_REPLY; PANDA_TIMED_OUT; PANDA_NO_SUCH_RANK;
 * PANDA_TOO_LONG; PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_call(panda_session *session, panda_rank to, const char *service, panda_message *arguments, uint64_t timeout_ns, panda_message **reply);

/**
 * Keeps a lent reply, to answer later. The caller owns the new handle, which panda_reply_send() or
 * panda_reply_drop() frees. NULL if the reply is NULL, or was kept or used before.
 */
panda_reply *panda_reply_keep(panda_reply *reply);

/**
 * Answers with a message, which it takes together with the reply. It returns PANDA_OK even if the
 * reply cannot be sent. The caller of the call then gets an error: PANDA_LOST if this process's
 * session is over, PANDA_NO_REPLY if the message is too long for the platform.
 *
 * Errors: PANDA_BAD_ARGUMENT, also if a lent reply was kept or used before.
 */
panda_status panda_reply_send(panda_reply *reply, panda_message *message);

/**
 * Ends a call without a reply: its caller gets PANDA_NO_REPLY. NULL is ignored.
 */
void panda_reply_drop(panda_reply *reply);

/* ---- groups ---------------------------------------------------------------------------------------------- */

/**
 * The kind of an event in a group.
 */
typedef enum {
    /**
     * A message came: from, place, message.
     */
    PANDA_EVENT_MESSAGE = 0,
    /**
     * The members changed: place, view, members, joined, left. The first event of a new member.
     */
    PANDA_EVENT_VIEW = 1,
    /**
     * This process has left, as it asked. The last event.
     */
    PANDA_EVENT_LEFT = 2,
    /**
     * The others went on without this process, or a majority could not be reached: why. Messages
     * that it sent may not have been delivered. The last event.
     */
    PANDA_EVENT_EXPELLED = 3,
} panda_event_kind;

/**
 * A membership of a group. Its handle may be used by all threads at once.
 */
typedef struct panda_group panda_group;

/**
 * Some ranks.
 */
typedef struct {
    /**
     * The ranks; NULL if there are none.
     */
    const panda_rank *ranks;
    /**
     * Their number.
     */
    size_t count;
} panda_ranks;

/**
 * An event of a group, at the same point of the order at every member. All its pointers are lent
 * until the upcall returns.
 */
typedef struct {
    /**
     * The kind of the event. The fields below are set for the kinds that name them. Otherwise they
     * are 0, NULL or PANDA_ANY.
     */
    panda_event_kind kind;
    /**
     * The sender, which may be this process.
     */
    panda_rank from;
    /**
     * The place of the message or view in the order, the same at all members. Places are numbered
     * without gaps.
     */
    uint64_t place;
    /**
     * The message. panda_message_take() takes it.
     */
    panda_message *message;
    /**
     * The view's number, the same at all members.
     */
    uint64_t view;
    /**
     * The view's members, oldest first.
     */
    panda_ranks members;
    /**
     * Members that were not in the view before.
     */
    panda_ranks joined;
    /**
     * Former members that are not in this view.
     */
    panda_ranks left;
    /**
     * Why this process was expelled, in words.
     */
    const char *why;
} panda_event;

/**
 * Takes an event. It runs on the thread that drives the session, one at a time for each group, and
 * must not wait for messages. It may send, answer and lock a mutex for a moment.
 */
typedef void (*panda_event_upcall)(void *context, const panda_event *event);

/**
 * Makes a snapshot of this process's copy of the group's state, for a member that joins: the state
 * after the events up to `place`. The library owns the returned message. NULL means that the copy
 * cannot be given, and another member is asked. It must not wait.
 */
typedef panda_message *(*panda_snapshot)(void *context, uint64_t place);

/**
 * Replaces this process's copy by another member's snapshot, which is lent and may be taken. The
 * next events are the view that holds at `place`, and then those after that place. If it does not
 * return PANDA_OK, this process leaves the group. It must not wait.
 */
typedef panda_status (*panda_install)(void *context, uint64_t place, panda_message *state);

/**
 * The functions of a copy of a group's state. They run as upcalls of the group do, one at a time.
 * None of them may be NULL.
 */
typedef struct {
    /**
     * Takes an event, which may change the copy.
     */
    panda_event_upcall deliver;
    /**
     * Makes a snapshot.
     */
    panda_snapshot snapshot;
    /**
     * Installs a snapshot.
     */
    panda_install install;
} panda_replica;

/**
 * Joins a group, and waits until this process is a member. The first event is its first view.
 * Every message after that goes to the upcall in the one order, including this process's own.
 *
 * release(context) is called once, when the upcall is no longer needed. That is after the event
 * that this process has left or was expelled, at the end of the session, or at once if this fails.
 * It may be NULL. The caller frees the handle by panda_group_free().
 *
 * Errors: PANDA_ALREADY_MEMBER; PANDA_EXPELLED; PANDA_NOT_MEMBER: the group ended with its last
 * member; PANDA_SAME_NUMBER; PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_group_join(panda_session *session, const char *name, panda_event_upcall upcall, void *context, panda_release release, panda_group **group);

/**
 * Joins a group whose members keep copies of some state, and waits until this process has a copy.
 * If the group has members, one of them gives a snapshot of its copy, made between two events. If
 * that member leaves or is lost before, another one does.
 *
 * The snapshot is installed before the first event. Then the copy gets the view that holds at the
 * snapshot's place, and all events after that place. The first members begin with their own
 * copies. All else is as with panda_group_join().
 *
 * Errors: those of panda_group_join(); PANDA_NO_STATE: no member gave a snapshot; PANDA_EXPELLED:
 * it could not be installed.
 */
panda_status panda_group_join_with_state(panda_session *session, const char *name, const panda_replica *replica, void *context, panda_release release, panda_group **group);

/**
 * Sends a message, which it takes, to all members, without waiting for delivery. It waits only
 * while many messages of this member have no place yet, but not in an upcall.
 *
 * Errors: PANDA_NOT_MEMBER; PANDA_EXPELLED; PANDA_TOO_LONG; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_group_send(panda_group *group, panda_message *message);

/**
 * Sends a message, which it takes, to all members, and waits until it has been delivered here:
 * this process's upcall has returned from it and from all earlier events. Its place in the order
 * goes to `place`, which may be NULL.
 *
 * Errors: PANDA_NOT_MEMBER; PANDA_EXPELLED: the message may not have been delivered;
 * PANDA_TOO_LONG; PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_group_send_synchronously(panda_group *group, panda_message *message, uint64_t *place);

/**
 * Returns the place of the last event from which the upcall of this membership has returned. It
 * has returned from all earlier ones, too. 0 before the first event.
 */
uint64_t panda_group_delivered(panda_group *group);

/**
 * Waits until the upcall of this membership has returned from the event at a place and from all
 * earlier ones. It waits for a time at most, in nanoseconds or PANDA_FOREVER. Any member may have
 * named the place, because the order is the same at all of them.
 *
 * Errors: PANDA_TIMED_OUT; PANDA_NOT_MEMBER or PANDA_EXPELLED: this membership ended before the
 * place was reached; PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_group_wait_for(panda_group *group, uint64_t place, uint64_t timeout_ns);

/**
 * Writes the members, oldest first, as of the last view that the upcall has seen, to `members`: at
 * most `room` of them. Returns their number; 0 once this process is not a member.
 */
size_t panda_group_members(panda_group *group, panda_rank *members, size_t room);

/**
 * Leaves the group once all messages of this member have been delivered, and waits for that. The
 * handle stays valid.
 *
 * Errors: PANDA_EXPELLED; PANDA_NOT_MEMBER; PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_group_leave(panda_group *group);

/**
 * Frees a handle. It does not leave the group: the upcall continues. NULL is ignored.
 */
void panda_group_free(panda_group *group);

/* ---- collective operations ------------------------------------------------------------------------------- */

/**
 * A type of numbers: int8_t.
 */
#define PANDA_INT8 1

/**
 * A type of numbers: int16_t.
 */
#define PANDA_INT16 2

/**
 * A type of numbers: int32_t.
 */
#define PANDA_INT32 3

/**
 * A type of numbers: int64_t.
 */
#define PANDA_INT64 4

/**
 * A type of numbers: uint8_t.
 */
#define PANDA_UINT8 5

/**
 * A type of numbers: uint16_t.
 */
#define PANDA_UINT16 6

/**
 * A type of numbers: uint32_t.
 */
#define PANDA_UINT32 7

/**
 * A type of numbers: uint64_t.
 */
#define PANDA_UINT64 8

/**
 * A type of numbers: float, of 32 bits.
 */
#define PANDA_FLOAT 9

/**
 * A type of numbers: double, of 64 bits.
 */
#define PANDA_DOUBLE 10

/**
 * An operation on numbers: their sum. Integers wrap around.
 */
#define PANDA_SUM 1

/**
 * An operation on numbers: their product. Integers wrap around.
 */
#define PANDA_PRODUCT 2

/**
 * An operation on numbers: the least of them.
 */
#define PANDA_LEAST 3

/**
 * An operation on numbers: the greatest of them.
 */
#define PANDA_GREATEST 4

/**
 * An operation on integers: the bits that all have.
 */
#define PANDA_AND 5

/**
 * An operation on integers: the bits that one or more have.
 */
#define PANDA_OR 6

/**
 * An operation on integers: the bits that an odd number of them have.
 */
#define PANDA_XOR 7

/**
 * Some processes of a session, in a fixed order. All of them must call the same operations in the
 * same order. Each calls from one thread at a time.
 */
typedef struct panda_comm panda_comm;

/**
 * Combines two values of the same length: `into` becomes the result of both. It must be
 * associative and commutative. Both values are aligned for any type. It runs as an upcall does, on
 * the thread that drives the session, and must not wait. It is not called after its operation has
 * returned.
 */
typedef void (*panda_combine)(void *context, void *into, const void *other, size_t length);

/**
 * Gets the communicator of the processes with which the session began. The caller frees the
 * handle, as those of the functions below, by panda_comm_free().
 *
 * Errors: PANDA_NOT_IN_COMM: this process came later; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_comm_everyone(panda_session *session, panda_comm **communicator);

/**
 * Gets the communicator of some processes, each listed once. All of them pass the same list in
 * the same order. Calls with the same processes and the same name return the same communicator, so
 * two that are used at the same time need different names. The name may be NULL, which stands for
 * "".
 *
 * Errors: PANDA_NOT_IN_COMM: this process is not one of them; PANDA_TWICE_IN_COMM;
 * PANDA_NO_SUCH_RANK; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_comm_of(panda_session *session, const char *name, const panda_rank *processes, size_t count, panda_comm **communicator);

/**
 * Gets the communicator of a group's members, as of the last view that this member's upcall has
 * seen. It is separate from all other communicators. When the view changes its operations end with
 * PANDA_LOST, or with PANDA_MISMATCH if a process has joined. So do all later ones: ask for the
 * communicator of the next view.
 *
 * Errors: PANDA_NOT_MEMBER; PANDA_EXPELLED; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_comm_of_group(panda_group *group, panda_comm **communicator);

/**
 * Gets the communicator of some members of a group, each listed once, as of the last view that
 * this member's upcall has seen. All of them pass the same list in the same order. It is separate
 * from all other communicators. It ends with the view as panda_comm_of_group() says, even if its
 * own members stay.
 *
 * Errors: PANDA_MISMATCH: one of them is not in that view; PANDA_NOT_IN_COMM: this process is not
 * one of them; PANDA_TWICE_IN_COMM; PANDA_NO_SUCH_RANK; PANDA_NOT_MEMBER; PANDA_EXPELLED;
 * PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_comm_of_members(panda_group *group, const panda_rank *processes, size_t count, panda_comm **communicator);

/**
 * Frees a handle. NULL is ignored.
 */
void panda_comm_free(panda_comm *communicator);

/**
 * Writes the members, in order, to `processes`: at most `room` of them. Returns their number, or 0
 * for NULL.
 */
size_t panda_comm_ranks(panda_comm *communicator, panda_rank *processes, size_t room);

/**
 * Waits until all members have called it.
 *
 * Errors, as of all operations of a communicator: PANDA_LOST; PANDA_MISMATCH; PANDA_NOT_IN_COMM:
 * the root is not a member; PANDA_IN_UPCALL; PANDA_OVER; PANDA_TOO_LONG, for those that send a
 * message; PANDA_BAD_ARGUMENT: this process has not taken part, and the others wait for it. So
 * check arguments alike at all processes.
 */
panda_status panda_comm_barrier(panda_comm *communicator);

/**
 * Sends the root's message to all. The root's message is taken. Those of others are freed, and may
 * be NULL. The caller owns the received message.
 *
 * Errors: see panda_comm_barrier().
 */
panda_status panda_comm_broadcast(panda_comm *communicator, panda_rank root, panda_message *message, panda_message **result);

/**
 * Gathers the messages of all, which are taken, at the root. There the caller owns results[at] for
 * each process, in the order of the communicator. At other processes `results` is not written, and
 * may be NULL.
 *
 * Errors: see panda_comm_barrier().
 */
panda_status panda_comm_gather(panda_comm *communicator, panda_rank root, panda_message *message, panda_message **results);

/**
 * Sends each process its own of the root's messages, which are taken: one for each process, in the
 * order of the communicator. At other processes `messages` is not read, and may be NULL. The
 * caller owns the received message. If `communicator` is NULL the number of messages is unknown,
 * and they stay the caller's.
 *
 * Errors: see panda_comm_barrier().
 */
panda_status panda_comm_scatter(panda_comm *communicator, panda_rank root, panda_message *const *messages, panda_message **result);

/**
 * Combines the messages of all, which are taken and must have the same length, at the root. There
 * the caller owns the result. At other processes `result` is not written, and may be NULL. The
 * context is used until this returns.
 *
 * Errors: see panda_comm_barrier(); PANDA_PANICKED: values of different lengths, at all processes.
 */
panda_status panda_comm_reduce(panda_comm *communicator, panda_rank root, panda_message *message, panda_combine combine, void *context, panda_message **result);

/**
 * Combines the messages of all, which are taken and must have the same length, at all processes.
 * The caller owns the result. The context is used until this returns.
 *
 * Errors: as panda_comm_reduce().
 */
panda_status panda_comm_all_reduce(panda_comm *communicator, panda_message *message, panda_combine combine, void *context, panda_message **result);

/**
 * Combines the arrays of all, number by number, into each process's array. All processes pass the
 * same `count`, the same type `of`, such as PANDA_DOUBLE, and the same operation `by`, such as
 * PANDA_SUM. All get the same bits.
 *
 * Numbers are combined in the order of the communicator, starting at the process of the lowest
 * rank: first neighbours, then neighbouring pairs, and so on. After an error the array has an
 * intermediate result. 0 numbers, which may be NULL, are a barrier.
 *
 * Errors: see panda_comm_barrier(); PANDA_MISMATCH: others have another count, type or operation,
 * and the error names it at all processes; PANDA_BAD_ARGUMENT: as there, and for bits of
 * floating-point numbers.
 */
panda_status panda_comm_all_reduce_numbers(panda_comm *communicator, void *numbers, size_t count, uint32_t of, uint32_t by);

/**
 * The same into the root's array, with numbers combined from the root's place on. The arrays of
 * others then have unspecified values. A process that only sends continues before the root has
 * finished.
 *
 * Errors: as panda_comm_all_reduce_numbers(); a mismatch at the root and at processes that wait.
 */
panda_status panda_comm_reduce_numbers(panda_comm *communicator, panda_rank root, void *numbers, size_t count, uint32_t of, uint32_t by);

/* ---- quiescence and clocks ------------------------------------------------------------------------------- */

/**
 * A process's part in the detection of quiescence. It detects the moments at which all processes
 * are passive and no message of work is in flight.
 *
 * A process is active while one of its activities goes on. A message of work is one that may make
 * a passive process active. Its sender counts it before sending it, and its receiver when taking
 * it. Both do so within an activity, so an upcall that takes work begins one first. A passive
 * process becomes active only by a message of work, or after a verdict.
 */
typedef struct panda_quiescence panda_quiescence;

/**
 * A moment at which all was quiescent.
 */
typedef struct panda_verdict panda_verdict;

/**
 * The offset of another process's clock from this one's.
 */
typedef struct {
    /**
     * Nanoseconds by which it is ahead; negative if it is behind.
     */
    int64_t offset_ns;
    /**
     * The error bound of the offset in nanoseconds, in either direction.
     */
    uint64_t uncertainty_ns;
    /**
     * This process's clock at the measurement: panda_session_clock().
     */
    uint64_t measured_at_ns;
} panda_clock_offset;

/**
 * Gets this process's part in the detection of quiescence. The first call begins it, with one
 * activity, which is the caller's. Until then the process counts as active. The caller frees the
 * handle by panda_quiescence_free(). Each handle's waiter gets each verdict.
 *
 * Errors: PANDA_LOST: another process has found this one lost, or it has left; PANDA_OVER;
 * PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_quiescence(panda_session *session, panda_quiescence **quiescence);

/**
 * Counts a message of work that is about to be sent.
 *
 * Errors: PANDA_NO_SUCH_RANK; PANDA_BAD_ARGUMENT.
 */
panda_status panda_quiescence_sent(panda_quiescence *quiescence, panda_rank to);

/**
 * Counts a message of work that was received.
 *
 * Errors: PANDA_NO_SUCH_RANK; PANDA_BAD_ARGUMENT.
 */
panda_status panda_quiescence_received(panda_quiescence *quiescence, panda_rank from);

/**
 * Begins an activity.
 *
 * Errors: PANDA_BAD_ARGUMENT.
 */
panda_status panda_quiescence_active(panda_quiescence *quiescence);

/**
 * Ends an activity. The process is passive when its last one has ended.
 *
 * Errors: PANDA_PANICKED: no activity goes on; PANDA_BAD_ARGUMENT.
 */
panda_status panda_quiescence_passive(panda_quiescence *quiescence);

/**
 * Sets this process's report in verdicts, for instance the number of its blocked threads: a
 * message, which it takes. It is set within an activity.
 *
 * Errors: PANDA_TOO_LONG: it has more than 4096 bytes; PANDA_BAD_ARGUMENT.
 */
panda_status panda_quiescence_report(panda_quiescence *quiescence, panda_message *report);

/**
 * Waits for the next verdict, for a time at most, in nanoseconds or PANDA_FOREVER. The caller's
 * own activity must be over. The caller frees the verdict by panda_verdict_free().
 *
 * Errors: PANDA_TIMED_OUT; PANDA_LOST: another process has found this one lost, or it has left;
 * PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_quiescence_wait(panda_quiescence *quiescence, uint64_t timeout_ns, panda_verdict **verdict);

/**
 * Leaves the detection. The others go on without this process, and wait for the work that it has
 * sent. After that it must not send or take work. The end of the session does the same.
 *
 * Errors: PANDA_BAD_ARGUMENT.
 */
panda_status panda_quiescence_leave(panda_quiescence *quiescence);

/**
 * Frees a handle, without leaving the detection. NULL is ignored.
 */
void panda_quiescence_free(panda_quiescence *quiescence);

/**
 * Returns a verdict's number. Verdicts are numbered from 1, alike at all processes.
 */
uint64_t panda_verdict_number(panda_verdict *verdict);

/**
 * Writes the participating processes, by rank, to `ranks`: at most `room` of them. Returns their
 * number.
 */
size_t panda_verdict_members(panda_verdict *verdict, panda_rank *ranks, size_t room);

/**
 * Writes the processes that were lost until then, by rank, to `ranks`: at most `room` of them.
 * Returns their number.
 */
size_t panda_verdict_lost(panda_verdict *verdict, panda_rank *ranks, size_t room);

/**
 * Returns a process's report: a message that the caller owns. NULL if the process did not take
 * part; empty if it reported nothing.
 */
panda_message *panda_verdict_report(panda_verdict *verdict, panda_rank of);

/**
 * Frees a verdict. NULL is ignored.
 */
void panda_verdict_free(panda_verdict *verdict);

/**
 * Returns the time by this process's clock for timelines, in nanoseconds. Each process counts from
 * a moment of its own.
 */
uint64_t panda_session_clock(panda_session *session);

/**
 * Measures the offset of another process's clock from this one's, by several exchanges with it.
 * The true offset lies within the uncertainty while the measurement lasts. Clocks drift: measure
 * again later, and interpolate between the two.
 *
 * Errors: PANDA_LOST; PANDA_NO_SUCH_RANK; PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_clock_offset(panda_session *session, panda_rank of_rank, panda_clock_offset *offset);

/* ---- threads --------------------------------------------------------------------------------------------- */

/**
 * Threads of the operating system, for panda_run().
 */
#define PANDA_THREADS_SYSTEM 0

/**
 * Fibers on one processor, for panda_run(). A switch costs nanoseconds, and a fiber runs until it
 * waits or yields. A fiber's stack has 256 KiB.
 */
#define PANDA_THREADS_FIBERS 1

/**
 * A barrier for a number of threads of this process. Between processes it is panda_comm_barrier().
 */
typedef struct panda_barrier panda_barrier;

/**
 * A condition variable: signal and continue, without spurious wake-ups.
 */
typedef struct panda_condition panda_condition;

/**
 * Mutual exclusion. Unlocking passes the mutex to the thread that has waited longest. An upcall
 * may lock it, so hold it only to read or change the guarded data, and during no wait but a
 * condition's.
 */
typedef struct panda_mutex panda_mutex;

/**
 * A counting semaphore. A unit goes to the thread that has waited longest.
 */
typedef struct panda_semaphore panda_semaphore;

/**
 * A thread that may be waited for.
 */
typedef struct panda_thread panda_thread;

/**
 * The body of a thread. Its return value is the thread's result.
 */
typedef void *(*panda_body)(void *context);

/**
 * Runs a program: `main`, and the threads that it starts by panda_thread_create(). They are
 * threads of the system (PANDA_THREADS_SYSTEM), or fibers that share the caller's processor
 * (PANDA_THREADS_FIBERS). With fibers it returns when the last of them has ended. If the remaining
 * fibers wait for each other it does not return, because an upcall or another thread might still
 * wake them. The result of `main` goes to `result`, which may be NULL.
 *
 * Errors: PANDA_NO_THREAD; PANDA_BAD_ARGUMENT.
 */
panda_status panda_run(uint32_t threads, panda_body main, void *context, void **result);

/**
 * Runs a program on fibers that share this many processors. After each wait a fiber may continue
 * on another thread of the system. So it must not keep anything of a thread over a wait, such as
 * the address of a thread-local variable (errno is one) or a pthread lock.
 *
 * Errors: as panda_run().
 */
panda_status panda_run_on(uint32_t processors, panda_body main, void *context, void **result);

/**
 * Starts a thread: a fiber if the caller is one, else a thread of the system. `name` is for
 * debuggers and may be NULL. For `priority`, see panda_thread_set_priority(). The caller passes
 * the handle to panda_thread_join() or panda_thread_detach().
 *
 * Errors: PANDA_NO_THREAD; PANDA_BAD_ARGUMENT.
 */
panda_status panda_thread_create(const char *name, int32_t priority, panda_body body, void *context, panda_thread **thread);

/**
 * Waits until a thread has ended, writes its result to `result`, which may be NULL, and frees the
 * handle.
 *
 * Errors: PANDA_IN_UPCALL, and the handle stays valid; PANDA_PANICKED; PANDA_BAD_ARGUMENT.
 */
panda_status panda_thread_join(panda_thread *thread, void **result);

/**
 * Frees the handle, and the thread continues by itself. NULL is ignored.
 */
void panda_thread_detach(panda_thread *thread);

/**
 * Returns whether a thread has ended, so that joining it does not wait.
 */
bool panda_thread_is_over(panda_thread *thread);

/**
 * Ends the calling thread early, with a result. It may be called only in bodies for panda_run() or
 * panda_thread_create(), and in functions that they call. In an upcall, or another function that
 * the library got, it ends the process. It unwinds the stack as pthread_exit() does: destructors
 * of C++ run.
 */
void panda_thread_exit(void *result) PANDA_NORETURN;

/**
 * Lets another thread that is ready run.
 */
void panda_thread_yield(void);

/**
 * Blocks the calling thread for a time in nanoseconds.
 *
 * Errors: PANDA_IN_UPCALL.
 */
panda_status panda_thread_sleep(uint64_t time_ns);

/**
 * Returns a 64-bit number for the calling thread, fiber or not. It does not change while the
 * thread lives. Among n threads, two have the same number with a probability of n² / 2⁶⁵.
 */
uint64_t panda_thread_self(void);

/**
 * Sets the caller's priority. Returns whether it took effect. 0 is the default, and greater values
 * run first. Among fibers of one processor it is exact. For threads of the system it is a hint:
 * the nice value of the opposite sign, within -20 and 19. To raise it takes a privilege.
 */
bool panda_thread_set_priority(int32_t priority);

/**
 * Runs a call that blocks in the system, such as a read, so that other fibers of the processor
 * continue meanwhile. Among threads of the system it is simply called. Its return value goes to
 * `result`, which may be NULL. For a fiber it runs on a thread of the system. panda_thread_exit()
 * in it still ends the caller.
 *
 * Errors: PANDA_BAD_ARGUMENT.
 */
panda_status panda_blocking(panda_body call, void *context, void **result);

/**
 * Returns a free mutex, which the caller frees, as the others below.
 */
panda_mutex *panda_mutex_new(void);

/**
 * Frees a mutex that no thread uses. NULL is ignored.
 */
void panda_mutex_free(panda_mutex *mutex);

/**
 * Locks the mutex, and waits for it. A thread that has it already waits for ever.
 *
 * Errors: PANDA_BAD_ARGUMENT.
 */
panda_status panda_mutex_lock(panda_mutex *mutex);

/**
 * Locks the mutex if it is free.
 *
 * Errors: PANDA_NOT_NOW: it is locked; PANDA_BAD_ARGUMENT.
 */
panda_status panda_mutex_trylock(panda_mutex *mutex);

/**
 * Unlocks a mutex that the caller has.
 *
 * Errors: PANDA_BAD_ARGUMENT, also if it is not locked.
 */
panda_status panda_mutex_unlock(panda_mutex *mutex);

/**
 * Returns a condition without waiting threads.
 */
panda_condition *panda_condition_new(void);

/**
 * Frees a condition that no thread uses. NULL is ignored.
 */
void panda_condition_free(panda_condition *condition);

/**
 * Unlocks the mutex, which the caller has, and waits for a signal for a time at most, in
 * nanoseconds or PANDA_FOREVER. It locks the mutex again in any case.
 *
 * Errors: PANDA_TIMED_OUT: no signal came; PANDA_IN_UPCALL and PANDA_BAD_ARGUMENT, without having
 * unlocked.
 */
panda_status panda_condition_wait(panda_condition *condition, panda_mutex *mutex, uint64_t timeout_ns);

/**
 * Wakes the thread that has waited longest, if there is one.
 *
 * Errors: PANDA_BAD_ARGUMENT.
 */
panda_status panda_condition_signal(panda_condition *condition);

/**
 * Wakes all threads that wait now.
 *
 * Errors: PANDA_BAD_ARGUMENT.
 */
panda_status panda_condition_broadcast(panda_condition *condition);

/**
 * Returns a semaphore with this value.
 */
panda_semaphore *panda_semaphore_new(uint64_t value);

/**
 * Frees a semaphore that no thread uses. NULL is ignored.
 */
void panda_semaphore_free(panda_semaphore *semaphore);

/**
 * P: takes a unit, and waits for one if there is none.
 *
 * Errors: PANDA_IN_UPCALL; PANDA_BAD_ARGUMENT.
 */
panda_status panda_semaphore_wait(panda_semaphore *semaphore);

/**
 * Takes a unit if there is one.
 *
 * Errors: PANDA_NOT_NOW: there is none; PANDA_BAD_ARGUMENT.
 */
panda_status panda_semaphore_trywait(panda_semaphore *semaphore);

/**
 * V: adds a unit.
 *
 * Errors: PANDA_BAD_ARGUMENT.
 */
panda_status panda_semaphore_post(panda_semaphore *semaphore);

/**
 * Returns how many units a semaphore has now. When the caller reads the number, it may have
 * changed. 0 for NULL.
 */
uint64_t panda_semaphore_value(panda_semaphore *semaphore);

/**
 * Returns a barrier for this many threads, at least one.
 */
panda_barrier *panda_barrier_new(size_t threads);

/**
 * Frees a barrier that no thread uses. NULL is ignored.
 */
void panda_barrier_free(panda_barrier *barrier);

/**
 * Waits for the others. `is_last`, which may be NULL, tells whether the caller came last.
 *
 * Errors: PANDA_IN_UPCALL; PANDA_BAD_ARGUMENT.
 */
panda_status panda_barrier_wait(panda_barrier *barrier, bool *is_last);

#ifdef __cplusplus
}
#endif

#endif
