/* Panda: messages, calls, groups, collective operations and threads for run-time systems, over platforms that are chosen when a program is started.
 *
 * A program is started as N processes, for instance by `antiphon launch -n 4 --over tcp ./program`; each joins the session and gets a rank. It is compiled and linked with
 *     cc program.c $(pkg-config --cflags --libs panda)
 * What a session is and does is in docs/panda.md; here is what each function does. This file is made from the library's source.
 *
 * Statuses. A function that can fail returns a panda_status. What it says in words is panda_last_error(), whom it names panda_last_rank(). Out parameters are written if it is PANDA_OK, and
 * are as they were else. NULL where something is needed is PANDA_BAD_ARGUMENT; a function that returns no status gives 0, NULL or PANDA_ANY then.
 *
 * Ownership. What a function gives is the caller's, who gives it back by the function that says `free` or `end` of its kind; handles of ports, groups, communicators and replies may be given back after
 * their session. A function that takes a message takes it whatever it returns (but see panda_comm_scatter()). Upcalls are lent what they get.
 *
 * Upcalls are given with a context and a function that lets go of it. They run on a thread that drives the session, so they must not wait for messages: what waits returns PANDA_IN_UPCALL there. No
 * exception of C++ and no panda_thread_exit() may leave an upcall, or another function that the library was given and that is not the body of a thread: it ends the process.
 *
 * Threads. Handles may be used by all threads at once, messages by one at a time. Nobody may use what another gives back. Ranks are below the session's population, times are in nanoseconds,
 * strings are in UTF-8. A process that forks uses its session in the parent alone. */
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
 * How an operation went. Whatever is not PANDA_OK or PANDA_NOT_NOW has words: panda_last_error().
 */
typedef enum {
    /**
     * It was done.
     */
    PANDA_OK = 0,
    /**
     * Not now: there is no message that fits, or another thread has the mutex. No error, so panda_last_error() stays as it was.
     */
    PANDA_NOT_NOW = 1,
    /**
     * A peer is lost: panda_last_rank(). What it was asked may or may not have been done.
     */
    PANDA_LOST = 2,
    /**
     * The time that the caller gave has passed. What was asked may still be done.
     */
    PANDA_TIMED_OUT = 3,
    /**
     * The session of this process is over.
     */
    PANDA_OVER = 4,
    /**
     * The peer has no such service: register it before the first call, for instance before a barrier.
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
     * The name cannot be told from another one that this process uses: change one of them.
     */
    PANDA_SAME_NUMBER = 10,
    /**
     * The session has no such rank.
     */
    PANDA_NO_SUCH_RANK = 11,
    /**
     * This process, or the root, does not take part in the collective operation.
     */
    PANDA_NOT_IN_COMM = 12,
    /**
     * A process is twice in the list of a communicator.
     */
    PANDA_TWICE_IN_COMM = 13,
    /**
     * Processes of a communicator called different operations, or in another order: panda_last_rank() names one that did.
     */
    PANDA_MISMATCH = 14,
    /**
     * Values of a collective operation could not be combined at panda_last_rank(); or the library itself failed, which is a fault to be reported.
     */
    PANDA_PANICKED = 15,
    /**
     * An upcall must not wait: start a thread, or answer later.
     */
    PANDA_IN_UPCALL = 16,
    /**
     * A process that was to be spawned is not there.
     */
    PANDA_NOT_SPAWNED = 17,
    /**
     * The session could not be joined.
     */
    PANDA_NOT_JOINED = 18,
    /**
     * The message is shorter than what was to be taken from it.
     */
    PANDA_SHORT = 19,
    /**
     * An argument is NULL or otherwise not what it must be. The words name the function and the argument.
     */
    PANDA_BAD_ARGUMENT = 20,
    /**
     * No thread could be started.
     */
    PANDA_NO_THREAD = 21,
    /**
     * The message is longer than the session's platform takes. Nothing was sent.
     */
    PANDA_TOO_LONG = 22,
    /**
     * The port has an upcall, which takes its messages: have the upcall keep them, or receive at another port.
     */
    PANDA_HAS_UPCALL = 23,
    /**
     * A process was not sent a signal.
     */
    PANDA_NOT_SIGNALLED = 24,
} panda_status;

/**
 * A process's number in a session, from 0.
 */
typedef uint32_t panda_rank;

/**
 * Lets go of what a context points to. Called once, on any thread; it must not wait. It may run inside a send or while the library holds locks, so it calls no function of the library on a
 * session or on what belongs to one (ports, calls, groups, communicators), and takes no mutex that anybody holds around a send.
 */
typedef void (*panda_release)(void *context);

/**
 * What the last operation that failed on this thread says, in words; empty if none has. The text is kept until the next operation that fails on this thread. Fibers of
 * one processor are one thread: ask before anything that may wait. In handlers of exit() and destructors of thread keys nothing is kept any more, and it is empty.
 */
const char *panda_last_error(void);

/**
 * Whom that names: the peer that is lost, did not answer in time or called something else. PANDA_ANY if it is about nobody.
 */
panda_rank panda_last_rank(void);

/**
 * The name of a status, such as "PANDA_LOST"; "unknown" if there is none of that number. Kept for ever.
 */
const char *panda_status_name(int status);

/* ---- messages -------------------------------------------------------------------------------------------- */

/**
 * Bytes in pieces that are not copied on their way, and headers that are pushed and popped at its front. A message is used by one thread at a time.
 *
 * A message is owned or lent. What panda_message_new() and its like, a receive or a call give is owned by the program, which frees it or gives it to a function that
 * takes it. An upcall's message is lent until it returns: it may be read, popped from and given away as if it were owned, what is left of it is freed by the library,
 * and panda_message_take() makes an owned message of it.
 */
typedef struct panda_message panda_message;

/**
 * An empty message, owned by the caller.
 */
panda_message *panda_message_new(void);

/**
 * A message that holds a copy of these bytes, owned by the caller: panda_port_send(port, to, tag, panda_message_of(&value, sizeof value)) sends a value.
 * NULL if the bytes are NULL and the length is not 0: functions that take a message say so.
 */
panda_message *panda_message_of(const void *bytes, size_t length);

/**
 * Frees a message, or empties it if it is lent. NULL is none.
 */
void panda_message_free(panda_message *message);

/**
 * An owned message with what this one holds, which is empty afterwards: for an upcall that keeps what it was lent. NULL if the message is NULL.
 */
panda_message *panda_message_take(panda_message *message);

/**
 * Another message with the same bytes, which are shared and not copied; owned by the caller. NULL if the message is NULL.
 */
panda_message *panda_message_clone(const panda_message *message);

/**
 * Its length in bytes; 0 for NULL.
 */
size_t panda_message_length(const panda_message *message);

