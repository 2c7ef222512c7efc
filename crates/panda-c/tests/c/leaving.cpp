// A callback that is left by panda_thread_exit() or by an exception: `leaving CALLBACK exit|throw`. It ends the process, so whoever returns from main() has failed.
#include "check.h"
#include <sys/resource.h>

static bool throws;

static void leave()
{
    if (throws)
        throw 42;
    panda_thread_exit(nullptr);
}

static void message_came(void *, panda_rank, uint32_t, panda_message *)
{
    leave();
}

static void call_came(void *, panda_rank, panda_message *, panda_reply *)
{
    leave();
}

static void event_came(void *, const panda_event *)
{
    leave();
}

static bool holds(void *)
{
    leave();
    return true;
}

static bool accepts(void *, panda_rank, uint32_t, panda_message *)
{
    leave();
    return true;
}

static void combine(void *, void *, const void *, size_t)
{
    leave();
}

static void release(void *)
{
    leave();
}

static void *other_part(void *session)
{
    panda_comm *communicator;
    panda_message *sum;
    OK(panda_comm_everyone(static_cast<panda_session *>(session), &communicator));
    panda_comm_all_reduce(communicator, number_message(1), combine, nullptr, &sum);
    return nullptr;
}

int main(int count, char **arguments)
{
    // The end is meant: no core of it is kept.
    const rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    CHECK(count == 3);
    const char *callback = arguments[1];
    throws = strcmp(arguments[2], "throw") == 0;
    panda_session *sessions[2];
    panda_port *port;
    OK(panda_session_local(2, sessions));
    OK(panda_port_open(sessions[0], "port", &port));
    if (strcmp(callback, "message") == 0) {
        OK(panda_port_on_message(port, message_came, nullptr, nullptr));
        OK(panda_port_send_bytes(port, 0, 0, "a", 1));
    } else if (strcmp(callback, "call") == 0) {
        OK(panda_session_serve(sessions[0], "service", call_came, nullptr, nullptr));
        panda_session_call(sessions[0], 0, "service", number_message(1), PANDA_FOREVER, nullptr);
    } else if (strcmp(callback, "event") == 0) {
        panda_group *group;
        panda_group_join(sessions[0], "group", event_came, nullptr, nullptr, &group);
    } else if (strcmp(callback, "predicate") == 0) {
        panda_session_wait_until(sessions[0], holds, nullptr, PANDA_FOREVER);
    } else if (strcmp(callback, "accepts") == 0) {
        panda_arrived arrived;
        OK(panda_port_send_bytes(port, 0, 0, "a", 1));
        panda_port_receive_where(port, accepts, nullptr, PANDA_FOREVER, &arrived);
    } else if (strcmp(callback, "combine") == 0) {
        panda_thread *thread;
        OK(panda_thread_create("other", 0, other_part, sessions[1], &thread));
        other_part(sessions[0]);
    } else if (strcmp(callback, "release") == 0) {
        panda_port_on_message(port, nullptr, nullptr, release);
    } else if (strcmp(callback, "buffer") == 0) {
        panda_message *message = panda_message_new();
        OK(panda_message_append_buffer(message, "a", 1, release, nullptr));
        // Nobody below catches anything here. That somebody would, further up, must not let it pass.
        try {
            panda_message_free(message);
        } catch (...) {
        }
    }
    OK(panda_thread_sleep(2000000000));
    return 2;
}
