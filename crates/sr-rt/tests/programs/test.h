/* What the test programs share: shorthands for what the compiler would write out. */
#include "sr.h"

#define AT                                                            \
    ({                                                                \
        static const struct sr_location here = {"test.sr", __LINE__, 0}; \
        &here;                                                        \
    })
#define SAY(...) sr_write(AT, SR_STDOUT, 1, SR_LIST(struct sr_value, __VA_ARGS__))
#define T(text) sr_vs(SR_TEXT(text))
/* A block of a struct that begins with the head. */
#define NEW(type) ((struct type *)sr_invocation_new(AT, sizeof(struct type)))
#define MAIN(body, last)                                                                                     \
    static const struct sr_component main_component = {"main", sizeof(struct instance), body, last, 0};      \
    SR_PROGRAM(&main_component, 0, 0, 0)

/* An invocation of an operation with an int parameter and an int result. */
struct with_int {
    struct sr_invocation head;
    int32_t n, result;
};