/**
 * Puts a copy of bytes behind all else.
 *
 * Errors: PANDA_BAD_ARGUMENT.
 */
panda_status panda_message_append(panda_message *message, const void *bytes, size_t length);

/**
 * Puts bytes of the program's behind all else without copying them. They must stay as they are until release(context) is called: once, on any thread, when nobody needs
 * them any more, which may be long after the message was sent; at once if this fails or the length is 0. release may be NULL for bytes that stay for ever.
 *
 * Errors: PANDA_BAD_ARGUMENT.
 */
panda_status panda_message_append_buffer(panda_message *message, const void *bytes, size_t length, panda_release release, void *context);

/**
 * Puts another message's bytes behind all else, and takes that message; nothing is copied but headers.
 *
 * Errors: PANDA_BAD_ARGUMENT, also if both are the same, which is then as it was.
 */
panda_status panda_message_append_message(panda_message *message, panda_message *other);

/**
 * Puts a copy of a header before all else. Headers of 64 bytes in all need no memory besides the message's own.
 *
 * Errors: PANDA_BAD_ARGUMENT.
 */
panda_status panda_message_push(panda_message *message, const void *header, size_t length);

/**
 * Takes bytes off the front, and copies them to `header`.
 *
 * Errors: PANDA_SHORT, and the message is as it was; PANDA_BAD_ARGUMENT.
 */
panda_status panda_message_pop(panda_message *message, void *header, size_t length);

/**
 * Copies the bytes at the front, which stay there.
 *
 * Errors: PANDA_SHORT; PANDA_BAD_ARGUMENT.
 */
panda_status panda_message_look(const panda_message *message, void *header, size_t length);

/**
 * Cuts the first bytes off, as a message that the caller owns; nothing is copied but headers.
 *
 * Errors: PANDA_SHORT, and the message is as it was; PANDA_BAD_ARGUMENT.
 */
panda_status panda_message_split(panda_message *message, size_t length, panda_message **first);

/**
 * The pieces that the bytes lie in, in order and without copying, as writev() takes them: at most `room` of them are written to `pieces`, and how many there are is returned.
 * They are read only, and valid until the message is changed, given away or freed.
 */
size_t panda_message_pieces(const panda_message *message, struct iovec *pieces, size_t room);

/**
 * All bytes in one piece, copied only if they are not in one already. The bytes may lie at any address, so copy out what must be aligned. They are read only, and valid
 * until the message is changed, given away or freed. NULL if the message is NULL.
 */
const void *panda_message_flatten(panda_message *message);

/* ---- sessions -------------------------------------------------------------------------------------------- */

/**
 * What happens to a peer.
 */
typedef enum {
    /**
     * It is there: it has joined, or it was lost and is heard of again.
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
 * What a process that is to come is told to join a session.
 */
typedef struct panda_launch_info panda_launch_info;

/**
 * A process's part in a session. Its handle may be used by all threads at once.
 */
typedef struct panda_session panda_session;

/**
 * What became of each process of a spawn.
 */
typedef struct panda_spawned panda_spawned;

/**
 * Takes what is told of a peer. `why` says in words, which follow the peer's name, how a loss is
 * known; it is NULL of other events, and lent until the upcall returns. It runs on the thread that
 * drives the session, one at a time, and must not wait for messages; it may send, reply and lock a
 * mutex for a moment.
 */
typedef void (*panda_peer_upcall)(void *context, panda_rank rank, panda_peer_event event, const char *why);

/**
 * Whether something holds that is waited for. It is called often, on the thread that waits, and must not wait itself; what it reads must be safe to read while upcalls
 * run on another thread.
 */
typedef bool (*panda_predicate)(void *context);

/**
 * How panda_session_spawn_with() starts processes. A member that is NULL says nothing: then it is as for this process, and the program has no arguments.
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
     * Variables that differ from this process's environment, with NULL behind the last: "NAME=value" sets one, "NAME" takes one out.
     */
    const char *const *environment;
    /**
     * The program's arguments without the program itself, with NULL behind the last.
     */
    const char *const *arguments;
} panda_spawn_options;

/**
 * What a program does. `session` is its own, to be given back by panda_session_free(); `arguments` ends with NULL, does not have the program itself, and is lent.
 */
typedef void (*panda_main)(void *context, panda_session *session, const char *const *arguments);

/**
 * A program that panda_session_spawn() starts on a thread of its own, as often as it is asked for.
 */
typedef struct {
    /**
     * The name by which it is started. Only lent.
     */
    const char *name;
    /**
     * What it does, perhaps on several threads at once.
     */
    panda_main main;
    /**
     * What it is given.
     */
    void *context;
    /**
     * Lets go of the context when the session is over for all and no thread runs the program; NULL if there is nothing to be let go of. If panda_session_local_with() fails it has been called.
     */
    panda_release release;
} panda_program;

/**
 * Joins the session that this process was started in by `antiphon launch` or `mpirun`, over the platform that its environment names. The handle is the caller's, to be given back
 * by panda_session_free().
 *
 * Errors: PANDA_NOT_JOINED, with the reason; PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_join(panda_session **session);

/**
 * The same, with a time for which a peer may be silent before it is taken for lost, in nanoseconds; 3 s otherwise. Whoever launches the program may say another, which
 * counts (`antiphon launch --silence`). Processes of a session should say the same.
 *
 * Errors: as panda_session_join().
 */
panda_status panda_session_join_with_silence(uint64_t silence_ns, panda_session **session);

/**
 * Joins a running session of this user as one more process, which somebody has started by hand: the session of a name, or for NULL the only one that can be joined. `antiphon launch --joinable NAME` lets a
 * session be joined so; the process must run on the launcher's host. It has no parent, and ends when it likes. The handle is the caller's, to be given back by panda_session_free().
 *
 * Errors: PANDA_NOT_JOINED, with the reason, and the sessions that there are; PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_join_existing(const char *name,
                                         panda_session **session);

/**
 * Sessions of `size` parts of this process, for instance one for each thread, over the platform `local`: sessions[rank] for each rank, all to be given back.
 *
 * Errors: PANDA_NOT_JOINED: the system starts no more threads; PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_local(uint32_t size, panda_session **sessions);

/**
 * Ends this process's part: operations fail with PANDA_OVER from now on, those that wait, too. What was sent before still reaches the peers. All upcalls are let go of; when
 * this returns, the session's progress thread has ended. Once more it does nothing: whoever calls it while another does may return earlier, before that thread has
 * ended. The handle stays valid. In an upcall it does not wait for the session's thread.
 *
 * Errors: PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_end(panda_session *session);

/**
 * Ends the session if nobody has, and gives the handle back: no thread may use it any more. Ports, groups, communicators and replies remain the caller's; operations of ports, groups and communicators fail
 * with PANDA_OVER, of replies see panda_reply_send(). NULL is none.
 */
