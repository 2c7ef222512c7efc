/* Messages, and the errors for their wrong use. */
#include "check.h"

static int releases;

static void release(void *context)
{
    CHECK(context == &releases);
    releases++;
}

static void pieces_are_not_copied(void)
{
    static const char behind[] = "behind";
    panda_message *message = panda_message_of("payload ", 8);
    OK(panda_message_append_buffer(message, behind, 6, release, &releases));
    OK(panda_message_push(message, "header ", 7));
    CHECK(panda_message_length(message) == 21);
    struct iovec pieces[4];
    size_t count = panda_message_pieces(message, pieces, 4);
    CHECK(count >= 2 && panda_message_pieces(message, NULL, 0) == count);
    CHECK(pieces[count - 1].iov_base == behind && pieces[count - 1].iov_len == 6);

    panda_message *same = panda_message_clone(message);
    char header[7];
    OK(panda_message_look(message, header, 7));
    OK(panda_message_pop(message, header, 7));
    CHECK(memcmp(header, "header ", 7) == 0);
    panda_message *first = NULL;
    OK(panda_message_split(message, 8, &first));
    CHECK(holds_text(first, "payload ") && holds_text(message, "behind"));
    CHECK(panda_message_flatten(message) == behind);
    panda_message_free(message);
    CHECK(releases == 0);
    CHECK(holds_text(same, "header payload behind"));
    /* It was flattened, so the buffer is not needed any more. */
    CHECK(releases == 1);
    OK(panda_message_append_message(first, same));
    CHECK(holds_text(first, "payload header payload behind"));
    OK(panda_message_append(first, "!", 1));
    panda_message *taken = panda_message_take(first);
    CHECK(panda_message_length(first) == 0 && panda_message_length(taken) == 30);
    panda_message_free(first);
    panda_message_free(taken);
}

static void long_headers(void)
{
    char header[100], back[200];
    panda_message *message = panda_message_new();
    for (int at = 0; at < 20; at++) {
        memset(header, 'a' + at, sizeof header);
        OK(panda_message_push(message, header, (size_t)(at % 2 ? 10 : 100)));
    }
    CHECK(panda_message_length(message) == 1100);
    OK(panda_message_look(message, back, 111));
    CHECK(back[0] == 't' && back[9] == 't' && back[10] == 's' && back[109] == 's' && back[110] == 'r');
    for (int at = 19; at >= 0; at--) {
        size_t length = at % 2 ? 10 : 100;
        OK(panda_message_pop(message, back, length));
        CHECK(back[0] == 'a' + at && back[length - 1] == 'a' + at);
    }
    CHECK(panda_message_length(message) == 0);
    panda_message_free(message);
}

static void misuse(void)
{
    char byte;
    panda_message *message = panda_message_of("ab", 2), *other = NULL;
    char two[3];
    IS(PANDA_SHORT, panda_message_pop(message, two, 3));
    SAYS("2 bytes");
    IS(PANDA_SHORT, panda_message_look(message, two, 3));
    IS(PANDA_SHORT, panda_message_split(message, 3, &other));
    CHECK(holds_text(message, "ab") && other == NULL);
    IS(PANDA_BAD_ARGUMENT, panda_message_append_message(message, message));
    SAYS("panda_message_append_message: other");
    IS(PANDA_BAD_ARGUMENT, panda_message_append_message(message, NULL));
    CHECK(holds_text(message, "ab"));
    IS(PANDA_BAD_ARGUMENT, panda_message_append(message, NULL, 1));
    SAYS("panda_message_append: bytes is NULL");
    OK(panda_message_append(message, NULL, 0));
    IS(PANDA_BAD_ARGUMENT, panda_message_push(NULL, &byte, 1));
    SAYS("panda_message_push: message is NULL");
    IS(PANDA_BAD_ARGUMENT, panda_message_pop(message, NULL, 1));
    IS(PANDA_BAD_ARGUMENT, panda_message_split(message, 1, NULL));
    releases = 0;
    IS(PANDA_BAD_ARGUMENT, panda_message_append_buffer(NULL, &byte, 1, release, &releases));
    CHECK(releases == 1);
    OK(panda_message_append_buffer(message, &byte, 0, release, &releases));
    CHECK(releases == 2);
    CHECK(panda_message_of(NULL, 1) == NULL && panda_message_take(NULL) == NULL && panda_message_clone(NULL) == NULL);
    CHECK(panda_message_length(NULL) == 0 && panda_message_flatten(NULL) == NULL);
    panda_message_free(message);
    panda_message_free(NULL);
}

static void nobody_is_there(void)
{
    panda_session *session = NULL;
    panda_arrived arrived;
    IS(PANDA_NOT_JOINED, panda_session_join(&session));
    SAYS("antiphon launch");
    CHECK(session == NULL && panda_last_rank() == PANDA_ANY);
    IS(PANDA_BAD_ARGUMENT, panda_session_join(NULL));
    IS(PANDA_BAD_ARGUMENT, panda_session_join_with_silence(0, &session));
    IS(PANDA_BAD_ARGUMENT, panda_session_end(NULL));
    IS(PANDA_BAD_ARGUMENT, panda_port_receive(NULL, 0, 0, 0, &arrived));
    SAYS("panda_port_receive: port is NULL");
    IS(PANDA_BAD_ARGUMENT, panda_port_send(NULL, 0, 0, panda_message_new()));
    IS(PANDA_BAD_ARGUMENT, panda_comm_barrier(NULL));
    IS(PANDA_BAD_ARGUMENT, panda_group_send(NULL, panda_message_new()));
    IS(PANDA_BAD_ARGUMENT, panda_mutex_lock(NULL));
    CHECK(panda_session_rank(NULL) == PANDA_ANY && panda_session_size(NULL) == 0 && panda_session_platform(NULL) == NULL);
    panda_session_free(NULL);
    panda_port_free(NULL);
    panda_group_free(NULL);
    panda_comm_free(NULL);
    panda_reply_drop(NULL);
    CHECK(strcmp(panda_status_name(PANDA_NOT_SIGNALLED), "PANDA_NOT_SIGNALLED") == 0 && strcmp(panda_status_name(PANDA_NOT_SIGNALLED + 1), "unknown") == 0);
    CHECK(strcmp(panda_status_name(1000), "unknown") == 0 && strcmp(panda_status_name(-1), "unknown") == 0);
}

int main(void)
{
    CHECK(strcmp(panda_last_error(), "") == 0);
    pieces_are_not_copied();
    long_headers();
    misuse();
    nobody_is_there();
    return 0;
}
