/* The SR program small, in C. */
#ifndef SR_LOOPS
#define SR_LOOPS
#endif
#include "sr.h"

/* An SR program may declare what it does not use. */
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-const-variable"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-value"

static const struct sr_location at_2 = {"tests/emitted/small.sr", 2, 0};
static const struct sr_location at_4 = {"tests/emitted/small.sr", 4, 0};
static const struct sr_location at_5 = {"tests/emitted/small.sr", 5, 0};
static const struct sr_location at_6 = {"tests/emitted/small.sr", 6, 0};
static const struct sr_location at_8 = {"tests/emitted/small.sr", 8, 0};
static const struct sr_location at_9 = {"tests/emitted/small.sr", 9, 0};
static const struct sr_location at_10 = {"tests/emitted/small.sr", 10, 0};
static const struct sr_location at_13 = {"tests/emitted/small.sr", 13, 0};
static const struct sr_location at_16 = {"tests/emitted/small.sr", 16, 0};
static const struct sr_location at_17 = {"tests/emitted/small.sr", 17, 0};
static const struct sr_location at_21 = {"tests/emitted/small.sr", 21, 0};
static const struct sr_location at_22 = {"tests/emitted/small.sr", 22, 0};
static const struct sr_location at_23 = {"tests/emitted/small.sr", 23, 0};
static const struct sr_location at_26 = {"tests/emitted/small.sr", 26, 0};
static const struct sr_location at_27 = {"tests/emitted/small.sr", 27, 0};

/* Invocations. */

struct q_1 {
    struct sr_invocation head;
};
struct q_2 {
    struct sr_invocation head;
    sr_int a1;
};
struct q_3 {
    struct sr_invocation head;
    sr_int result;
};

/* Instances. */

struct c_small {
    struct sr_instance head;
    sr_int v_table[3];
    struct sr_op o_put;
    struct sr_op o_get;
    struct sr_semaphore o_done;
    struct sr_op o_buffer;
    struct sr_op o_producer;
    struct sr_class k_0;
    struct sr_class k_1;
};
static const struct sr_component component_small;

/* Procs. */

SR_CODE static void b_small(struct sr_instance *instance, void *parameters);
SR_CODE static sr_int p_small_total(struct c_small *self, struct sr_array1 w_a, sr_int v_start);
SR_CODE static void p_small_buffer(struct c_small *self);
SR_CODE static struct sr_invocation *x_small_buffer(struct sr_instance *instance, struct sr_invocation *head);
SR_CODE static void p_small_producer(struct c_small *self, sr_int v_i);
SR_CODE static struct sr_invocation *x_small_producer(struct sr_instance *instance, struct sr_invocation *head);

/* Code. */

static void b_small(struct sr_instance *instance, void *parameters) {
    struct c_small *self = (struct c_small *)instance;
    sr_class_init(&self->k_0);
    sr_class_init(&self->k_1);
    int64_t n1 = 0;
    self->v_table[n1] = 10;
    n1++;
    self->v_table[n1] = 20;
    n1++;
    self->v_table[n1] = 30;
    n1++;
    sr_op_input(&self->o_put, &self->head, "small.put", &self->k_0);
    sr_instance_ops(&self->head, &self->o_put, 1);
    sr_op_input(&self->o_get, &self->head, "small.get", &self->k_1);
    sr_instance_ops(&self->head, &self->o_get, 1);
    sr_semaphore_init(&at_6, &self->o_done, "small.done", 0);
    sr_op_proc(&self->o_buffer, &self->head, "small.buffer", x_small_buffer, 0);
    sr_instance_ops(&self->head, &self->o_buffer, 1);
    {
        struct q_1 *t2 = (struct q_1 *)sr_invocation_new(&at_13, sizeof(struct q_1));
        sr_send(&at_13, sr_cap_of(&self->o_buffer), &t2->head);
    }
    sr_op_proc(&self->o_producer, &self->head, "small.producer", x_small_producer, 0);
    sr_op_quantifiers(&self->o_producer, offsetof(struct q_2, a1), 1);
    sr_instance_ops(&self->head, &self->o_producer, 1);
    {
        for (sr_int v_i = 1, last3 = 3, goes3 = v_i <= last3; goes3; goes3 = v_i < last3, v_i++) {
            SR_LOOP();
            struct q_2 *t4 = (struct q_2 *)sr_invocation_new(&at_21, sizeof(struct q_2));
            t4->a1 = v_i;
            sr_send(&at_21, sr_cap_of(&self->o_producer), &t4->head);
        }
    }
    for (sr_int v_i_2 = 1, last6 = 3, goes6 = v_i_2 <= last6; goes6; goes6 = v_i_2 < last6, v_i_2++) {
        SR_LOOP();
        sr_p(&at_26, &self->o_done);
    }
    sr_cap t7 = sr_cap_of(&self->o_get);
    struct q_3 t8;
    sr_invocation_local(&t8.head, sizeof t8);
    struct q_3 *t9 = &t8;
    t9 = (struct q_3 *)sr_call(&at_27, t7, &t9->head);
    sr_int t10 = t9->result;
    sr_invocation_free(&t9->head);
    struct sr_value t11 = SR_VI(t10);
    sr_int t12 = p_small_total(self, ((struct sr_array1){(char *)self->v_table, {{1, 3, (int64_t)sizeof(sr_int)}}}), 2);
    sr_write(&at_27, SR_STDOUT, 1, SR_LIST(struct sr_value, sr_vs(SR_TEXT("first")), t11, sr_vs(SR_TEXT("total")), SR_VI(t12)));
}

