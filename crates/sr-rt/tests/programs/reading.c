// Who reads waits alone; words, lines, formats and the command line are read as original SR reads them.
// args: 12 word 2.5
// in: 5 0ffx 2.5 true
// in: a line of text
// in: 17,x
// in: last
// out: arguments 3 1 12 0 -1 wor
// out: others run
// out: 4 5 255 2.50000 true
// out: a line of text
// out: 2 17 x
// out: 1 5 0 l
// out: end -1
#include "test.h"

struct instance {
    struct sr_instance head;
    struct sr_op other;
    struct sr_semaphore told;
};
struct s20 {
    int32_t length;
    char data[20];
};
struct s3 {
    int32_t length;
    char data[3];
};

static struct sr_invocation *other(struct sr_instance *i, struct sr_invocation *inv)
{
    SAY(T("others run"));
    sr_v(AT, &((struct instance *)i)->told);
    return inv;
}

static void body(struct sr_instance *i, void *parameters)
{
    (void)parameters;
    struct instance *m = (struct instance *)i;
    sr_semaphore_init(AT, &m->told, "main.told", 0);
    sr_op_proc(&m->other, i, "main.other", other, 1);
    int32_t a = 0, b = 0;
    double r = 0;
    sr_bool t = 0;
    sr_char c = 0;
    struct s20 s = {0, ""};
    struct s3 word = {0, ""};
    int32_t got = sr_getarg(1, sr_target_of('i', &a)), bad = sr_getarg(2, sr_target_of('i', &b)), none = sr_getarg(9, sr_target_of('i', &b));
    sr_getarg(2, sr_target_string(SR_STRING(word)));
    SAY(T("arguments"), SR_VI(sr_numargs()), SR_VI(got), SR_VI(a), SR_VI(bad), SR_VI(none), sr_vs(SR_STRING_VALUE(word)));
    sr_send(AT, sr_cap_of(&m->other), sr_invocation_new(AT, sizeof(struct sr_invocation)));
    sr_p(AT, &m->told);
    int32_t count = sr_read(AT, SR_STDIN, SR_LIST(struct sr_target, sr_target_of('i', &a), sr_target_of('i', &b), sr_target_of('r', &r), sr_target_of('b', &t)));
    SAY(SR_VI(count), SR_VI(a), SR_VI(b), SR_VR(r), SR_VB(t));
    sr_read(AT, SR_STDIN, SR_LIST(struct sr_target, sr_target_string(SR_STRING(s))));
    SAY(sr_vs(SR_STRING_VALUE(s)));
    count = sr_scanf(AT, SR_STDIN, SR_TEXT("%d,%c"), SR_LIST(struct sr_target, sr_target_of('i', &a), sr_target_of('c', &c)));
    SAY(SR_VI(count), SR_VI(a), SR_VC(c));
    count = sr_sscanf(AT, SR_TEXT("5 x"), SR_TEXT("%d %d"), SR_LIST(struct sr_target, sr_target_of('i', &a), sr_target_of('i', &b)));
    b = 0;
    sr_get(AT, SR_STDIN, sr_target_string((sr_string){&s.length, s.data, 2}));
    SAY(SR_VI(count), SR_VI(a), SR_VI(b), SR_VC((sr_char)s.data[1]));
    while ((count = sr_get(AT, SR_STDIN, sr_target_string(SR_STRING(s)))) > 0)
        ;
    SAY(T("end"), SR_VI(count));
}
MAIN(body, 0);
