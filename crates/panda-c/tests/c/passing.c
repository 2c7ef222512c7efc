/* Ports and calls, between any number of processes from 2 on. Rank 0 asks, rank 1 answers. */
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>

static panda_session *session;
static panda_rank rank;
static atomic_uint sum, upcalls, releases;
static panda_reply *kept;
static pthread_t answerer;
static atomic_bool is_kept, is_started;

static void release(void *context)
{
    CHECK(context == &releases);
    releases++;
}

static void add(void *context, panda_rank from, uint32_t tag, panda_message *message)
{
    uint32_t number;
    CHECK(context == &releases && from == 0 && tag == 5);
    OK(panda_message_pop(message, &number, sizeof number));
    sum += number;
    upcalls++;
}

/* Keeps the lent message, and sends it on. */
static void pass_on(void *context, panda_rank from, uint32_t tag, panda_message *message)
{
    panda_port *back = context;
    OK(panda_port_send(back, from, tag + 1, panda_message_take(message)));
    CHECK(panda_message_length(message) == 0);
}

static void no_event(void *context, const panda_event *event)
{
    (void)context;
    (void)event;
}

static bool is_so(void *flag);

static void wait_in_an_upcall(void *context, panda_rank from, panda_message *arguments, panda_reply *reply)
{
    panda_arrived arrived;
    panda_port *port = context;
    (void)arguments;
    IS(PANDA_IN_UPCALL, panda_port_receive(port, from, PANDA_ANY, PANDA_FOREVER, &arrived));
    SAYS("panda_port_receive");
    IS(PANDA_IN_UPCALL, panda_port_send_synchronously(port, from, 0, panda_message_new()));
    IS(PANDA_IN_UPCALL, panda_session_call(session, from, "echo", panda_message_new(), PANDA_FOREVER, NULL));
    IS(PANDA_IN_UPCALL, panda_session_wait_until(session, is_so, &is_kept, PANDA_FOREVER));
    SAYS("panda_session_wait_until");
    panda_comm *all;
    panda_group *group;
    OK(panda_comm_everyone(session, &all));
    IS(PANDA_IN_UPCALL, panda_comm_barrier(all));
    panda_comm_free(all);
    IS(PANDA_IN_UPCALL, panda_group_join(session, "any", no_event, NULL, NULL, &group));
    panda_semaphore *semaphore = panda_semaphore_new(1);
    panda_mutex *mutex = panda_mutex_new();
    panda_condition *condition = panda_condition_new();
    IS(PANDA_IN_UPCALL, panda_semaphore_wait(semaphore));
    OK(panda_mutex_lock(mutex));
    IS(PANDA_IN_UPCALL, panda_condition_wait(condition, mutex, PANDA_FOREVER));
    OK(panda_mutex_unlock(mutex));
    IS(PANDA_IN_UPCALL, panda_thread_sleep(1));
    IS(PANDA_IN_UPCALL, panda_must_not_wait());
    SAYS("panda_must_not_wait");
    panda_condition_free(condition);
    panda_mutex_free(mutex);
    panda_semaphore_free(semaphore);
    OK(panda_reply_send(reply, text_message("refused")));
    IS(PANDA_BAD_ARGUMENT, panda_reply_send(reply, panda_message_new()));
    SAYS("given before");
}

static void echo(void *context, panda_rank from, panda_message *arguments, panda_reply *reply)
{
    (void)context;
    (void)from;
    /* A lent message may be passed on. */
    OK(panda_reply_send(reply, arguments));
}

static void drop(void *context, panda_rank from, panda_message *arguments, panda_reply *reply)
{
    (void)context;
    (void)from;
    (void)arguments;
    (void)reply;
}

static void keep(void *context, panda_rank from, panda_message *arguments, panda_reply *reply)
{
    (void)context;
    (void)from;
    panda_message_free(arguments);
    kept = panda_reply_keep(reply);
    CHECK(kept != NULL && panda_reply_keep(reply) == NULL);
    is_kept = true;
}