void panda_session_free(panda_session *session);

/**
 * This process's rank; PANDA_ANY for NULL.
 */
panda_rank panda_session_rank(panda_session *session);

/**
 * How many processes the session began with: their ranks are below it. 0 for NULL.
 */
uint32_t panda_session_size(panda_session *session);

/**
 * The process that had this one started, by panda_session_spawn(); PANDA_ANY of those that the session began with, and for NULL.
 */
panda_rank panda_session_parent(panda_session *session);

/**
 * How many processes there have been, those that were spawned included. 0 for NULL.
 */
uint32_t panda_session_population(panda_session *session);

/**
 * The platform's name, such as "shm"; kept as long as the handle. NULL for NULL.
 */
const char *panda_session_platform(panda_session *session);

/**
 * A process's name, such as "rank 3", into `name` as snprintf() writes it: cut to `room` bytes with the zero byte. Returns its whole length; 0 if there is no such rank.
 */
size_t panda_session_name_of(panda_session *session, panda_rank rank, char *name, size_t room);

/**
 * Why a process is lost to this one, in words written as panda_session_name_of() does; 0 and an empty text if it is not, as far as is known. Only processes that something waits for are
 * watched.
 */
size_t panda_session_why_lost(panda_session *session,
                              panda_rank rank,
                              char *why,
                              size_t room);

/**
 * Registers an upcall to be told of all other processes of the session, in place of an earlier
 * one. The events of one process alternate: PANDA_PEER_JOINED, then PANDA_PEER_LEFT or
 * PANDA_PEER_LOST, then PANDA_PEER_JOINED again if another process takes the rank or the lost one
 * is heard of again. The upcall is first told of all that is known: PANDA_PEER_JOINED for every
 * process that this one has known of, and how it went if it is gone. From now on this process
 * asks all others for signs of life, later ones included. release(context) is called once, when
 * the upcall is let go of: in place of another, at the end of the session, or at once if this
 * fails. It may be NULL.
 *
 * Errors: PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_on_peer(panda_session *session, panda_peer_upcall upcall, void *context, panda_release release);

/**
 * Which peers were found to hear this process's multicasts: at most `room` of them into `to`, and how many there are into `count`; into `frames` how many frames went so until now. Each may
 * be NULL. Nobody and 0 on platforms without.
 *
 * Errors: PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_multicast(panda_session *session,
                                     panda_rank *to,
                                     size_t room,
                                     size_t *count,
                                     uint64_t *frames);

/**
 * That the session goes on.
 *
 * Errors: PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_check(panda_session *session);

/**
 * Sets how many bytes other processes may leave unread at this process's ports, all together and with what each message takes besides its payload; half of the memory that the process may use, if
 * nothing is said. Senders that may wait are held long before. Beyond it the process of which most lies unread is lost to this one: what waits for it ends with PANDA_LOST and
 * words that name the port and the bytes, and so do all later panda_port_receive() from it and the next one from anybody; what it sends to ports is not heard any more. What lies here of it can be
 * received before, until room is needed for others.
 *
 * Errors: PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_limit_unread(panda_session *session,
                                        size_t bytes);

/**
 * Sets how many bytes may wait here for other processes because those take nothing, all together and with what each message takes besides its payload; half of the memory that the process may use, if
 * nothing is said. Threads that send wait long before: this is for what callbacks send, for answers and for groups. Beyond it the process for which most waits is lost to this one, and what waited is
 * let go of: what waits for it ends with PANDA_LOST and words that name the bytes. Over udp it can be heard of again; over other platforms the two have no more to do with each other.
 *
 * Errors: PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_limit_untaken(panda_session *session,
                                         size_t bytes);

/**
 * Runs what has come without waiting: for programs that compute for long and want upcalls on this thread. It does nothing in an upcall.
 *
 * Errors: PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_poll(panda_session *session);

/**
 * Waits until something holds that upcalls bring about, for a time at most, in nanoseconds or PANDA_FOREVER. This thread drives the session meanwhile, so that upcalls run on it
 * and nobody is woken.
 *
 * Errors: PANDA_TIMED_OUT; PANDA_OVER: the session ended before; PANDA_IN_UPCALL; PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_wait_until(panda_session *session, panda_predicate holds, void *context, uint64_t timeout_ns);

/**
 * Has an upcall that waits end the process, with the places where it waits and where it was given, and has one that runs for more than half a second be reported on standard error. Without it,
 * as it is at first in a release build of the library, such a wait fails with PANDA_IN_UPCALL. For the whole process.
 */
void panda_detect_waiting_upcalls(bool detects);

/**
 * That the caller is in no upcall, for functions of a program's own that wait: PANDA_IN_UPCALL where it is, or the end of the process if panda_detect_waiting_upcalls() said so.
 *
 * Errors: PANDA_IN_UPCALL.
 */
panda_status panda_must_not_wait(void);

/**
 * Starts a program as `count` more processes, in this process's directory and with its environment, and waits until they have joined and all others know them. `arguments` ends with
 * NULL and does not have the program itself; NULL is none. Their ranks, `count` of them, go to `ranks`, which may be NULL. If one does not join, those that were
 * started are ended. Over `local` it is one of the programs that panda_session_local_with() was given.
 *
 * Errors: PANDA_NOT_SPAWNED; PANDA_NOT_JOINED: the session takes no more; PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_spawn(panda_session *session,
                                 const char *program,
                                 const char *const *arguments,
                                 uint32_t count,
                                 panda_rank *ranks);

/**
 * The same with options, of which NULL is none, and with what became of each process, which is the caller's, to be given back by panda_spawned_free(). Processes that have joined stay, whatever becomes
 * of the others. Another host must be one of the launcher's file of hosts (`antiphon launch --hosts`). Over `mpi`, and without a launcher, processes start on this host. Over `local` only
 * arguments can be given.
 *
 * Errors: PANDA_NOT_JOINED: the session takes no more, or its starter does not answer; PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_spawn_with(panda_session *session,
                                      const char *program,
                                      const panda_spawn_options *options,
                                      uint32_t count,
                                      panda_spawned **spawned);

/**
 * How many processes a spawn was asked for; 0 for NULL.
 */
uint32_t panda_spawned_count(panda_spawned *spawned);

/**
 * The rank of one of them, counted from 0; PANDA_ANY if it is not there, and for NULL.
 */
panda_rank panda_spawned_rank(panda_spawned *spawned, uint32_t at);

/**
 * Why one of them is not there, in words, kept as long as the handle; empty if it is. NULL if there is no such process, and for NULL.
 */
const char *panda_spawned_error(panda_spawned *spawned, uint32_t at);

/**
 * Gives a handle back; the processes remain. NULL is none.
 */
