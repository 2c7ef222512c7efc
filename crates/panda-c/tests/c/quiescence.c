/* Quiescence over all processes, and their clocks. */
#include "check.h"
#include <stdatomic.h>

enum { HOPS = 20, ROUNDS = 3 };

static panda_quiescence *quiescence;
static panda_port *work;
static panda_rank rank, size;
static atomic_uint done;

static void send_work(panda_rank to, uint32_t hops)
{
    OK(panda_quiescence_sent(quiescence, to));
    OK(panda_port_send(work, to, 0, number_message(hops)));
}

/* Each message goes on to the next process while it has hops left. */
static void take_work(void *context, panda_rank from, uint32_t tag, panda_message *message)
{
    uint32_t hops;
    (void)context, (void)tag;
    OK(panda_quiescence_active(quiescence));
    OK(panda_quiescence_received(quiescence, from));
    OK(panda_message_pop(message, &hops, sizeof hops));
    done++;
    if (hops > 0)
        send_work((rank + 1) % size, hops - 1);
    OK(panda_quiescence_passive(quiescence));
}

int main(void)
{
    panda_session *session;
    panda_comm *all;
    panda_verdict *verdict = NULL;
    panda_rank ranks[16];
    panda_detect_waiting_upcalls(false);
    OK(panda_session_join(&session));
    rank = panda_session_rank(session);
    size = panda_session_size(session);
    OK(panda_comm_everyone(session, &all));
    OK(panda_session_quiescence(session, &quiescence));
    OK(panda_port_open(session, "work", &work));
    OK(panda_port_on_message(work, take_work, NULL, NULL));
    OK(panda_comm_barrier(all));

    for (uint32_t round = 1; round <= ROUNDS; round++) {
        for (panda_rank to = 0; to < size; to++)
            send_work(to, HOPS);
        OK(panda_quiescence_report(quiescence, number_message(rank * 100 + round)));
        OK(panda_quiescence_passive(quiescence));
        OK(panda_quiescence_wait(quiescence, PANDA_FOREVER, &verdict));
        OK(panda_quiescence_active(quiescence));
        CHECK(panda_verdict_number(verdict) == round);
        CHECK(panda_verdict_members(verdict, ranks, 16) == size && ranks[size - 1] == size - 1);
        CHECK(panda_verdict_lost(verdict, NULL, 0) == 0);
        for (panda_rank of = 0; of < size; of++)
            CHECK(number_of(panda_verdict_report(verdict, of)) == of * 100 + round);
        CHECK(panda_verdict_report(verdict, size) == NULL);
        panda_verdict_free(verdict);
        /* Each process gets the same number of the circulating messages. */
        CHECK(done == size * (HOPS + 1) * round);
        OK(panda_comm_barrier(all));
    }

    /* The caller counts as active itself. */
    IS(PANDA_TIMED_OUT, panda_quiescence_wait(quiescence, 1000000, &verdict));
    IS(PANDA_NO_SUCH_RANK, panda_quiescence_sent(quiescence, size));
    IS(PANDA_BAD_ARGUMENT, panda_quiescence_active(NULL));
    IS(PANDA_BAD_ARGUMENT, panda_quiescence_wait(quiescence, 0, NULL));

    panda_clock_offset offset;
    for (panda_rank of = 0; of < size; of++) {
        uint64_t before = panda_session_clock(session);
        OK(panda_session_clock_offset(session, of, &offset));
        CHECK(before <= offset.measured_at_ns && offset.measured_at_ns <= panda_session_clock(session));
        CHECK(of != rank || (offset.offset_ns == 0 && offset.uncertainty_ns == 0));
    }
    IS(PANDA_NO_SUCH_RANK, panda_session_clock_offset(session, size, &offset));
    OK(panda_comm_barrier(all));

    OK(panda_quiescence_leave(quiescence));
    IS(PANDA_LOST, panda_quiescence_wait(quiescence, PANDA_FOREVER, &verdict));
    panda_quiescence_free(quiescence);
    panda_port_free(work);
    panda_comm_free(all);
    panda_session_free(session);
    return 0;
}