static void *answer(void *reply)
{
    OK(panda_reply_send(reply, text_message("from a thread")));
    return NULL;
}

static void answer_elsewhere(void *context, panda_rank from, panda_message *arguments, panda_reply *reply)
{
    (void)context;
    (void)from;
    (void)arguments;
    CHECK(pthread_create(&answerer, NULL, answer, panda_reply_keep(reply)) == 0);
    is_started = true;
}

static bool is_so(void *flag)
{
    return *(atomic_bool *)flag;
}

static bool all_came(void *context)
{
    (void)context;
    return upcalls == 100;
}

static void barrier(void)
{
    panda_comm *all;
    OK(panda_comm_everyone(session, &all));
    OK(panda_comm_barrier(all));
    panda_comm_free(all);
}

static void who_we_are(void)
{
    char name[100], cut[4];
    CHECK(panda_session_size(session) >= 2 && panda_session_population(session) == panda_session_size(session));
    size_t length = panda_session_name_of(session, rank, name, sizeof name);
    CHECK(length > 4 && strlen(name) == length);
    CHECK(panda_session_name_of(session, rank, cut, sizeof cut) == length && strlen(cut) == 3 && memcmp(cut, name, 3) == 0);
    CHECK(panda_session_name_of(session, 99, name, sizeof name) == 0 && name[0] == 0);
    CHECK(panda_session_why_lost(session, 0, name, sizeof name) == 0 && name[0] == 0);
    CHECK(strlen(panda_session_platform(session)) > 0);
    size_t count = 77;
    uint64_t frames = 77;
    OK(panda_session_multicast(session, NULL, 0, &count, &frames));
    CHECK(count < panda_session_size(session));
}

static void messages(void)
{
    panda_port *port;
    panda_arrived arrived;
    OK(panda_port_open(session, "explicit", &port));
    IS(PANDA_NOT_NOW, panda_port_poll(port, PANDA_ANY, PANDA_ANY, &arrived));
    barrier();
    if (rank == 0) {
        char *large = calloc(300000, 1);
        large[299999] = 'x';
        OK(panda_port_send(port, 1, 1, text_message("one")));
        OK(panda_port_send(port, 1, 2, text_message("two")));
        panda_message *long_one = panda_message_of("long ", 5);
        OK(panda_message_append_buffer(long_one, large, 300000, free, large));
        OK(panda_port_send_synchronously(port, 1, 3, long_one));
        CHECK(panda_port_takes_more(port, 1));
        OK(panda_port_receive(port, 1, 4, PANDA_FOREVER, &arrived));
        panda_message_free(arrived.message);
        IS(PANDA_BAD_ARGUMENT, panda_port_send(port, 1, PANDA_ANY, panda_message_new()));
        SAYS("tag");
        IS(PANDA_BAD_ARGUMENT, panda_port_send(port, 1, 1, NULL));
        IS(PANDA_BAD_ARGUMENT, panda_port_send_bytes(port, 1, 1, NULL, 1));
        SAYS("panda_port_send_bytes: bytes is NULL");
        IS(PANDA_NO_SUCH_RANK, panda_port_send(port, 1000, 1, panda_message_new()));
        CHECK(panda_last_rank() == 1000);
        IS(PANDA_TIMED_OUT, panda_port_receive(port, 1, 9, 1000, &arrived));
        CHECK(panda_last_rank() == 1);
        IS(PANDA_TIMED_OUT, panda_port_receive(port, PANDA_ANY, 9, 1000, &arrived));
        CHECK(panda_last_rank() == PANDA_ANY);
    } else if (rank == 1) {
        /* Takes the second message first, by its tag. */
        OK(panda_port_receive(port, PANDA_ANY, 2, PANDA_FOREVER, &arrived));
        CHECK(arrived.from == 0 && arrived.tag == 2 && holds_text(arrived.message, "two"));
        panda_message_free(arrived.message);
        OK(panda_port_receive(port, 0, PANDA_ANY, PANDA_FOREVER, &arrived));
        CHECK(arrived.tag == 1 && holds_text(arrived.message, "one"));
        panda_message_free(arrived.message);
        OK(panda_port_receive(port, 0, 3, PANDA_FOREVER, &arrived));
        CHECK(panda_message_length(arrived.message) == 300005);
        CHECK(((const char *)panda_message_flatten(arrived.message))[300004] == 'x');
        OK(panda_port_send(port, 0, 4, arrived.message));
    }
    barrier();
    panda_port_free(port);
}