void panda_spawned_free(panda_spawned *spawned);

/**
 * Sends a signal, by its number in <signal.h>, to a process that the launcher or panda_session_spawn() has started, on whichever host: to its process group, with all that it has started, or, if it is this
 * process, to it alone. It never reaches another process that has the number of one that has ended. Over `mpi` those that mpirun has started cannot be signalled, and over `local` none can.
 *
 * Errors: PANDA_NOT_SIGNALLED, with the reason; PANDA_NO_SUCH_RANK; PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_signal(panda_session *session,
                                  panda_rank rank,
                                  int signal);

/**
 * As panda_session_local(), for sessions that can start these programs by panda_session_spawn(). Of two of one name the later one counts, and the other's context is let go of at once.
 *
 * Errors: as there.
 */
panda_status panda_session_local_with(uint32_t size,
                                      const panda_program *programs,
                                      size_t count,
                                      panda_session **sessions);

/**
 * Launch infos for `count` processes that the program starts itself, as panda_session_spawn() does not: on another host, by another tool, or with an environment of their own. Each joins by panda_session_join()
 * if the variables of its launch info are in its environment, whenever that is, or, over `local`, as a thread of this process by panda_launch_info_join(); the others need not wait for it, and panda_session_parent() of it is this process. infos[0] and so on are the caller's, to be given back
 * by panda_launch_info_free(). Whoever reads the variables may join: they hold the session's secret.
 *
 * Errors: PANDA_NOT_JOINED: the session takes no more; PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_allot(panda_session *session,
                                 uint32_t count,
                                 panda_launch_info **infos);

/**
 * Joins in this process, which over `local` is how a further thread joins. A launch info is used once; its handle remains the caller's. The session's handle is the caller's, to be given back by
 * panda_session_free().
 *
 * Errors: PANDA_NOT_JOINED, with the reason; PANDA_BAD_ARGUMENT.
 */
panda_status panda_launch_info_join(panda_launch_info *info,
                                    panda_session **session);

/**
 * The rank of the process that joins with it; PANDA_ANY for NULL.
 */
panda_rank panda_launch_info_rank(panda_launch_info *info);

/**
 * The variables that hold the launch info, as `environ` has them: texts "NAME=value", with NULL behind the last; kept as long as the handle. They are to stand before, or instead of, others of the same
 * names, which a process of a session has itself. NULL for NULL.
 */
const char *const *panda_launch_info_environment(panda_launch_info *info);

/**
 * Gives a handle back; the rank remains allotted. NULL is none.
 */
void panda_launch_info_free(panda_launch_info *info);

/* ---- ports ----------------------------------------------------------------------------------------------- */

/**
 * A named place that messages come to, one at each process. Its handle may be used by all threads at once.
 */
typedef struct panda_port panda_port;

/**
 * Takes a message that came to a port. The message is lent until this returns. It runs on the thread that drives the session, one at a time for each port, and must not wait for
 * messages; it may send, reply and lock a mutex for a moment.
 */
typedef void (*panda_message_upcall)(void *context, panda_rank from, uint32_t tag, panda_message *message);

/**
 * A message that came.
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
     * What was sent; the receiver's, to be freed or given away.
     */
    panda_message *message;
} panda_arrived;

/**
 * Says whether a message is wanted. The message is lent until this returns, and is a copy that
 * shares its bytes: popping from it changes nothing of what lies at the port. It runs on the
 * thread that receives, under the rules of upcalls: it must not wait; it may send, reply and lock
 * a mutex for a moment.
 */
typedef bool (*panda_message_predicate)(void *context, panda_rank from, uint32_t tag, panda_message *message);

/**
 * What is known of an unread message without taking it.
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
 * The port of a name. Messages that come before anybody asks for them are kept. The handle is the caller's, to be given back by panda_port_free(); all handles of one name are one port.
 *
 * Errors: PANDA_SAME_NUMBER; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_port_open(panda_session *session,
                             const char *name,
                             panda_port **port);

/**
 * Gives a handle back. The port remains, with what comes to it and with its upcall. NULL is none.
 */
void panda_port_free(panda_port *port);

/**
 * Has an upcall take the messages, those that have come included, in place of an earlier one. release(context) is called once, when the upcall is let go of: in place of another, at
 * the end of the session, or at once if this fails. It may be NULL.
 *
 * Errors: PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_port_on_message(panda_port *port,
                                   panda_message_upcall upcall,
                                   void *context,
                                   panda_release release);

/**
 * Sends a message, which it takes, and goes on. It waits for a peer that is slow, while much is on its way to it or lies unread at this port over there, but not in an upcall. A tag is any number but
 * PANDA_ANY.
 *
 * Errors: PANDA_NO_SUCH_RANK; PANDA_LOST: the peer was found lost while this waited for it, otherwise it is no error here; PANDA_TOO_LONG; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_port_send(panda_port *port,
                             panda_rank to,
                             uint32_t tag,
                             panda_message *message);

/**
 * The same with a copy of bytes: what is short is quickest so.
 *
 * Errors: as panda_port_send().
 */
panda_status panda_port_send_bytes(panda_port *port, panda_rank to, uint32_t tag, const void *bytes, size_t length);

/**
 * Sends a message, which it takes, and waits until it has been handed over there: its upcall has returned, or it waits to be received.
 *
 * Errors: PANDA_LOST; PANDA_NO_SUCH_RANK; PANDA_TOO_LONG; PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_port_send_synchronously(panda_port *port, panda_rank to, uint32_t tag, panda_message *message);

/**
 * Whether a send to a rank would go on at once: what an upcall, which never waits, may ask before it sends much.
 */
bool panda_port_takes_more(panda_port *port, panda_rank to);

/**
 * Takes the first message that fits: of a sender or PANDA_ANY, with a tag or PANDA_ANY. It does not wait.
 *
 * Errors: PANDA_NOT_NOW: there is none; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_port_poll(panda_port *port, panda_rank from, uint32_t tag, panda_arrived *arrived);

/**
 * Waits for the first message that fits, of a sender or PANDA_ANY and with a tag or PANDA_ANY, for a time at most, in nanoseconds or PANDA_FOREVER.
 *
 * Errors: PANDA_LOST: the sender that was asked for is lost, or, where any may send, the last of the others, or one has left too much unread (panda_session_limit_unread()); PANDA_TIMED_OUT; PANDA_NO_SUCH_RANK; PANDA_IN_UPCALL; PANDA_OVER;
 * PANDA_BAD_ARGUMENT.
 */
panda_status panda_port_receive(panda_port *port,
                                panda_rank from,
                                uint32_t tag,
                                uint64_t timeout_ns,
                                panda_arrived *arrived);

