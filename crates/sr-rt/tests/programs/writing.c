// Values are written as original SR writes them; a wrong format is an error after what it wrote.
// out: true false 7 x -3 1.00000 100000. 1.23457e+06 1.00000e-05 ==null== text
// out: nothing between
// out: [  7|017|ff|yes]
// out: 17q in a string
// part: abc:
// exit: 1
// has: insufficient argument list for format
#include "test.h"

struct instance {
    struct sr_instance head;
};
struct s20 {
    int32_t length;
    char data[20];
};
static void body(struct sr_instance *i, void *parameters)
{
    (void)i, (void)parameters;
    SAY(SR_VB(1), SR_VB(0), SR_VI(7), SR_VC('x'), SR_VI(-3), SR_VR(1.0), SR_VR(1e5), SR_VR(1234567.0), SR_VR(1e-5), SR_VP(0), T("text"));
    sr_write(AT, SR_STDOUT, 0, SR_LIST(struct sr_value, T("nothing"), T(" between"), SR_VC('\n')));
    sr_printf(AT, SR_STDOUT, SR_TEXT("[%3d|%03d|%x|%s]\n"), SR_LIST(struct sr_value, SR_VI(7), SR_VI(17), SR_VI(255), T("yes")));
    struct s20 s;
    sr_sprintf(AT, SR_STRING(s), SR_TEXT("%qq in a string"), SR_LIST(struct sr_value, SR_VI(15)));
    SAY(sr_vs(SR_STRING_VALUE(s)));
    sr_write(AT, SR_NOOP_FILE, 1, SR_LIST(struct sr_value, SR_VI(1)));
    sr_printf(AT, SR_STDOUT, SR_TEXT("abc:%s"), 0, 0);
}
MAIN(body, 0);