/* Accepts messages with a number of at least `least`, and counts all that it gets. */
struct least {
    uint32_t number;
    unsigned shown;
    panda_port *port;
};

static bool is_large(void *context, panda_rank from, uint32_t tag, panda_message *message)
{
    struct least *least = context;
    uint32_t number;
    panda_arrived arrived;
    CHECK(from == 0 && tag <= 50 && panda_message_length(message) == sizeof number);
    IS(PANDA_IN_UPCALL, panda_port_receive(least->port, 0, PANDA_ANY, PANDA_FOREVER, &arrived));
    /* Pops from a copy: the queued message does not change. */
    OK(panda_message_pop(message, &number, sizeof number));
    least->shown++;
    return number >= least->number;
}

static void ignored(void *context, panda_rank from, uint32_t tag, panda_message *message)
{
    (void)context, (void)from, (void)tag, (void)message;
}

static void chosen_messages(void)
{
    panda_port *port, *taken;
    panda_arrived arrived;
    panda_probed probed;
    OK(panda_port_open(session, "chosen", &port));
    OK(panda_port_open(session, "with an upcall", &taken));
    struct least least = {5000, 0, port};
    barrier();
    if (rank == 0) {
        for (uint32_t tag = 1; tag <= 50; tag++)
            OK(panda_port_send(port, 1, tag, number_message(100 * tag)));
        OK(panda_port_receive(port, 1, 0, PANDA_FOREVER, &arrived));
        panda_message_free(arrived.message);
        OK(panda_port_send(port, 1, 7, number_message(777)));
    } else if (rank == 1) {
        OK(panda_port_receive_where(port, is_large, &least, PANDA_FOREVER, &arrived));
        CHECK(arrived.from == 0 && arrived.tag == 50 && number_of(arrived.message) == 5000);
        CHECK(least.shown == 50);
        IS(PANDA_NOT_NOW, panda_port_poll_where(port, is_large, &least, &arrived));
        IS(PANDA_NOT_NOW, panda_port_peek_where(port, is_large, &least, &probed));
        IS(PANDA_TIMED_OUT, panda_port_receive_where(port, is_large, &least, 1000, &arrived));
        CHECK(panda_last_rank() == PANDA_ANY && least.shown == 50 + 3 * 49);
        least.number = 4800;
        OK(panda_port_peek_where(port, is_large, &least, &probed));
        CHECK(probed.from == 0 && probed.tag == 48 && probed.length == sizeof(uint32_t));
        OK(panda_port_poll_where(port, is_large, &least, &arrived));
        CHECK(arrived.tag == 48 && number_of(arrived.message) == 4800);
        IS(PANDA_NOT_NOW, panda_port_peek(port, PANDA_ANY, 48, &probed));
        IS(PANDA_TIMED_OUT, panda_port_probe(port, 0, 48, 1000, &probed));
        CHECK(panda_last_rank() == 0);
        /* Receives the last message first. */
        for (uint32_t tag = 49; tag > 0; tag--) {
            if (tag == 48)
                continue;
            OK(panda_port_peek(port, 0, tag, &probed));
            CHECK(probed.from == 0 && probed.tag == tag && probed.length == sizeof(uint32_t));
            OK(panda_port_receive(port, tag % 2 ? 0 : PANDA_ANY, tag, PANDA_FOREVER, &arrived));
            CHECK(number_of(arrived.message) == 100 * tag);
        }
        OK(panda_port_send(port, 0, 0, panda_message_new()));
        OK(panda_port_probe(port, 0, PANDA_ANY, PANDA_FOREVER, &probed));
        CHECK(probed.from == 0 && probed.tag == 7 && probed.length == sizeof(uint32_t));
        OK(panda_port_receive(port, probed.from, probed.tag, 0, &arrived));
        CHECK(number_of(arrived.message) == 777);
    }
    IS(PANDA_NOT_NOW, panda_port_peek(port, PANDA_ANY, PANDA_ANY, &probed));
    IS(PANDA_BAD_ARGUMENT, panda_port_peek(port, PANDA_ANY, PANDA_ANY, NULL));
    IS(PANDA_BAD_ARGUMENT, panda_port_receive_where(port, NULL, NULL, PANDA_FOREVER, &arrived));
    SAYS("panda_port_receive_where: accepts is NULL");
    OK(panda_port_on_message(taken, ignored, NULL, NULL));
    IS(PANDA_HAS_UPCALL, panda_port_peek(taken, PANDA_ANY, PANDA_ANY, &probed));
    SAYS("port \"with an upcall\" has an upcall");
    IS(PANDA_HAS_UPCALL, panda_port_peek_where(taken, is_large, &least, &probed));
    IS(PANDA_HAS_UPCALL, panda_port_probe(taken, PANDA_ANY, PANDA_ANY, PANDA_FOREVER, &probed));
    IS(PANDA_HAS_UPCALL, panda_port_poll_where(taken, is_large, &least, &arrived));
    IS(PANDA_HAS_UPCALL, panda_port_receive_where(taken, is_large, &least, PANDA_FOREVER, &arrived));
    barrier();
    panda_port_free(port);
    panda_port_free(taken);
}