/**
 * Takes the first unread message that a predicate accepts. The predicate is shown the messages in
 * the order of their arrival; those that it refuses stay. It does not wait.
 *
 * Errors: PANDA_NOT_NOW: there is none; PANDA_HAS_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_port_poll_where(panda_port *port, panda_message_predicate accepts, void *context, panda_arrived *arrived);

/**
 * Waits for the first message that a predicate accepts, and takes it; for a time at most, in
 * nanoseconds or PANDA_FOREVER. The predicate is shown the unread messages in the order of their
 * arrival, then each that comes, every message once; those that it refuses stay.
 *
 * Errors: PANDA_LOST: the last of the other processes is lost, or one has left too much unread
 * (panda_session_limit_unread()); PANDA_TIMED_OUT; PANDA_HAS_UPCALL; PANDA_IN_UPCALL; PANDA_OVER;
 * PANDA_BAD_ARGUMENT.
 */
panda_status panda_port_receive_where(panda_port *port, panda_message_predicate accepts, void *context, uint64_t timeout_ns, panda_arrived *arrived);

/**
 * Says what the first unread message that fits is, of a sender or PANDA_ANY and with a tag or
 * PANDA_ANY, and leaves it there: another thread may take it meanwhile. It does not wait.
 *
 * Errors: PANDA_NOT_NOW: there is none; PANDA_HAS_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_port_peek(panda_port *port, panda_rank from, uint32_t tag, panda_probed *probed);

/**
 * Says what the first unread message is that a predicate accepts, and leaves it there: another
 * thread may take it meanwhile. It does not wait.
 *
 * Errors: PANDA_NOT_NOW: there is none; PANDA_HAS_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_port_peek_where(panda_port *port, panda_message_predicate accepts, void *context, panda_probed *probed);

/**
 * Waits for a message that fits, of a sender or PANDA_ANY and with a tag or PANDA_ANY, for a time
 * at most, in nanoseconds or PANDA_FOREVER. Says what the first one is, and leaves it there:
 * panda_port_receive() of this sender and tag takes it, unless another thread has.
 *
 * Errors: as panda_port_receive(), and PANDA_HAS_UPCALL.
 */
panda_status panda_port_probe(panda_port *port, panda_rank from, uint32_t tag, uint64_t timeout_ns, panda_probed *probed);

/* ---- calls ----------------------------------------------------------------------------------------------- */

/**
 * The means to answer a call, once, from any thread. An upcall is lent one: if it neither answers nor keeps it (panda_reply_keep()), the caller is told that there is no reply.
 */
typedef struct panda_reply panda_reply;

/**
 * Takes a call. The arguments and the reply are lent until this returns. It runs on the thread that drives the session, one at a time for each service, and must not wait for messages; it
 * may send, answer and lock a mutex for a moment.
 */
typedef void (*panda_call_upcall)(void *context, panda_rank from, panda_message *arguments, panda_reply *reply);

/**
 * Registers a service, in place of an earlier one of that name. release(context) is called once, when the upcall is let go of: in place of another, at the end of the session, or at once if
 * this fails. It may be NULL.
 *
 * Errors: PANDA_SAME_NUMBER; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_serve(panda_session *session,
                                 const char *service,
                                 panda_call_upcall upcall,
                                 void *context,
                                 panda_release release);

/**
 * Calls a service with arguments, which it takes, and waits for the reply, for a time at most, in nanoseconds or PANDA_FOREVER. The call is executed at most once; exactly once if a reply
 * comes. The reply is the caller's; where `reply` is NULL it is freed.
 *
 * Errors: PANDA_LOST; PANDA_NO_SERVICE; PANDA_NO_REPLY; PANDA_TIMED_OUT; PANDA_NO_SUCH_RANK; PANDA_TOO_LONG; PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_session_call(panda_session *session,
                                panda_rank to,
                                const char *service,
                                panda_message *arguments,
                                uint64_t timeout_ns,
                                panda_message **reply);

/**
 * Keeps a reply that an upcall was lent, to answer later: the new handle is the caller's, and given back by panda_reply_send() or panda_reply_drop(). NULL if the reply is NULL, was
 * kept or has been given.
 */
panda_reply *panda_reply_keep(panda_reply *reply);

/**
 * Answers with a message, which it takes, as it takes the reply. It is PANDA_OK also if the reply cannot be sent, which the caller of the call is told: PANDA_LOST if this process's session
 * is over, PANDA_NO_REPLY if the message is longer than the platform takes.
 *
 * Errors: PANDA_BAD_ARGUMENT, also if a lent reply was kept or given before.
 */
panda_status panda_reply_send(panda_reply *reply,
                              panda_message *message);

/**
 * Ends a call without a reply: its caller gets PANDA_NO_REPLY. NULL is none.
 */
void panda_reply_drop(panda_reply *reply);

/* ---- groups ---------------------------------------------------------------------------------------------- */

/**
 * What happens in a group.
 */
typedef enum {
    /**
     * A message came: from, place, message.
     */
    PANDA_EVENT_MESSAGE = 0,
    /**
     * Members came or went: view, members, joined, left. The first event of a new member.
     */
    PANDA_EVENT_VIEW = 1,
    /**
     * This process has left, as it asked. The last event.
     */
    PANDA_EVENT_LEFT = 2,
    /**
     * The others went on without this process, or a majority could not be reached: why. What it sent may not have been delivered. The last event.
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
     * As many as there are; NULL if there is none.
     */
    const panda_rank *ranks;
    /**
     * How many.
     */
    size_t count;
} panda_ranks;

/**
 * What a member is told, at the same point of the order as every other member. All that it points to is lent until the upcall returns.
 */
typedef struct {
    /**
     * What happened. What the others below say counts for the kinds that name it; else it is 0, NULL or PANDA_ANY.
     */
    panda_event_kind kind;
    /**
     * The sender, which may be this process.
     */
    panda_rank from;
    /**
     * The message's place in the order, the same at all members; grows by one.
     */
    uint64_t place;
    /**
     * What was sent. It may be taken: panda_message_take().
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
     * Those that were not in the view before.
     */
    panda_ranks joined;
    /**
     * Those that were in the view before.
     */
    panda_ranks left;
    /**
     * Why this process was expelled, in words.
     */
    const char *why;
} panda_event;

/**
 * Takes an event. It runs on the thread that drives the session, one at a time for each group, and must not wait for messages; it may send, answer and lock a mutex for a moment.
 */
typedef void (*panda_event_upcall)(void *context, const panda_event *event);

