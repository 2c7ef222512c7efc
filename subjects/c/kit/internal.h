/* What the parts of the kit offer one another. Tests see kit.h only. */
#ifndef KIT_INTERNAL_H
#define KIT_INTERNAL_H

#include "kit.h"

#include <stddef.h>
#include <stdio.h>

#define KIT_READINGS_MOST 1000000u /* of a clock, a latency or a series request */
#define KIT_BLOCKS_MOST 100000u

/* request.c: a request line, taken apart ----------------------------------------------------------------------------- */

#define KIT_LINE_BYTES 4096
#define KIT_WORDS_MOST 8
#define KIT_FIELDS_MOST 32

struct field {
    const char *key;
    const char *value;
};

struct request {
    size_t words; /* the verb and the positional words */
    const char *word[KIT_WORDS_MOST];
    size_t fields;
    struct field field[KIT_FIELDS_MOST];
};

enum line { LINE_READ, LINE_TOO_LONG, LINE_END };

/* Reads one line of standard input, without its end, into `line`; a line that is too long is read to its end. */
enum line read_line(char line[KIT_LINE_BYTES + 1], size_t *length);

/* Takes a line apart in place; false, and `bad` answered, if it is not made of words with single spaces between. */
bool parse_request(struct request *request, char *line, size_t length);

/* These answer `bad-argument` and return false if the value is missing, not a number or out of range. */
bool parse_number(const char *what, const char *text, uint64_t least, uint64_t most, uint64_t *number);
bool number_field(const struct request *request, const char *key, uint64_t least, uint64_t most, uint64_t *number);

/* The value of a field, NULL if it is not there. */
const char *find_field(const struct request *request, const char *key);

/* Answers `bad-argument` and returns false unless the request has so many words, the verb among them. */
bool has_words(const struct request *request, size_t words, const char *usage);

/* answer.c: lines to the laboratory ------------------------------------------------------------------------------- */

void answer_start(void);                   /* once, before the first answer: gives standard output its buffer */
void answer_value(const char *text);       /* a field's value, with %XX where the protocol wants it */
void answer_readings(const uint64_t *reading, size_t count);
void answer_ok(void);                      /* the closing lines; they flush */
void answer_error(const char *code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* threads.c ----------------------------------------------------------------------------------------------------- */

const char *place_same(unsigned processor); /* NULL, or why it could not be done */
const char *place_across(unsigned main_processor, unsigned partner_processor);
void start_reporting(void); /* what follows is untimed: the calling thread reports as the main one, partners as they take part */
void stop_reporting(void);
void forget_reports(void);
void answer_reports(void);

/* resources.c --------------------------------------------------------------------------------------------------- */

struct resources {
    uint64_t voluntary, involuntary, minor, major;
    uint64_t elsewhere; /* switches of partners in other processes, as reset hooks have told them */
    uint64_t wait_ns;
    bool wait_known;
};

void resources_start(void); /* once, on the measuring thread */
void read_resources(struct resources *resources);
void answer_usage(void);

/* clocks.c -------------------------------------------------------------------------------------------------------- */

#define KIT_GAPS_MOST 200000u

struct gap {
    uint64_t start; /* the reading before it, since the first one of the loop */
    uint64_t duration;
};

struct gap_loop {
    uint64_t over; /* a first difference above this is a gap */
    uint64_t time_ns;
    struct gap *gap; /* KIT_GAPS_MOST of them */
    uint64_t readings, elapsed, gaps, lost;
};

struct clock_source {
    const char *name;
    const char *unit;
    void (*fill)(uint64_t *reading, size_t count); /* successive readings in a tight loop */
    void (*watch)(struct gap_loop *loop);          /* the same for `time_ns`, of which only the gaps are kept */
};

extern const struct clock_source clock_sources[]; /* a NULL name ends them */

/* The clock that the request's first positional word names; NULL, and `unknown-clock` answered, if there is none. */
const struct clock_source *requested_clock(const struct request *request);

/* attempt.c: work that kit_fail may end ----------------------------------------------------------------------------- */

/* Runs the work; NULL, or the text of the kit_fail that ended it. Afterwards no thread reports any more, however it ended. */
const char *attempt(void (*work)(void *), void *context);
void reset_after_failure(const struct kit_test *test); /* what an attempt failed with stands, whatever the reset hook says */

/* Storage for `count` objects, written to before it is returned so that no page of it is first touched while timing
 * runs; NULL, and `failed` answered, where there is none. */
void *touched_storage(size_t count, size_t bytes);

/* unlearn.c: makes branch prediction forget what it learnt in the slices before; untimed, some microseconds. */
void unlearn_branches(void);

/* enter.c: calls a frame in such a way that the processor cannot have learnt where the call leads. */
uint64_t enter_frame(kit_frame *frame, uint64_t iterations);

/* batch.c, gaps.c, sequences.c: one function a request ---------------------------------------------------------------- */

kit_frame reference_frame;
void serve_batch(const struct request *request);
void serve_slice(const struct request *request);
void finish_slices(void); /* finishes the test that slices were asked of, if any */
void serve_clock(const struct request *request);
void serve_gaps(const struct request *request);
void serve_latency(const struct request *request);
void serve_series(const struct request *request);

/* tests.c ---------------------------------------------------------------------------------------------------------- */

extern const struct kit_test self_tests[];
void answer_tests(void);
bool partners_in_processes(void); /* whether any test has partners in other processes */

/* The test that the request's first positional word names and the argument meant for it. NULL, and the error answered, if there
 * is no such test, it is of another kind or absent, or the argument does not fit it. */
const struct kit_test *requested_test(const struct request *request, enum kit_kind kind, uint64_t *argument);

static inline void run_hook(kit_hook *hook)
{
    if (hook)
        hook();
}

#endif