static void upcalls_take_messages(void)
{
    panda_port *adds, *back;
    OK(panda_port_open(session, "adds", &adds));
    OK(panda_port_open(session, "back", &back));
    if (rank == 1) {
        OK(panda_port_on_message(adds, add, &releases, release));
        IS(PANDA_BAD_ARGUMENT, panda_port_on_message(adds, NULL, &releases, release));
        CHECK(releases == 1);
    }
    barrier();
    if (rank == 0)
        for (uint32_t number = 1; number <= 100; number++)
            OK(number % 2 ? panda_port_send_bytes(adds, 1, 5, &number, sizeof number)
                          : panda_port_send(adds, 1, 5, number_message(number)));
    if (rank == 1) {
        OK(panda_session_wait_until(session, all_came, NULL, PANDA_FOREVER));
        CHECK(sum == 5050);
        atomic_bool never = false;
        IS(PANDA_TIMED_OUT, panda_session_wait_until(session, is_so, &never, 1000));
        OK(panda_session_poll(session));
        OK(panda_port_on_message(adds, pass_on, back, NULL));
        CHECK(releases == 2);
    }
    barrier();
    if (rank == 0) {
        panda_arrived arrived;
        OK(panda_port_send_synchronously(adds, 1, 7, text_message("to and fro")));
        OK(panda_port_receive(back, 1, 8, PANDA_FOREVER, &arrived));
        CHECK(holds_text(arrived.message, "to and fro"));
        panda_message_free(arrived.message);
    }
    barrier();
    panda_port_free(adds);
    /* The upcall keeps `back`, and is released with the session. */
    if (rank != 1)
        panda_port_free(back);
}