/**
 * Joins a group, and waits until this process is in it. The first event is the view that it begins with; every message after that comes to the upcall in the one order, this process's own
 * included. release(context) is called once, when the upcall is let go of: when this process has left or was expelled, after that event; at the end of the session; or at
 * once if this fails. It may be NULL. The handle is the caller's, to be given back by panda_group_free().
 *
 * Errors: PANDA_ALREADY_MEMBER; PANDA_EXPELLED; PANDA_NOT_MEMBER: the group ended with its last member; PANDA_SAME_NUMBER; PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_group_join(panda_session *session,
                              const char *name,
                              panda_event_upcall upcall,
                              void *context,
                              panda_release release,
                              panda_group **group);

/**
 * Sends a message, which it takes, to all members, and goes on. It waits only while many messages of this member have no place yet, and not in an upcall.
 *
 * Errors: PANDA_NOT_MEMBER; PANDA_EXPELLED; PANDA_TOO_LONG; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_group_send(panda_group *group, panda_message *message);

/**
 * The members, oldest first, as of the last view that the upcall has seen: at most `room` of them into `members`. Returns how many there are; 0 once this process is no member.
 */
size_t panda_group_members(panda_group *group, panda_rank *members, size_t room);

/**
 * Leaves the group when all that this member sent has been delivered, and waits for that. The handle stays valid.
 *
 * Errors: PANDA_EXPELLED; PANDA_NOT_MEMBER; PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_group_leave(panda_group *group);

/**
 * Gives a handle back. It does not leave the group: the upcall goes on. NULL is none.
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
 * What becomes of numbers: they are added. Integers wrap around.
 */
#define PANDA_SUM 1

/**
 * What becomes of numbers: they are multiplied. Integers wrap around.
 */
#define PANDA_PRODUCT 2

/**
 * What becomes of numbers: the least of them.
 */
#define PANDA_LEAST 3

/**
 * What becomes of numbers: the greatest of them.
 */
#define PANDA_GREATEST 4

/**
 * What becomes of integers: the bits that all have.
 */
#define PANDA_AND 5

/**
 * What becomes of integers: the bits that one or more have.
 */
#define PANDA_OR 6

/**
 * What becomes of integers: the bits that an odd number of them have.
 */
#define PANDA_XOR 7

/**
 * Some processes of a session, in a fixed order. All of them call the same operations in the same order, each from one thread at a time.
 */
typedef struct panda_comm panda_comm;

/**
 * Combines two values of the same length: `into` becomes what both make together. It must be associative and commutative. Both are aligned for any type. It runs as an upcall does, on
 * the thread that drives the session, and must not wait; not after the operation that it was given to has returned.
 */
typedef void (*panda_combine)(void *context, void *into, const void *other, size_t length);

/**
 * The processes that the session began with. The handle is the caller's, to be given back by panda_comm_free(), as of those below.
 *
 * Errors: PANDA_NOT_IN_COMM: this process came later; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_comm_everyone(panda_session *session, panda_comm **communicator);

/**
 * Some processes, each once; the same list, in the same order, at all of them. All communicators of the same processes and the same name are one; two that are used at the same time have different
 * names. The name may be NULL, which is "".
 *
 * Errors: PANDA_NOT_IN_COMM: this process is not one of them; PANDA_TWICE_IN_COMM; PANDA_NO_SUCH_RANK; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_comm_of(panda_session *session,
                           const char *name,
                           const panda_rank *processes,
                           size_t count,
                           panda_comm **communicator);

/**
 * The members of a group as of the last view that this member's upcall has seen, apart from all other communicators. When the view changes its operations end with PANDA_LOST, or with
 * PANDA_MISMATCH where a process has joined, and so do all later ones: ask for the next view's.
 *
 * Errors: PANDA_NOT_MEMBER; PANDA_EXPELLED; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_comm_of_group(panda_group *group,
                                 panda_comm **communicator);

/**
 * Some members of a group as of the last view that this member's upcall has seen, each once; the same list, in the same order, at all of them. It is apart from all other communicators, and ends with the
 * view as panda_comm_of_group() says, whoever has come or gone.
 *
 * Errors: PANDA_MISMATCH: one of them is not in that view; PANDA_NOT_IN_COMM: this process is not one of them; PANDA_TWICE_IN_COMM; PANDA_NO_SUCH_RANK; PANDA_NOT_MEMBER; PANDA_EXPELLED; PANDA_OVER;
 * PANDA_BAD_ARGUMENT.
 */
panda_status panda_comm_of_members(panda_group *group,
                                   const panda_rank *processes,
                                   size_t count,
                                   panda_comm **communicator);

/**
 * Gives a handle back. NULL is none.
 */
void panda_comm_free(panda_comm *communicator);

/**
 * Who takes part, in order: at most `room` of them into `processes`. Returns how many there are; 0 for NULL.
 */
size_t panda_comm_ranks(panda_comm *communicator, panda_rank *processes, size_t room);

/**
 * Waits until all are here.
 *
 * Errors, as of all operations of a communicator: PANDA_LOST; PANDA_MISMATCH; PANDA_NOT_IN_COMM: the root is not one of them; PANDA_IN_UPCALL; PANDA_OVER;
 * PANDA_TOO_LONG, of those that send a message; PANDA_BAD_ARGUMENT: this process has taken no part, and the others wait for it, so arguments are to be checked alike everywhere.
 */
panda_status panda_comm_barrier(panda_comm *communicator);

/**
 * The root's message, at all. The root's is taken, others' are freed and may be NULL; what comes is the caller's.
 *
 * Errors: see panda_comm_barrier().
 */
panda_status panda_comm_broadcast(panda_comm *communicator, panda_rank root, panda_message *message, panda_message **result);

/**
 * Everybody's messages, which are taken, at the root: results[at] for each process in the order of the communicator, the caller's. Others' `results` stays as it is and may be NULL.
 *
 * Errors: see panda_comm_barrier().
 */
panda_status panda_comm_gather(panda_comm *communicator,
                               panda_rank root,
                               panda_message *message,
                               panda_message **results);

/**
 * To each its own of the root's messages, one for each process in the order of the communicator, which are taken. Others' `messages` may be NULL and are not looked at. What comes is
 * the caller's. Where `communicator` is NULL nobody knows how many messages there are: they stay the caller's.
 *
 * Errors: see panda_comm_barrier().
 */
panda_status panda_comm_scatter(panda_comm *communicator,
                                panda_rank root,
                                panda_message *const *messages,
                                panda_message **result);

/**
 * Everybody's messages, which are taken and of the same length, combined at the root, where what comes is the caller's. Others' `result` stays as it is and may be NULL. The context is used
 * until this returns.
 *
 * Errors: see panda_comm_barrier(); PANDA_PANICKED: values of different lengths, at all.
 */
panda_status panda_comm_reduce(panda_comm *communicator,
                               panda_rank root,
                               panda_message *message,
                               panda_combine combine,
                               void *context,
                               panda_message **result);

/**
 * Everybody's messages, which are taken and of the same length, combined, at all; what comes is the caller's. The context is used until this returns.
 *
 * Errors: as panda_comm_reduce().
 */