static sr_int p_small_total(struct c_small *self, struct sr_array1 w_a, sr_int v_start) {
    sr_int v_sum = 0;
    sr_mark m7 = sr_mark_now();
    sr_int t1 = 1 + w_a.d[0].high - w_a.d[0].low;
    struct sr_array1 t2 = {0, {{1, t1, 0}}};
    t2.data = sr_array_make(&at_8, 0, t2.d, 1, sizeof(sr_int));
    const struct sr_array1 v_a = t2;
    struct sr_array1 t3 = v_a;
    struct sr_array1 t4 = w_a;
    sr_array_copy(&at_8, 1, (int64_t)sizeof(sr_int), t3.data, t3.d, t4.data, t4.d);
    v_sum = 0;
    for (sr_int v_i = v_start, last6 = v_a.d[0].high, goes6 = v_i <= last6; goes6; goes6 = v_i < last6, v_i++) {
        SR_LOOP();
        if ((*(sr_int *)(v_a.data + sr_offset(&at_10, v_i, 1, v_a.d[0].high) * (int64_t)sizeof(sr_int))) != 0) {
            v_sum += *(sr_int *)(v_a.data + sr_offset(&at_10, v_i, 1, v_a.d[0].high) * (int64_t)sizeof(sr_int));
        }
    }
    sr_release(m7);
    return v_sum;
}

static void p_small_buffer(struct c_small *self) {
    for (;;) {
        SR_LOOP();
        sr_int v_kept = 0;
        struct q_2 *t2 = (struct q_2 *)sr_receive(&at_16, sr_cap_of(&self->o_put), 0);
        v_kept = t2->a1;
        sr_finish(&at_16, &t2->head);
        struct sr_invocation *t4 = sr_receive(&at_17, sr_cap_of(&self->o_get), 0);
        {
            struct q_3 *q3 = (struct q_3 *)t4;
            sr_int v_x = 0;
            v_x = v_kept;
            q3->result = v_x;
            sr_finish(&at_17, &q3->head);
        }
    }
}

static struct sr_invocation *x_small_buffer(struct sr_instance *instance, struct sr_invocation *head) {
    p_small_buffer((struct c_small *)instance);
    return head;
}

static void p_small_producer(struct c_small *self, sr_int v_i) {
    sr_cap t1 = sr_cap_of(&self->o_put);
    struct q_2 *t2 = (struct q_2 *)sr_invocation_new(&at_22, sizeof(struct q_2));
    t2->a1 = self->v_table[sr_offset(&at_22, v_i, 1, 3)];
    sr_send(&at_22, t1, &t2->head);
    sr_v(&at_23, &self->o_done);
}

static struct sr_invocation *x_small_producer(struct sr_instance *instance, struct sr_invocation *head) {
    struct q_2 *q = (struct q_2 *)head;
    p_small_producer((struct c_small *)instance, q->a1);
    return head;
}


/* The program. */

static const struct sr_component component_small = {"small", sizeof(struct c_small), b_small, 0, 0};
static const struct sr_function functions[] = {
    {(const void *)b_small, "small.body", &at_2},
    {(const void *)p_small_total, "small.total", &at_8},
    {(const void *)p_small_buffer, "small.buffer", &at_13},
    {(const void *)x_small_buffer, "small.buffer", &at_13},
    {(const void *)p_small_producer, "small.producer", &at_21},
    {(const void *)x_small_producer, "small.producer", &at_21},
};
#ifndef SR_DEFAULTS
#define SR_DEFAULTS 0 /* settings, as in the environment variable ANTIPHON_SR */
#endif
SR_PROGRAM(&component_small, SR_DEFAULTS, functions, (int32_t)(sizeof functions / sizeof *functions));
