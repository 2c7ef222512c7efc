// Strings: assignment, parts, concatenation, comparison, conversions.
// out: hello
// out: ell
// out: hippo
// out: hippo and 12
// out: less 1 equal 1
// out: 1.00000 true x
// out: 255 2.5 1 97
// out: swapped ab hippo
// out: one two three
// exit: 1
// has: string of length 6 is too long to assign to string[5]
#include "test.h"

struct instance {
    struct sr_instance head;
};
struct s5 {
    int32_t length;
    char data[5];
};

static void body(struct sr_instance *i, void *parameters)
{
    (void)i, (void)parameters;
    struct s5 s, t;
    sr_string_set(AT, SR_STRING(s), SR_TEXT("hello"));
    SAY(sr_vs(SR_STRING_VALUE(s)));
    SAY(sr_vs(sr_text_slice(AT, SR_STRING_VALUE(s), 5, 2, 4)));
    *sr_string_at(AT, SR_STRING(s), 2) = 'i';
    sr_string_set_slice(AT, SR_STRING(s), 3, 4, SR_TEXT("pp"));
    SAY(sr_vs(SR_STRING_VALUE(s)));
    SAY(sr_vs(sr_text_cat(AT, SR_STRING_VALUE(s), sr_text_cat(AT, SR_TEXT(" and "), sr_text_of_int(AT, 12)))));
    SAY(T("less"), SR_VI(sr_text_compare(SR_TEXT("ab"), SR_TEXT("abc")) < 0), T("equal"), SR_VI(sr_text_equal(SR_TEXT("x"), SR_TEXT("x"))));
    SAY(sr_vs(sr_text_of_real(AT, 1.0)), sr_vs(sr_text_of_bool(1)), sr_vs(sr_text_of_char(AT, 'x')));
    sr_printf(AT, SR_STDOUT, SR_TEXT("%d %g %d %d\n"),
              SR_LIST(struct sr_value, SR_VI(sr_int_of_text(AT, SR_TEXT("0ffx"))), SR_VR(sr_real_of_text(AT, SR_TEXT(" 2.5"))),
                      SR_VI(sr_bool_of_text(AT, SR_TEXT("TRUE"))), SR_VI(sr_char_of_text(SR_TEXT(" a")))));
    sr_string_set(AT, SR_STRING(t), SR_TEXT("ab"));
    sr_string_swap(AT, SR_STRING(s), SR_STRING(t));
    SAY(T("swapped"), sr_vs(SR_STRING_VALUE(s)), sr_vs(SR_STRING_VALUE(t)));
    sr_text parts[] = {SR_TEXT("one"), SR_TEXT(" two"), SR_TEXT(" three")};
    SAY(sr_vs(sr_text_join(AT, 3, parts)));
    sr_string_set(AT, SR_STRING(s), SR_TEXT("toobig"));
}
MAIN(body, 0);