panda_status panda_comm_all_reduce(panda_comm *communicator, panda_message *message, panda_combine combine, void *context, panda_message **result);

/**
 * Everybody's arrays combined number by number, into everybody's array: `count` numbers of the type `of`, such as PANDA_DOUBLE, by the operation `by`, such as PANDA_SUM, the same at all. All get the same bits. Numbers are
 * combined in the order of the communicator from the process of the lowest rank on, first neighbours, then neighbouring pairs, and so on. After an error the array has what was reached. 0 numbers, which may be NULL, are a
 * barrier.
 *
 * Errors: see panda_comm_barrier(); PANDA_MISMATCH: others have another count, type or operation; it says which, at all; PANDA_BAD_ARGUMENT: as there, and for bits of floating-point numbers.
 */
panda_status panda_comm_all_reduce_numbers(panda_comm *communicator,
                                           void *numbers,
                                           size_t count,
                                           uint32_t of,
                                           uint32_t by);

/**
 * The same into the root's array, from whose place on numbers are combined; what others' arrays have afterwards is not said. A process that has only to send goes on before the root has ended.
 *
 * Errors: as panda_comm_all_reduce_numbers(); a mismatch at the root and at those who wait.
 */
panda_status panda_comm_reduce_numbers(panda_comm *communicator,
                                       panda_rank root,
                                       void *numbers,
                                       size_t count,
                                       uint32_t of,
                                       uint32_t by);

/* ---- quiescence and clocks ------------------------------------------------------------------------------- */

/**
 * A process's part in the detection of quiescence: the moments at which all processes are passive
 * and no message of work is under way.
 *
 * A process is active while one of its activities goes on. A message of work is one that may make
 * a passive process active. Its sender counts it before it sends it, its receiver when it takes
 * it, both within an activity: an upcall that takes work begins one first. A passive process
 * becomes active by a message of work alone, or after a verdict.
 */
typedef struct panda_quiescence panda_quiescence;

/**
 * A moment at which all was quiescent.
 */
typedef struct panda_verdict panda_verdict;

/**
 * How far another process's clock is ahead of this one's.
 */
typedef struct {
    /**
     * Nanoseconds that it is ahead; negative if it is behind.
     */
    int64_t offset_ns;
    /**
     * Nanoseconds by which that may be wrong, either way.
     */
    uint64_t uncertainty_ns;
    /**
     * This process's clock when that was measured: panda_session_clock().
     */
    uint64_t measured_at_ns;
} panda_clock_offset;

/**
 * Gives this process's part in the detection of quiescence. The first call begins it, with one
 * activity: that of the caller. Until then the process counts as active. The handle is the
 * caller's, to be given back by panda_quiescence_free(). Each handle's waiter gets each verdict.
 *
 * Errors: PANDA_LOST: another process has taken this one for lost, or it has left; PANDA_OVER;
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
 * Sets what this process says of itself in a verdict, for instance how many of its threads are
 * blocked: a message, which it takes. It is set within an activity.
 *
 * Errors: PANDA_TOO_LONG: it has more than 4096 bytes; PANDA_BAD_ARGUMENT.
 */
panda_status panda_quiescence_report(panda_quiescence *quiescence, panda_message *report);

/**
 * Waits for the next verdict, for a time at most, in nanoseconds or PANDA_FOREVER. The caller's
 * own activity has to be over. The verdict is the caller's, to be given back by
 * panda_verdict_free().
 *
 * Errors: PANDA_TIMED_OUT; PANDA_LOST: another process has taken this one for lost, or it has
 * left; PANDA_IN_UPCALL; PANDA_OVER; PANDA_BAD_ARGUMENT.
 */
panda_status panda_quiescence_wait(panda_quiescence *quiescence, uint64_t timeout_ns, panda_verdict **verdict);

/**
 * Leaves: the others go on without this process, and wait for the work that it has sent. It must
 * neither send work after that nor take any. The end of the session does the same.
 *
 * Errors: PANDA_BAD_ARGUMENT.
 */
panda_status panda_quiescence_leave(panda_quiescence *quiescence);

/**
 * Gives a handle back. It does not leave. NULL is none.
 */
void panda_quiescence_free(panda_quiescence *quiescence);

/**
 * A verdict's number. They are counted from 1, alike at all processes.
 */
uint64_t panda_verdict_number(panda_verdict *verdict);

/**
 * The processes that took part, by rank: at most `room` of them into `ranks`. Returns how many
 * there are.
 */
size_t panda_verdict_members(panda_verdict *verdict, panda_rank *ranks, size_t room);

/**
 * The processes that were lost until then, by rank: at most `room` of them into `ranks`. Returns
 * how many there are.
 */
size_t panda_verdict_lost(panda_verdict *verdict, panda_rank *ranks, size_t room);

/**
 * What a process reported of itself: a message that is the caller's. NULL if it took no part;
 * empty if it reported nothing.
 */
panda_message *panda_verdict_report(panda_verdict *verdict, panda_rank of);

/**
 * Gives a verdict back. NULL is none.
 */
void panda_verdict_free(panda_verdict *verdict);

/**
 * The time by this process's clock for timelines, in nanoseconds. Each process counts from a
 * moment of its own.
 */
uint64_t panda_session_clock(panda_session *session);

/**
 * Measures how far another process's clock is ahead of this one's, by several exchanges with it.
 * The true offset lies within the uncertainty while that lasts. Clocks drift: measure again later,
 * and interpolate between the two.
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
 * Fibers on one processor, for panda_run(): a switch costs nanoseconds, and one runs until it waits or yields. A fiber's stack has 256 KiB.
 */
#define PANDA_THREADS_FIBERS 1

/**
 * Lets threads of this process go on when so many have come; between processes it is panda_comm_barrier().
 */
typedef struct panda_barrier panda_barrier;

/**
 * A condition variable: signal and continue, without spurious wake-ups.
 */
typedef struct panda_condition panda_condition;

/**
 * Mutual exclusion; unlocking gives it to the thread that waits longest. An upcall may lock it, so keep it only for as long as it takes to read or change what it guards, and over no
 * other wait than a condition's.
 */
typedef struct panda_mutex panda_mutex;

/**
 * A counting semaphore; what is brought goes to the thread that waits longest.
 */
typedef struct panda_semaphore panda_semaphore;

/**
 * A thread that may be waited for.
 */
typedef struct panda_thread panda_thread;

/**
 * What a thread does; what it returns is the thread's result.
 */
typedef void *(*panda_body)(void *context);

