// Files are written, sought in, read and removed; one that is closed cannot be used.
// out: none 1
// out: where 12
// out: back 0 first
// out: second
// out: at 6 second
// out: removed 1 0
// exit: 1
// has: file not open
#include "test.h"

struct instance {
    struct sr_instance head;
};
struct s20 {
    int32_t length;
    char data[20];
};
static void line(sr_file f, struct s20 *s) { sr_read(AT, f, SR_LIST(struct sr_target, sr_target_string(SR_STRING(*s)))); }

static void body(struct sr_instance *i, void *parameters)
{
    (void)i, (void)parameters;
    struct s20 s;
    SAY(T("none"), SR_VI(sr_open(SR_TEXT("no such file"), SR_READ) == SR_NULL_FILE));
    sr_file f = sr_open(SR_TEXT("scratch"), SR_WRITE);
    sr_write(AT, f, 1, SR_LIST(struct sr_value, T("first")));
    sr_write(AT, f, 1, SR_LIST(struct sr_value, T("other")));
    SAY(T("where"), SR_VI(sr_where(AT, f)));
    sr_close(AT, f);
    f = sr_open(SR_TEXT("scratch"), SR_READWRITE);
    line(f, &s);
    sr_write(AT, f, 1, SR_LIST(struct sr_value, T("second")));
    int32_t place = sr_seek(AT, f, SR_ABSOLUTE, 0);
    line(f, &s);
    SAY(T("back"), SR_VI(place), sr_vs(SR_STRING_VALUE(s)));
    line(f, &s);
    SAY(sr_vs(SR_STRING_VALUE(s)));
    place = sr_seek(AT, f, SR_EXTEND, -7);
    line(f, &s);
    SAY(T("at"), SR_VI(place), sr_vs(SR_STRING_VALUE(s)));
    sr_close(AT, f);
    sr_bool removed = sr_remove(SR_TEXT("scratch"));
    SAY(T("removed"), SR_VI(removed), SR_VI(sr_remove(SR_TEXT("scratch"))));
    sr_flush(AT, f);
}
MAIN(body, 0);