static void calls(void)
{
    panda_port *port;
    panda_message *reply;
    OK(panda_port_open(session, "explicit", &port));
    if (rank == 1) {
        OK(panda_session_serve(session, "echo", echo, NULL, NULL));
        OK(panda_session_serve(session, "drop", drop, NULL, NULL));
        OK(panda_session_serve(session, "keep", keep, NULL, NULL));
        OK(panda_session_serve(session, "elsewhere", answer_elsewhere, NULL, NULL));
        OK(panda_session_serve(session, "waits", wait_in_an_upcall, port, NULL));
        IS(PANDA_BAD_ARGUMENT, panda_session_serve(session, "\xff", echo, NULL, NULL));
        SAYS("panda_session_serve: service is not text in UTF-8");
    }
    barrier();
    if (rank == 0) {
        OK(panda_session_call(session, 1, "echo", text_message("hello"), PANDA_FOREVER, &reply));
        CHECK(holds_text(reply, "hello"));
        panda_message_free(reply);
        OK(panda_session_call(session, 1, "echo", text_message("hello"), PANDA_FOREVER, NULL));
        OK(panda_session_call(session, 1, "waits", panda_message_new(), PANDA_FOREVER, &reply));
        CHECK(holds_text(reply, "refused"));
        panda_message_free(reply);
        OK(panda_session_call(session, 1, "keep", panda_message_new(), PANDA_FOREVER, &reply));
        CHECK(holds_text(reply, "later"));
        panda_message_free(reply);
        OK(panda_session_call(session, 1, "elsewhere", panda_message_new(), PANDA_FOREVER, &reply));
        CHECK(holds_text(reply, "from a thread"));
        panda_message_free(reply);
        IS(PANDA_NO_REPLY, panda_session_call(session, 1, "drop", panda_message_new(), PANDA_FOREVER, &reply));
        IS(PANDA_NO_SERVICE, panda_session_call(session, 1, "no such", panda_message_new(), PANDA_FOREVER, &reply));
        SAYS("no such");
        IS(PANDA_NO_SUCH_RANK, panda_session_call(session, 1000, "echo", panda_message_new(), PANDA_FOREVER, &reply));
        IS(PANDA_BAD_ARGUMENT, panda_session_call(session, 1, NULL, panda_message_new(), PANDA_FOREVER, &reply));
        IS(PANDA_TIMED_OUT, panda_session_call(session, 1, "keep", panda_message_new(), 1000000, &reply));
        CHECK(panda_last_rank() == 1);
    } else if (rank == 1) {
        OK(panda_session_wait_until(session, is_so, &is_kept, PANDA_FOREVER));
        is_kept = false;
        OK(panda_reply_send(kept, text_message("later")));
        OK(panda_session_wait_until(session, is_so, &is_started, PANDA_FOREVER));
        CHECK(pthread_join(answerer, NULL) == 0);
        OK(panda_session_wait_until(session, is_so, &is_kept, PANDA_FOREVER));
    }
    barrier();
    /* No thread waits for it any more. */
    if (rank == 1)
        panda_reply_drop(kept);
    panda_port_free(port);
}

static void *ends(void *handle)
{
    OK(panda_session_end(handle));
    return NULL;
}

static void the_end(void)
{
    panda_port *port;
    panda_arrived arrived;
    pthread_t ender;
    OK(panda_port_open(session, "end", &port));
    barrier();
    /* A waiting thread gets an error when another thread ends the session. */
    CHECK(pthread_create(&ender, NULL, ends, session) == 0);
    IS(PANDA_OVER, panda_port_receive(port, rank, PANDA_ANY, PANDA_FOREVER, &arrived));
    CHECK(pthread_join(ender, NULL) == 0);
    IS(PANDA_OVER, panda_port_poll(port, PANDA_ANY, PANDA_ANY, &arrived));
    IS(PANDA_OVER, panda_port_send(port, 0, 0, panda_message_new()));
    IS(PANDA_OVER, panda_session_call(session, 0, "echo", panda_message_new(), PANDA_FOREVER, NULL));
    IS(PANDA_OVER, panda_session_poll(session));
    OK(panda_session_end(session));
    CHECK(panda_session_rank(session) == rank);
    panda_session_free(session);
    IS(PANDA_OVER, panda_port_send(port, 0, 0, panda_message_new()));
    panda_port_free(port);
}

int main(void)
{
    panda_detect_waiting_upcalls(false);
    OK(panda_session_join(&session));
    rank = panda_session_rank(session);
    who_we_are();
    messages();
    chosen_messages();
    upcalls_take_messages();
    calls();
    the_end();
    return 0;
}