/**
 * Runs a program on threads of a kind: `main`, and those that it starts by panda_thread_create(), are threads of the system (PANDA_THREADS_SYSTEM) or fibers that share the caller's processor
 * (PANDA_THREADS_FIBERS). With fibers it returns when the last of them has ended, so not at all where those that are left wait for each other: an upcall or another thread might still wake
 * them. What `main` returns goes to `result`, which may be NULL.
 *
 * Errors: PANDA_NO_THREAD; PANDA_BAD_ARGUMENT.
 */
panda_status panda_run(uint32_t threads,
                       panda_body main,
                       void *context,
                       void **result);

/**
 * Runs a program on fibers that share so many processors. A fiber may go on on another thread of the system after each wait: it keeps nothing over a wait that belongs to one, such as the address of a
 * thread-local variable (errno is one) or a lock of pthread's.
 *
 * Errors: as panda_run().
 */
panda_status panda_run_on(uint32_t processors,
                          panda_body main,
                          void *context,
                          void **result);

/**
 * Starts a thread: a fiber if the caller is one, else a thread of the system. `name` is for debuggers and may be NULL; of `priority`, see panda_thread_set_priority(). The handle is the caller's,
 * to be given back by panda_thread_join() or panda_thread_detach().
 *
 * Errors: PANDA_NO_THREAD; PANDA_BAD_ARGUMENT.
 */
panda_status panda_thread_create(const char *name,
                                 int32_t priority,
                                 panda_body body,
                                 void *context,
                                 panda_thread **thread);

/**
 * Waits until a thread has ended, takes its result to `result`, which may be NULL, and gives the handle back.
 *
 * Errors: PANDA_IN_UPCALL, and the handle is as it was; PANDA_PANICKED; PANDA_BAD_ARGUMENT.
 */
panda_status panda_thread_join(panda_thread *thread, void **result);

/**
 * Gives the handle back and lets the thread go on by itself. NULL is none.
 */
void panda_thread_detach(panda_thread *thread);

/**
 * Whether a thread has ended, so that to join it does not wait.
 */
bool panda_thread_is_over(panda_thread *thread);

/**
 * Ends the calling thread early, with a result. Only in what panda_run() or panda_thread_create() was given, and in functions that it calls; elsewhere, as in an upcall or another function that the library was
 * given, it ends the process. It unwinds the stack as pthread_exit() does: destructors of C++ run.
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
 * A number of 64 bits for the calling thread, fiber or not: its own for as long as it lives, and not found by a stranger's bad luck (threads have the same with a probability of n² / 2⁶⁵).
 */
uint64_t panda_thread_self(void);

/**
 * Sets the caller's priority; whether it took hold. 0 is usual, greater runs first. Among fibers of one processor it is exact; of threads of the system it is a hint, the nice value of the opposite
 * sign within -20 and 19, and to raise it takes a privilege.
 */
bool panda_thread_set_priority(int32_t priority);

/**
 * Runs a call that blocks in the system, such as a read, so that other fibers of the processor go on meanwhile; among threads of the system it is just called. What it returns goes to `result`, which
 * may be NULL. For a fiber it runs on a thread of the system's; panda_thread_exit() in it ends the caller all the same.
 *
 * Errors: PANDA_BAD_ARGUMENT.
 */
panda_status panda_blocking(panda_body call,
                            void *context,
                            void **result);

/**
 * A mutex that nobody holds, the caller's, as of the others below.
 */
panda_mutex *panda_mutex_new(void);

/**
 * Frees a mutex that nobody uses. NULL is none.
 */
void panda_mutex_free(panda_mutex *mutex);

/**
 * Waits until the mutex is the caller's. Who has it already waits for ever.
 *
 * Errors: PANDA_BAD_ARGUMENT.
 */
panda_status panda_mutex_lock(panda_mutex *mutex);

/**
 * Takes the mutex if nobody has it.
 *
 * Errors: PANDA_NOT_NOW: somebody has; PANDA_BAD_ARGUMENT.
 */
panda_status panda_mutex_trylock(panda_mutex *mutex);

/**
 * Lets go of a mutex that the caller has.
 *
 * Errors: PANDA_BAD_ARGUMENT, also if nobody has it.
 */
panda_status panda_mutex_unlock(panda_mutex *mutex);

/**
 * A condition that nobody waits for.
 */
panda_condition *panda_condition_new(void);

/**
 * Frees a condition that nobody uses. NULL is none.
 */
void panda_condition_free(panda_condition *condition);

/**
 * Lets go of the mutex, which the caller has, waits for a signal for a time at most, in nanoseconds or PANDA_FOREVER, and takes the mutex again, in any case.
 *
 * Errors: PANDA_TIMED_OUT: no signal came; PANDA_IN_UPCALL and PANDA_BAD_ARGUMENT, without having let go.
 */
panda_status panda_condition_wait(panda_condition *condition, panda_mutex *mutex, uint64_t timeout_ns);

/**
 * Wakes the thread that waits longest, if there is one.
 *
 * Errors: PANDA_BAD_ARGUMENT.
 */
panda_status panda_condition_signal(panda_condition *condition);

/**
 * Wakes all that wait now.
 *
 * Errors: PANDA_BAD_ARGUMENT.
 */
panda_status panda_condition_broadcast(panda_condition *condition);

/**
 * A semaphore of that value.
 */
panda_semaphore *panda_semaphore_new(uint64_t value);

/**
 * Frees a semaphore that nobody uses. NULL is none.
 */
void panda_semaphore_free(panda_semaphore *semaphore);

/**
 * P: takes one, and waits for it if there is none.
 *
 * Errors: PANDA_IN_UPCALL; PANDA_BAD_ARGUMENT.
 */
panda_status panda_semaphore_wait(panda_semaphore *semaphore);

/**
 * Takes one if there is one.
 *
 * Errors: PANDA_NOT_NOW: there is none; PANDA_BAD_ARGUMENT.
 */
panda_status panda_semaphore_trywait(panda_semaphore *semaphore);

/**
 * V: brings one.
 *
 * Errors: PANDA_BAD_ARGUMENT.
 */
panda_status panda_semaphore_post(panda_semaphore *semaphore);

/**
 * How many a semaphore would let pass now: by the time that the caller looks at it, it may be another number. 0 for NULL.
 */
uint64_t panda_semaphore_value(panda_semaphore *semaphore);

/**
 * A barrier for so many threads, at least one.
 */
panda_barrier *panda_barrier_new(size_t threads);

/**
 * Frees a barrier that nobody uses. NULL is none.
 */
void panda_barrier_free(panda_barrier *barrier);

/**
 * Waits for the others. `is_last`, which may be NULL, is whether the caller came last.
 *
 * Errors: PANDA_IN_UPCALL; PANDA_BAD_ARGUMENT.
 */
panda_status panda_barrier_wait(panda_barrier *barrier, bool *is_last);

#ifdef __cplusplus
}
#endif

#endif
