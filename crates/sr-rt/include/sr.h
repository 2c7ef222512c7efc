/* The contract between generated C and the SR run-time.
 *
 * The compiler writes one C file that includes this header and defines the program by SR_PROGRAM.
 * It is compiled with
 *     cc -O2 -fwrapv -mno-red-zone -fstack-clash-protection -fno-optimize-sibling-calls
 * No red zone: see sr_gate below. Stack clash protection: a large frame must not jump over the
 * guard below a stack. No sibling calls: endless recursion must end at that guard. Further flags:
 *     -DSR_MANY      processes run on several servers; without it on one, with no atomic
 *                    instructions
 *     -DSR_LOOPS     enables SR_LOOP() at loop heads: models counted and sliced-deferred
 *     -DSR_POINTS    enables SR_POINT(), where seeded schedules may switch
 *     -DSR_MACHINES  the program creates virtual machines, and capabilities have their numbers
 * It is linked with libantiphon_sr_rt.a (or libantiphon_sr_machines.a) -lm -lpthread -ldl.
 * `main` is in the library.
 *
 * Values. bool and char: unsigned char. int and enum: int32_t, which wraps. real: double.
 * ptr: void *.
 * The first parameter of a function that may block, abort, or start other generated code is the
 * place in the source: sr_at, the address of a static location.
 * Functions marked "switches" may let other processes run before they return. */
#ifndef ANTIPHON_SR_H
#define ANTIPHON_SR_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef SR_MANY
#define SR_RT(name) srn_##name
#else
#define SR_RT(name) sr1_##name
#endif
#define SR_LIKELY(x) __builtin_expect(!!(x), 1)
#define SR_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define SR_NORETURN __attribute__((noreturn, cold))
#define SR_INLINE static inline __attribute__((always_inline, unused))

typedef unsigned char sr_bool;
typedef unsigned char sr_char;
typedef int32_t sr_int;
typedef double sr_real;

struct sr_location {
    const char *file;
    int32_t line;
    const char *what; /* what a process waits for here, such as "condition full"; null if the run-time knows */
};
typedef const struct sr_location *sr_at;

/* ---- the program ----------------------------------------------------------------------------- */

struct sr_instance;
struct sr_invocation;
struct sr_process;

/* A resource or global. An instance is a struct whose first member is struct sr_instance; the
 * run-time allocates it, zeroed. */
struct sr_component {
    const char *name;
    size_t instance_bytes;
    /* Runs as a process of its own: imports globals (sr_need_global), makes operations, runs
     * top-level code. Parameters are a copy of the bytes given to sr_create; they live as long as
     * the instance. */
    void (*body)(struct sr_instance *, void *parameters);
    void (*final)(struct sr_instance *); /* or null */
    struct sr_instance **global;         /* for a global: where its one instance is kept; null for a resource */
};

/* Generated functions are in a section of their own, so that reports can distinguish their
 * instructions from those of libraries. */
#define SR_CODE __attribute__((section("sr_code")))
extern const char __start_sr_code[] __attribute__((weak)), __stop_sr_code[] __attribute__((weak));

/* For reports of stack overflows: maps code to names. In any order. */
struct sr_function {
    const void *code;
    const char *name; /* component.proc */
    sr_at at;
};

struct sr_program {
    uint32_t version;
    sr_bool is_many, has_loops, has_points, has_machines;
    const struct sr_component *main;
    const char *options; /* as in ANTIPHON_SR, which overrides them; or null */
    const struct sr_function *functions;
    int32_t functions_count;
    const char *code, *code_end; /* the section of generated functions */
};
extern const struct sr_program sr_the_program;

#define SR_VERSION 3
#ifdef SR_MANY
#define SR_IS_MANY 1
#else
#define SR_IS_MANY 0
#endif
#ifdef SR_LOOPS
#define SR_HAS_LOOPS 1
#else
#define SR_HAS_LOOPS 0
#endif
#ifdef SR_POINTS
#define SR_HAS_POINTS 1
#else
#define SR_HAS_POINTS 0
#endif
#ifdef SR_MACHINES
#define SR_HAS_MACHINES 1
#else
#define SR_HAS_MACHINES 0
#endif
/* SR_PROGRAM(&main_component, "options" or 0, functions or 0, count); once, at file level. */
#define SR_PROGRAM(component, options, functions, count)                                                                       \
    const struct sr_program sr_the_program = {SR_VERSION, SR_IS_MANY, SR_HAS_LOOPS, SR_HAS_POINTS, SR_HAS_MACHINES, component, options, functions, count, \
                                              __start_sr_code, __stop_sr_code}

/* ---- entering the run-time where it may switch ----------------------------------------------- */

/* A processor predicts returns by the calls that it saw. A switch between a call and its return
 * spoils the prediction, which costs some 30 ns. So functions that may switch are not called: we
 * jump into the library (sr_gate_stub) with the address to continue at in a register, and it leaves
 * by a jump, too. Nothing in between returns across a switch. The library uses the stack below us,
 * hence no red zone. On processors other than x86-64 it is called. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(SR_PLAIN_CALLS)
#define SR_GATED(name) SR_RT(gate_##name)
SR_INLINE intptr_t sr_gate(void (*function)(void), intptr_t a, intptr_t b, intptr_t c, intptr_t d)
{
    register intptr_t f __asm__("rax") = (intptr_t)function;
    register intptr_t p0 __asm__("rdi") = a;
    register intptr_t p1 __asm__("rsi") = b;
    register intptr_t p2 __asm__("rdx") = c;
    register intptr_t p3 __asm__("rcx") = d;
    __asm__ volatile("leaq 1f(%%rip), %%r10\n\tjmp sr_gate_stub\n1:"
                     : "+r"(f), "+r"(p0), "+r"(p1), "+r"(p2), "+r"(p3)
                     :
                     : "rbx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc", "st", "st(1)", "st(2)", "st(3)",
                       "st(4)", "st(5)", "st(6)", "st(7)", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
                       "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
    return f;
}
#else
#define SR_GATED(name) SR_RT(name)
SR_INLINE intptr_t sr_gate(void (*function)(void), intptr_t a, intptr_t b, intptr_t c, intptr_t d)
{
    return ((intptr_t(*)(intptr_t, intptr_t, intptr_t, intptr_t))function)(a, b, c, d);
}
#endif
/* The functions behind the gate. Their parameters are those that the functions below pass to
 * sr_gate; they are not called in another way. */
void SR_GATED(call)(void), SR_GATED(receive)(void), SR_GATED(class_enter)(void), SR_GATED(class_wait)(void), SR_GATED(co_wait)(void);
void SR_GATED(create)(void), SR_GATED(destroy)(void), SR_GATED(need_global)(void), SR_GATED(stop)(void);
void SR_GATED(p)(void), SR_GATED(p_wait)(void), SR_GATED(yield_now)(void), SR_GATED(nap)(void), SR_GATED(set_priority)(void);
void SR_GATED(region)(void), SR_GATED(leave_external)(void);
void SR_GATED(point)(void);
#ifdef SR_MACHINES
void SR_GATED(create_on)(void), SR_GATED(create_vm)(void), SR_GATED(destroy_vm)(void), SR_GATED(receive_elsewhere)(void);
#endif
#define SR_GATE(name, a, b, c, d) sr_gate(SR_GATED(name), (intptr_t)(a), (intptr_t)(b), (intptr_t)(c), (intptr_t)(d))

/* A point where a seeded schedule may switch: before P, V, send, call, receive and `in`. */
#ifdef SR_POINTS
#define SR_POINT() ((void)SR_GATE(point, 0, 0, 0, 0))
#else
#define SR_POINT() ((void)0)
#endif

/* ---- errors ---------------------------------------------------------------------------------- */

/* "RTS abort: file f, line n:" and a message with values; exit code 1, no finals. */
SR_NORETURN void sr_abort(sr_at, const char *message);
SR_NORETURN void sr_bad_subscript(sr_at, int32_t i, int32_t low, int32_t high);
SR_NORETURN void sr_bad_string_subscript(sr_at, int32_t i, int32_t maximum, int32_t length);
SR_NORETURN void sr_bad_slice(sr_at, int32_t from, int32_t to, int32_t low, int32_t high);
SR_NORETURN void sr_bad_string_slice(sr_at, int32_t from, int32_t to, int32_t maximum, int32_t length);
SR_NORETURN void sr_bad_bounds(sr_at, int32_t low, int32_t high);
SR_NORETURN void sr_bad_sizes(sr_at, int32_t low, int32_t high, int32_t from_low, int32_t from_high);
SR_NORETURN void sr_bad_slice_size(sr_at, int32_t from, int32_t to, int32_t low, int32_t high); /* slice [from:to] := [low:high] */
SR_NORETURN void sr_bad_repetition(sr_at, int32_t count);
SR_NORETURN void sr_bad_char(sr_at, int32_t value);
SR_NORETURN void sr_bad_value(sr_at, const char *type, int32_t value, int32_t low, int32_t high); /* conversion to an enumeration, pred, succ */
SR_NORETURN void sr_null_pointer(sr_at);
SR_NORETURN void sr_division_by_zero(sr_at, const char *operator);
/* "RTS warning: ..." */
void sr_warn(const char *message);

/* ---- memory ---------------------------------------------------------------------------------- */

/* Memory of temporaries and of arrays of blocks: each process has its own, used as a stack.
 *     sr_mark m = sr_mark_now(); ... sr_allocate(...) ... sr_release(m);
 * Blocks above 64 KB come from the kernel and are zero and untouched at first. */
struct sr_arena {
    char *next, *limit;
    void *chunk;
};
struct sr_process { /* the part of the running process that generated code may read */
    sr_at at;       /* the place that it recorded last */
    struct sr_arena arena;
};
typedef struct {
    char *next;
    void *chunk;
} sr_mark;

#ifdef SR_MANY
struct sr_process *srn_self(void);
#define sr_self() srn_self()
#else
extern struct sr_process *const *sr1_self_place;
#define sr_self() (*sr1_self_place)
#endif
/* Records the process's place for reports; blocking functions do so by themselves. */
#define SR_HERE(location) ((void)(sr_self()->at = (location)))

void *SR_RT(allocate_more)(sr_at, int64_t bytes);
void SR_RT(release_chunks)(void *chunk, char *next);

/* Bytes from the process's arena, aligned to 16, with any content. Negative or impossible sizes
 * abort. */
SR_INLINE void *sr_allocate(sr_at at, int64_t bytes)
{
    struct sr_arena *arena = &sr_self()->arena;
    if (SR_UNLIKELY((uint64_t)bytes > (uint64_t)(arena->limit - arena->next)))
        return SR_RT(allocate_more)(at, bytes);
    void *block = arena->next;
    arena->next += (bytes + 15) & ~(int64_t)15;
    return block;
}
SR_INLINE sr_mark sr_mark_now(void)
{
    struct sr_arena *arena = &sr_self()->arena;
    return (sr_mark){arena->next, arena->chunk};
}
SR_INLINE void sr_release(sr_mark mark)
{
    struct sr_arena *arena = &sr_self()->arena;
    if (SR_LIKELY(arena->chunk == mark.chunk))
        arena->next = mark.next;
    else
        SR_RT(release_chunks)(mark.chunk, mark.next);
}
/* Zeroed bytes that live as long as an instance. */
void *SR_RT(instance_allocate)(sr_at, struct sr_instance *, int64_t bytes);
#define sr_instance_allocate SR_RT(instance_allocate)
/* new(T) and free(p). Memory is zeroed. free(null) does nothing; a pointer that is not from `new`,
 * or was freed before, aborts. */
void *SR_RT(new)(sr_at, int64_t bytes);
void SR_RT(free)(sr_at, void *);
#define sr_new SR_RT(new)
#define sr_free SR_RT(free)

/* ---- strings --------------------------------------------------------------------------------- */

/* A string value: a constant, a part of a variable, or a temporary in the process's arena. Not
 * terminated by a zero. */
typedef struct {
    const char *data;
    int32_t length;
} sr_text;
/* A string variable seen from outside: struct { int32_t length; char data[N]; } of any N. */
typedef struct {
    int32_t *length;
    char *data;
    int32_t maximum;
} sr_string;

/* SR_TEXT("constant") without its final zero. */
#define SR_TEXT(literal) ((sr_text){literal, (int32_t)sizeof(literal) - 1})
/* SR_STRING(variable) of a variable of such a struct, and its value. */
#define SR_STRING(v) ((sr_string){&(v).length, (v).data, (int32_t)sizeof((v).data)})
#define SR_STRING_VALUE(v) ((sr_text){(v).data, (v).length})
SR_INLINE sr_text sr_string_value(sr_string s) { return (sr_text){s.data, *s.length}; }

SR_NORETURN void sr_bad_string_length(sr_at, int32_t length, int32_t maximum);
SR_NORETURN void sr_bad_string_slice_length(sr_at, int32_t length, int32_t from, int32_t to);
/* s := t, which may be a part of s. */
SR_INLINE void sr_string_set(sr_at at, sr_string s, sr_text t)
{
    if (SR_UNLIKELY(t.length > s.maximum))
        sr_bad_string_length(at, t.length, s.maximum);
    memmove(s.data, t.data, (size_t)t.length);
    *s.length = t.length;
}
void sr_string_swap(sr_at, sr_string, sr_string);
/* The character s[i], to read or to change. */
SR_INLINE char *sr_string_at(sr_at at, sr_string s, int32_t i)
{
    if (SR_UNLIKELY((uint32_t)(i - 1) >= (uint32_t)*s.length))
        sr_bad_string_subscript(at, i, s.maximum, *s.length);
    return s.data + (i - 1);
}
/* t[i:j]; maximum is for the message. */
SR_INLINE sr_text sr_text_slice(sr_at at, sr_text t, int32_t maximum, int32_t from, int32_t to)
{
    if (SR_UNLIKELY(from < 1 || to > t.length || to < from - 1))
        sr_bad_string_slice(at, from, to, maximum, t.length);
    return (sr_text){t.data + (from - 1), to - from + 1};
}
/* s[i:j] := t, which must have that length. */
SR_INLINE void sr_string_set_slice(sr_at at, sr_string s, int32_t from, int32_t to, sr_text t)
{
    if (SR_UNLIKELY(from < 1 || to > *s.length || to < from - 1))
        sr_bad_string_slice(at, from, to, s.maximum, *s.length);
    if (SR_UNLIKELY(t.length != to - from + 1))
        sr_bad_string_slice_length(at, t.length, from, to);
    memmove(s.data + (from - 1), t.data, (size_t)t.length);
}
/* Negative, zero, or positive. */
SR_INLINE int sr_text_compare(sr_text a, sr_text b)
{
    int order = memcmp(a.data, b.data, (size_t)(a.length < b.length ? a.length : b.length));
    return order ? order : (a.length > b.length) - (a.length < b.length);
}
SR_INLINE sr_bool sr_text_equal(sr_text a, sr_text b) { return a.length == b.length && memcmp(a.data, b.data, (size_t)a.length) == 0; }
/* A copy in the process's arena. */
SR_INLINE sr_text sr_text_keep(sr_at at, sr_text t)
{
    char *copy = (char *)sr_allocate(at, t.length);
    memcpy(copy, t.data, (size_t)t.length);
    return (sr_text){copy, t.length};
}
/* a || b, in the process's arena; sr_text_join for more. */
SR_INLINE sr_text sr_text_cat(sr_at at, sr_text a, sr_text b)
{
    char *both = (char *)sr_allocate(at, (int64_t)a.length + b.length);
    memcpy(both, a.data, (size_t)a.length);
    memcpy(both + a.length, b.data, (size_t)b.length);
    return (sr_text){both, a.length + b.length};
}
SR_INLINE sr_text sr_text_join(sr_at at, int32_t count, const sr_text *parts)
{
    int64_t length = 0;
    for (int32_t n = 0; n < count; n++)
        length += parts[n].length;
    char *all = (char *)sr_allocate(at, length), *end = all;
    for (int32_t n = 0; n < count; n++) {
        memcpy(end, parts[n].data, (size_t)parts[n].length);
        end += parts[n].length;
    }
    return (sr_text){all, (int32_t)length};
}

/* ---- conversions ----------------------------------------------------------------------------- */

/* string(x), in the process's arena. The sr_format_ functions fill a buffer of the caller's (32
 * bytes suffice) and return the length. */
int32_t sr_format_int(char *buffer, int32_t);
int32_t sr_format_real(char *buffer, double); /* as %#g */
int32_t sr_format_pointer(char *buffer, const void *);
#define SR_TEXT_OF(name, type)                                                                                                                 \
    SR_INLINE sr_text sr_text_of_##name(sr_at at, type value)                                                                                  \
    {                                                                                                                                          \
        char *buffer = (char *)sr_allocate(at, 32);                                                                                            \
        return (sr_text){buffer, sr_format_##name(buffer, value)};                                                                             \
    }
SR_TEXT_OF(int, int32_t)
SR_TEXT_OF(real, double)
SR_TEXT_OF(pointer, const void *)
SR_INLINE sr_text sr_text_of_bool(sr_bool b) { return b ? SR_TEXT("true") : SR_TEXT("false"); }
SR_INLINE sr_text sr_text_of_char(sr_at at, sr_char c)
{
    char *buffer = (char *)sr_allocate(at, 1);
    *buffer = (char)c;
    return (sr_text){buffer, 1};
}
/* int("..."), real("..."), bool("..."), char("..."), ptr("..."): the whole text must be such a
 * value, or the program aborts. */
int32_t sr_int_of_text(sr_at, sr_text);
double sr_real_of_text(sr_at, sr_text);
sr_bool sr_bool_of_text(sr_at, sr_text);
sr_char sr_char_of_text(sr_text);
void *sr_pointer_of_text(sr_at, sr_text);
/* char(n) for -255 to 255, of which those below 0 count from 256, as in the original; int(r)
   truncates, and aborts outside the range of int. */
SR_INLINE sr_char sr_char_of_int(sr_at at, int32_t n)
{
    if (SR_UNLIKELY(n > 255 || n < -255))
        sr_bad_char(at, n);
    return (sr_char)n;
}
SR_NORETURN void sr_bad_real(sr_at, double);
SR_INLINE int32_t sr_int_of_real(sr_at at, double x)
{
    if (SR_UNLIKELY(!(x > -2147483649.0 && x < 2147483648.0)))
        sr_bad_real(at, x);
    return (int32_t)x;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

struct sr_dimension {
    int32_t low, high; /* high is low-1 if the dimension is empty */
    int64_t stride;    /* bytes from one element of this dimension to the next */
};
/* Views: `data` is the address of the element at the low bounds. sr_array1 to sr_array8. */
#define SR_ARRAY(n)                                                                                                                            \
    struct sr_array##n {                                                                                                                       \
        char *data;                                                                                                                            \
        struct sr_dimension d[n];                                                                                                              \
        int32_t most; /* for strings whose maximum is computed: the maximum */                                                                      \
    }
SR_ARRAY(1);
SR_ARRAY(2);
SR_ARRAY(3);
SR_ARRAY(4);
SR_ARRAY(5);
SR_ARRAY(6);
SR_ARRAY(7);
SR_ARRAY(8);

/* Checks the bounds in d (low and high are set), sets the strides (the last dimension's is
 * element_bytes), and returns the bytes of all elements. */
int64_t sr_array_layout(sr_at, struct sr_dimension *d, int32_t dimensions, int64_t element_bytes);
/* The same, and returns zeroed memory: from the process's arena; with an instance, for as long as
 * that lives. */
void *SR_RT(array_make)(sr_at, struct sr_instance *, struct sr_dimension *d, int32_t dimensions, int64_t element_bytes);
#define sr_array_make SR_RT(array_make)
/* Offset in bytes of an element in a dimension. */
SR_INLINE int64_t sr_index(sr_at at, const struct sr_dimension *d, int32_t i)
{
    uint32_t offset = (uint32_t)i - (uint32_t)d->low;
    if (SR_UNLIKELY(offset >= (uint32_t)d->high - (uint32_t)d->low + 1u))
        sr_bad_subscript(at, i, d->low, d->high);
    return (int64_t)offset * d->stride;
}
/* The same for constant bounds: returns i - low. */
SR_INLINE int64_t sr_offset(sr_at at, int32_t i, int32_t low, int32_t high)
{
    uint32_t offset = (uint32_t)i - (uint32_t)low;
    if (SR_UNLIKELY(offset >= (uint32_t)high - (uint32_t)low + 1u))
        sr_bad_subscript(at, i, low, high);
    return (int64_t)offset;
}
/* Offset in bytes of a slice [from:to] in a dimension; the slice's own dimension is {1, to - from +
 * 1, d->stride}. */
SR_INLINE int64_t sr_slice(sr_at at, const struct sr_dimension *d, int32_t from, int32_t to)
{
    if (SR_UNLIKELY(from < d->low || to > d->high || to < from - 1))
        sr_bad_slice(at, from, to, d->low, d->high);
    return ((int64_t)from - d->low) * d->stride;
}
SR_INLINE int64_t sr_length(const struct sr_dimension *d) { return (int64_t)d->high - d->low + 1; }
/* to := from, elements of that many bytes. Aborts unless the sizes are equal. The arrays may
 * overlap. */
void sr_array_copy(sr_at, int32_t dimensions, int64_t element_bytes, void *to, const struct sr_dimension *to_d, const void *from,
                   const struct sr_dimension *from_d);
/* The same for string elements (struct {int32_t length; char data[]}) with these maxima; the
 * strides are the distances between them. */
void sr_array_copy_strings(sr_at, int32_t dimensions, void *to, const struct sr_dimension *to_d, int32_t to_maximum, const void *from,
                           const struct sr_dimension *from_d);
void sr_array_swap(sr_at, int32_t dimensions, int64_t element_bytes, void *a, const struct sr_dimension *a_d, void *b,
                   const struct sr_dimension *b_d);
/* Every element := the value. */
void sr_array_fill(int32_t dimensions, int64_t element_bytes, void *to, const struct sr_dimension *d, const void *value);
/* A char array as a text: in place if its elements lie side by side, otherwise a copy in the
 * process's arena. chars(t) is the reverse. */
sr_text sr_text_of_chars(sr_at, const void *data, const struct sr_dimension *d);
SR_INLINE struct sr_array1 sr_chars_of_text(sr_text t) { return (struct sr_array1){(char *)t.data, {{1, t.length, 1}}, 0}; }
void sr_swap(void *a, void *b, size_t bytes);

/* ---- arithmetic ------------------------------------------------------------------------------ */

/* / and %: the machine's division by zero is an abort with its place. */
SR_INLINE int32_t sr_divide(sr_at at, int32_t a, int32_t b)
{
    if (SR_UNLIKELY(b == 0))
        sr_division_by_zero(at, "/");
    return b == -1 ? (int32_t)(0u - (uint32_t)a) : a / b;
}
SR_INLINE int32_t sr_remainder(sr_at at, int32_t a, int32_t b)
{
    if (SR_UNLIKELY(b == 0))
        sr_division_by_zero(at, "%");
    return b == -1 ? 0 : a % b;
}
/* mod: the result has the sign of the divisor. */
SR_INLINE int32_t sr_mod(sr_at at, int32_t a, int32_t b)
{
    if (SR_UNLIKELY(b == 0))
        sr_abort(at, "i mod j with j=0");
    int32_t rest = b == -1 ? 0 : a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
SR_INLINE double sr_mod_real(sr_at at, double a, double b)
{
    if (SR_UNLIKELY(b == 0.0))
        sr_abort(at, "x mod y with y=0.0");
    return a - b * floor(a / b);
}
/* ** of int by int, of real by int, of real by real; abort where the power is not defined. */
int32_t sr_power_int(sr_at, int32_t base, int32_t exponent);
double sr_power_real_int(sr_at, double base, int32_t exponent);
double sr_power_real(sr_at, double base, double exponent);
double sr_round(double); /* halves to even */
/* sqrt, log, log of a base: abort outside of their domain. */
double sr_sqrt(sr_at, double);
double sr_log(sr_at, double);
double sr_log_base(sr_at, double x, double base);
double sr_exp_base(sr_at, double x, double base);
SR_INLINE int32_t sr_abs_int(int32_t x) { return x < 0 ? (int32_t)(0u - (uint32_t)x) : x; }
SR_INLINE int32_t sr_min_int(int32_t a, int32_t b) { return b < a ? b : a; }
SR_INLINE int32_t sr_max_int(int32_t a, int32_t b) { return b > a ? b : a; }
SR_INLINE double sr_min_real(double a, double b) { return b < a ? b : a; }
SR_INLINE double sr_max_real(double a, double b) { return b > a ? b : a; }
/* random(low, high): at least low, below high. seed(0.0) restarts unpredictably; every other seed
 * gives the sequence of original SR. */
double sr_random(double low, double high);
void sr_seed(double);

/* ---- files ----------------------------------------------------------------------------------- */

typedef struct sr_file_object *sr_file;
#define SR_NULL_FILE ((sr_file)0)
#define SR_NOOP_FILE ((sr_file)1)
#define SR_STDIN ((sr_file)2)
#define SR_STDOUT ((sr_file)3)
#define SR_STDERR ((sr_file)4)
#define SR_EOF (-1)
enum { SR_READ, SR_WRITE, SR_READWRITE };           /* open */
enum { SR_ABSOLUTE, SR_RELATIVE, SR_EXTEND };       /* seek */

/* A value to write, and a variable to read into. Kinds: b bool, c char, i int, e enum, r real, p
 * pointer, s string, a array of char (of stride 1). */
struct sr_value {
    char kind;
    int32_t length; /* of s and a */
    union {
        int32_t i; /* b c i e */
        double r;
        const void *p; /* p, and the characters of s and a */
    } u;
};
struct sr_target {
    char kind;
    int32_t maximum; /* of s and a */
    void *place;     /* b c i e r p: the variable; s and a: the characters */
    int32_t *length; /* of s */
};
#define SR_VB(x) ((struct sr_value){'b', 0, {.i = (x)}})
#define SR_VC(x) ((struct sr_value){'c', 0, {.i = (x)}})
#define SR_VI(x) ((struct sr_value){'i', 0, {.i = (x)}})
#define SR_VR(x) ((struct sr_value){'r', 0, {.r = (x)}})
#define SR_VP(x) ((struct sr_value){'p', 0, {.p = (x)}})
SR_INLINE struct sr_value sr_vs(sr_text t) { return (struct sr_value){'s', t.length, {.p = t.data}}; }
SR_INLINE struct sr_target sr_target_of(char kind, void *place) { return (struct sr_target){kind, 0, place, 0}; }
SR_INLINE struct sr_target sr_target_string(sr_string s) { return (struct sr_target){'s', s.maximum, s.data, s.length}; }
SR_INLINE struct sr_target sr_target_chars(struct sr_array1 a)
{
    return (struct sr_target){'a', (int32_t)sr_length(&a.d[0]), a.data, 0};
}
/* SR_LIST(struct sr_value, SR_VI(1), sr_vs(t)): a count and an array, two arguments. */
#define SR_LIST(type, ...) (int32_t)(sizeof((type[]){__VA_ARGS__}) / sizeof(type)), (const type[]){__VA_ARGS__}

/* write (with_line: blanks between, newline at the end), writes, put. */
void sr_write(sr_at, sr_file, sr_bool with_line, int32_t count, const struct sr_value *);
void sr_printf(sr_at, sr_file, sr_text format, int32_t count, const struct sr_value *);
void sr_sprintf(sr_at, sr_string to, sr_text format, int32_t count, const struct sr_value *);
/* Return how many values were read, or SR_EOF. Functions that read files switch while there is no
 * input. */
int32_t sr_read(sr_at, sr_file, int32_t count, const struct sr_target *);
int32_t sr_scanf(sr_at, sr_file, sr_text format, int32_t count, const struct sr_target *);
int32_t sr_sscanf(sr_at, sr_text from, sr_text format, int32_t count, const struct sr_target *);
/* get: characters into an s or a; returns how many, or SR_EOF. */
int32_t sr_get(sr_at, sr_file, struct sr_target);
sr_file sr_open(sr_text name, int32_t mode); /* null if it cannot be opened */
void sr_flush(sr_at, sr_file);
void sr_close(sr_at, sr_file);
sr_bool sr_remove(sr_text name);
int32_t sr_seek(sr_at, sr_file, int32_t from, int32_t offset); /* the new position */
int32_t sr_where(sr_at, sr_file);
/* Command line. getarg returns 1, 0 if the argument is no such value, or SR_EOF if there is none;
 * for strings the length. */
int32_t sr_numargs(void);
int32_t sr_getarg(int32_t number, struct sr_target);

/* ---- for generated code ---------------------------------------------------------------------- */

/* Bytes of a string variable, struct { int32_t length; char data[maximum]; }. */
#define SR_STRING_BYTES(maximum) (((int64_t)(maximum) + 7) & ~(int64_t)3)
/* Bytes rounded up to an alignment for any type. */
#define SR_ROOM(bytes) (((int64_t)(bytes) + 15) & ~(int64_t)15)
/* The string variable at an address, as in arrays. */
SR_INLINE sr_string sr_string_in(void *place, int32_t maximum) { return (sr_string){(int32_t *)place, (char *)place + 4, maximum}; }
/* A new empty string variable in the process's arena, or, with an instance, for as long as that
 * lives. */
SR_INLINE sr_string sr_string_make(sr_at at, struct sr_instance *instance, int32_t maximum)
{
    if (SR_UNLIKELY(maximum < 0))
        sr_bad_string_length(at, 0, maximum);
    int64_t bytes = SR_STRING_BYTES(maximum);
    void *place = instance ? sr_instance_allocate(at, instance, bytes) : sr_allocate(at, bytes);
    *(int32_t *)place = 0;
    return sr_string_in(place, maximum);
}
/* new(string[n]): the descriptor, then the variable. */
static inline __attribute__((unused)) void *sr_new_string(sr_at at, int32_t maximum)
{
    if (maximum < 0)
        sr_bad_string_length(at, 0, maximum);
    sr_string *object = (sr_string *)sr_new(at, SR_ROOM(sizeof(sr_string)) + SR_STRING_BYTES(maximum));
    *object = sr_string_in((char *)object + SR_ROOM(sizeof *object), maximum);
    return object;
}
SR_INLINE void *sr_not_null(sr_at at, void *pointer)
{
    if (SR_UNLIKELY(!pointer))
        sr_null_pointer(at);
    return pointer;
}
SR_INLINE int32_t sr_ordinal_within(sr_at at, const char *type, int32_t value, int32_t low, int32_t high)
{
    if (SR_UNLIKELY(value < low || value > high))
        sr_bad_value(at, type, value, low, high);
    return value;
}
SR_INLINE void sr_check_slice(sr_at at, int32_t from, int32_t to, int32_t low, int32_t high)
{
    if (SR_UNLIKELY(from < low || to > high || (int64_t)to < (int64_t)from - 1))
        sr_bad_slice(at, from, to, low, high);
}
SR_INLINE void sr_check_sizes(sr_at at, int32_t low, int32_t high, int32_t from_low, int32_t from_high)
{
    if (SR_UNLIKELY((int64_t)high - low != (int64_t)from_high - from_low))
        sr_bad_sizes(at, low, high, from_low, from_high);
}
/* Returns the number of elements. */
SR_INLINE int64_t sr_elements(int32_t dimensions, const struct sr_dimension *d)
{
    int64_t count = 1;
    for (int32_t n = 0; n < dimensions; n++)
        count *= sr_length(&d[n]);
    return count;
}
/* Strings and arrays of a block follow its struct; *rest is the place for the next one. */
SR_INLINE sr_string sr_put_string(sr_at at, char **rest, sr_text text, int32_t maximum)
{
    sr_string string = sr_string_in(*rest, maximum);
    *rest += SR_ROOM(SR_STRING_BYTES(maximum));
    *string.length = 0;
    sr_string_set(at, string, text);
    return string;
}
/* The same for an array, with copied or zeroed elements; sets its dimensions and returns its
 * data. */
static inline __attribute__((unused)) char *sr_put_array(sr_at at, char **rest, int32_t dimensions, int64_t element_bytes,
                                                         struct sr_dimension *d, const void *from, const struct sr_dimension *from_d,
                                                         sr_bool is_copied)
{
    char *data = *rest;
    memcpy(d, from_d, (size_t)dimensions * sizeof *d);
    int64_t bytes = sr_array_layout(at, d, dimensions, element_bytes);
    *rest += SR_ROOM(bytes);
    if (is_copied)
        sr_array_copy(at, dimensions, element_bytes, data, d, from, from_d);
    else
        memset(data, 0, (size_t)bytes);
    return data;
}
/* Results that are strings or arrays have memory of their own until the caller has taken them. */
static inline __attribute__((unused)) sr_text sr_result_text(sr_at at, sr_text text)
{
    char *copy = (char *)sr_new(at, (int64_t)text.length + 1);
    memcpy(copy, text.data, (size_t)text.length);
    return (sr_text){copy, text.length};
}
static inline __attribute__((unused)) char *sr_result_array(sr_at at, int32_t dimensions, int64_t element_bytes, struct sr_dimension *d,
                                                            const void *from, const struct sr_dimension *from_d)
{
    memcpy(d, from_d, (size_t)dimensions * sizeof *d);
    char *data = (char *)sr_new(at, sr_array_layout(at, d, dimensions, element_bytes) + 1);
    sr_array_copy(at, dimensions, element_bytes, data, d, from, from_d);
    return data;
}
static inline __attribute__((unused)) sr_text sr_take_text(sr_at at, sr_text text)
{
    sr_text copy = sr_text_keep(at, text);
    sr_free(at, (void *)text.data);
    return copy;
}
static inline __attribute__((unused)) char *sr_take_array(sr_at at, int32_t dimensions, int64_t element_bytes, char *from,
                                                          const struct sr_dimension *d)
{
    int64_t bytes = sr_elements(dimensions, d) * element_bytes;
    char *copy = (char *)sr_allocate(at, bytes);
    if (from && bytes > 0)
        memcpy(copy, from, (size_t)bytes);
    sr_free(at, from);
    return copy;
}
/* For C functions: a copy that ends with a zero, with room for that many characters; and the
 * reverse. */
static inline __attribute__((unused)) char *sr_c_string(sr_at at, sr_text text, int32_t room)
{
    char *copy = (char *)sr_allocate(at, (int64_t)room + 1);
    memcpy(copy, text.data, (size_t)text.length);
    memset(copy + text.length, 0, (size_t)(room - text.length) + 1);
    return copy;
}
SR_INLINE sr_text sr_text_of_c(const char *text) { return (sr_text){text, text ? (int32_t)strlen(text) : 0}; }
/* A table in the process's arena with room for one more entry. */
static inline __attribute__((unused)) void *sr_grow(sr_at at, void *table, int32_t *room, int32_t count, size_t entry_bytes)
{
    if (count < *room)
        return table;
    int32_t larger = *room ? 2 * *room : 8;
    void *copy = sr_allocate(at, (int64_t)larger * (int64_t)entry_bytes);
    if (count)
        memcpy(copy, table, (size_t)count * entry_bytes);
    *room = larger;
    return copy;
}

/* ---- operations ------------------------------------------------------------------------------ */

/* A proc's code, as called through an operation. The block holds the parameters and receives
 * results. The function returns the block that it has at its end, which differs from the first
 * after sr_reply or sr_forward. */
typedef struct sr_invocation *(*sr_code)(struct sr_instance *, struct sr_invocation *);

enum sr_op_kind { SR_OP_NONE, SR_OP_PROC, SR_OP_SEPARATE, SR_OP_INPUT, SR_OP_SEMAPHORE };

/* A semaphore: a `sem`, or an operation that the compiler implements as one. */
struct sr_semaphore {
    int32_t value; /* below zero: minus the number of processes that wait, or are about to */
    int32_t index; /* for an element of an array, in reports: see sr_index_of */
    const char *name;
    struct sr_process *holder; /* for mutual exclusion, in reports: the process that passed it, noted by sr_p_holding */
    uint64_t rest[6];
};

/* Operations that appear together in an input statement: a unit with one queue of invocations,
 * which one process at a time looks through. */
struct sr_class {
    struct sr_invocation *first; /* the oldest pending; for sr_class_first, called by the process that has entered */
    uint64_t rest[11];
};

struct sr_op {
    uint32_t serial; /* 0 if this is no operation */
    int16_t kind;
    int16_t is_dynamic; /* made by `new` */
    int32_t pending;
    int32_t index; /* for reports: for an element of an array, see sr_index_of; for a process declaration, see sr_op_quantifiers */
    const char *name; /* component.op */
    struct sr_instance *instance;
    union {
        sr_code code;
        struct sr_class *in;
        struct sr_semaphore *semaphore;
    } u;
};

/* A capability for an operation. */
typedef struct {
    struct sr_op *op;
    uint32_t serial; /* with a null op: 0 null, 1 noop */
#ifdef SR_MACHINES
    uint32_t machine; /* the virtual machine's number, from 0; for null and noop 0 */
#endif
} sr_cap;
#define SR_NULL_CAP ((sr_cap){0, 0})
#define SR_NOOP_CAP ((sr_cap){0, 1})
#ifdef SR_MACHINES
/* This virtual machine's number. */
extern uint32_t sr_machine;
/* A flag beside a machine's number: an operation of a resource on another machine, where its own
 * serial is unknown. The capability has the resource's serial. */
#define SR_BY_RESOURCE 0x80000000u
SR_INLINE sr_cap sr_cap_of(struct sr_op *op) { return (sr_cap){op, op->serial, sr_machine}; }
SR_INLINE sr_bool sr_cap_equal(sr_cap a, sr_cap b)
{
    return a.op == b.op && !((a.machine ^ b.machine) & ~SR_BY_RESOURCE) && (a.serial == b.serial || (a.machine ^ b.machine));
}
#else
SR_INLINE sr_cap sr_cap_of(struct sr_op *op) { return (sr_cap){op, op->serial}; }
SR_INLINE sr_bool sr_cap_equal(sr_cap a, sr_cap b) { return a.op == b.op && a.serial == b.serial; }
#endif

/* A capability for a resource instance. */
typedef struct {
    struct sr_instance *instance;
    uint32_t serial; /* with a null instance: 0 null, 1 noop */
#ifdef SR_MACHINES
    uint32_t machine;
#endif
} sr_resource;
#define SR_NULL_RESOURCE ((sr_resource){0, 0})
#define SR_NOOP_RESOURCE ((sr_resource){0, 1})
#ifdef SR_MACHINES
SR_INLINE sr_bool sr_resource_equal(sr_resource a, sr_resource b)
{
    return a.instance == b.instance && a.serial == b.serial && a.machine == b.machine;
}
#define SR_RESOURCE_OF(instance) ((sr_resource){instance, (instance)->serial, sr_machine})
#else
SR_INLINE sr_bool sr_resource_equal(sr_resource a, sr_resource b) { return a.instance == b.instance && a.serial == b.serial; }
#define SR_RESOURCE_OF(instance) ((sr_resource){instance, (instance)->serial})
#endif

/* The head of every instance. Its memory is reused only for instances of the same component, so
 * that old capabilities can be detected. */
struct sr_instance {
    uint32_t serial;
    int32_t region; /* -1: none */
    const struct sr_component *component;
    void *parameters;
    uint64_t rest[12];
};
SR_INLINE sr_resource sr_my_resource(struct sr_instance *i) { return SR_RESOURCE_OF(i); }
/* The capability of an exported operation, `cap.op`, at this offset of the instance. Null gives
 * null, noop gives noop. */
SR_INLINE sr_cap sr_cap_in(sr_resource r, size_t offset)
{
    if (SR_UNLIKELY(!r.instance))
        return (sr_cap){0, r.serial};
    struct sr_op *op = (struct sr_op *)((char *)r.instance + offset);
#ifdef SR_MACHINES
    if (SR_UNLIKELY(r.machine != sr_machine))
        return (sr_cap){op, r.serial, r.machine | SR_BY_RESOURCE};
#endif
    sr_cap cap = sr_cap_of(op);
    if (SR_UNLIKELY(r.instance->serial != r.serial))
        cap.serial = 0xffffffffu;
    return cap;
}
#ifdef SR_MACHINES
/* Reads bytes of an instance on any machine, from this offset on; aborts if the instance no longer
 * exists. */
void sr_peek(sr_at, struct sr_instance *, uint32_t serial, uint32_t machine, size_t offset, void *to, size_t bytes);
const struct sr_component *sr_component_elsewhere(struct sr_instance *, uint32_t serial, uint32_t machine);
#endif
#ifdef SR_MACHINES
/* The capability of an operation at this address on a resource's machine. */
SR_INLINE sr_cap sr_cap_at(sr_resource r, struct sr_op *op)
{
    if (SR_UNLIKELY(r.machine != sr_machine))
        return (sr_cap){op, r.serial, r.machine | SR_BY_RESOURCE};
    sr_cap cap = sr_cap_of(op);
    if (SR_UNLIKELY(r.instance->serial != r.serial))
        cap.serial = 0xffffffffu;
    return cap;
}
#endif
/* The component of a resource that is neither null nor noop. */
SR_INLINE const struct sr_component *sr_component_of(sr_resource r)
{
#ifdef SR_MACHINES
    if (SR_UNLIKELY(r.machine != sr_machine))
        return sr_component_elsewhere(r.instance, r.serial, r.machine);
#endif
    return r.instance->component;
}
/* The same for an element of an exported array of operations; at this offset the instance has the
 * array's address. */
SR_INLINE sr_cap sr_cap_in_array(sr_resource r, size_t offset, int64_t index)
{
    if (SR_UNLIKELY(!r.instance))
        return (sr_cap){0, r.serial};
#ifdef SR_MACHINES
    if (SR_UNLIKELY(r.machine != sr_machine)) {
        struct sr_op *first;
        sr_peek(0, r.instance, r.serial, r.machine, offset, &first, sizeof first);
        return (sr_cap){first + index, r.serial, r.machine | SR_BY_RESOURCE};
    }
#endif
    sr_cap cap = sr_cap_of(*(struct sr_op **)((char *)r.instance + offset) + index);
    if (SR_UNLIKELY(r.instance->serial != r.serial))
        cap.serial = 0xffffffffu;
    return cap;
}

/* Making operations, in memory of an instance or from sr_ops_new. Names are static:
 * "component.op". */
void SR_RT(op_proc)(struct sr_op *, struct sr_instance *, const char *name, sr_code, sr_bool needs_own_process);
void SR_RT(op_input)(struct sr_op *, struct sr_instance *, const char *name, struct sr_class *);
void SR_RT(op_semaphore)(struct sr_op *, struct sr_instance *, const char *name, struct sr_semaphore *);
/* Operations end with their block or instance, and pending invocations are refused. An instance's
 * embedded operations must be listed: see sr_instance_ops. */
void SR_RT(op_end)(struct sr_op *, int64_t count);
/* Operations in one piece of memory that is only ever used for operations. Freed by sr_ops_free,
 * which ends them. */
struct sr_op *SR_RT(ops_new)(sr_at, int64_t count);
void SR_RT(ops_free)(struct sr_op *, int64_t count);
/* Registers operations that end with the instance: each op or array of ops that lives as long as
 * the instance. */
void SR_RT(instance_ops)(struct sr_instance *, struct sr_op *, int64_t count);
/* new(op(...)): an input operation, served by sr_receive or an `in`. destroy cap. */
sr_cap SR_RT(op_create)(sr_at, struct sr_instance *, const char *name, struct sr_class *); /* 0: a class of its own */
void SR_RT(op_destroy)(sr_at, sr_cap);
void SR_RT(class_init)(struct sr_class *);
struct sr_class *SR_RT(class_new)(sr_at);    /* for operations of a block */
void SR_RT(class_free)(struct sr_class *);
/* A semaphore with its initial value, which must not be negative. Names are static. */
void SR_RT(semaphore_init)(sr_at, struct sr_semaphore *, const char *name, int32_t value);
/* For reports. The name of an element of an array ends with "[]" or "[,]", and its index is that of
 * the element at this place. Two indices are combined into one number if each has 16 bits. */
SR_INLINE int32_t sr_index_of(const struct sr_dimension *d, int32_t dimensions, int64_t place)
{
    if (dimensions == 1)
        return (int32_t)(d[0].low + place);
    int64_t row = d[0].low + place / sr_length(&d[1]), column = d[1].low + place % sr_length(&d[1]);
    return (int32_t)((uint32_t)row << 16 | ((uint32_t)column & 0xffff));
}
/* For reports: processes of this declaration have that many quantifiers, up to 4: int32_t values
 * from this offset of the invocation on. */
SR_INLINE void sr_op_quantifiers(struct sr_op *op, size_t offset, int32_t count) { op->index = (int32_t)offset << 4 | count; }
/* ?cap */
int32_t SR_RT(pending)(sr_at, sr_cap);
#define sr_op_proc SR_RT(op_proc)
#define sr_op_input SR_RT(op_input)
#define sr_op_semaphore SR_RT(op_semaphore)
#define sr_op_end SR_RT(op_end)
#define sr_ops_new SR_RT(ops_new)
#define sr_ops_free SR_RT(ops_free)
#define sr_instance_ops SR_RT(instance_ops)
#define sr_op_create SR_RT(op_create)
#define sr_op_destroy SR_RT(op_destroy)
#define sr_class_init SR_RT(class_init)
#define sr_class_new SR_RT(class_new)
#define sr_class_free SR_RT(class_free)
#define sr_semaphore_init SR_RT(semaphore_init)
#define sr_pending SR_RT(pending)
SR_INLINE int32_t sr_semaphore_pending(struct sr_semaphore *s) { return s->value > 0 ? s->value : 0; }

/* ---- invocations ----------------------------------------------------------------------------- */

/* An invocation. Generated structs begin with it; parameters and results follow. Blocks of sends
 * and of co come from sr_invocation_new; a block of a call may be a local variable. Parameters of
 * run-time size follow the struct in the same block, and then `relocate` must be set. After a copy
 * of the block, it adds `by` to the addresses in the block that point into it. */
struct sr_invocation {
    struct sr_invocation *next, *previous;
    sr_cap op;
    struct sr_process *caller;
    void (*relocate)(struct sr_invocation *, ptrdiff_t by);
    void *co;
    struct sr_invocation **answer;
    uint32_t size;
    uint32_t co_serial;
    int32_t arm; /* in a co: its number */
    uint8_t kind;
    sr_bool is_replied, is_owned, is_refused;
    int32_t region; /* of the process that a send creates, plus 1; 0: its creator's */
#ifdef SR_MACHINES
    uint32_t home; /* for a caller on another machine, as are the next three */
    int32_t priority;
    uint32_t hops;
    uint64_t token;
    const struct sr_signature *signature; /* or null */
#endif
};
#ifdef SR_MACHINES
/* A text or a view in a block whose characters or elements lie elsewhere. */
struct sr_field {
    uint32_t offset;
    int32_t dimensions; /* 0 for a text */
};
struct sr_signature {
    const char *refused;           /* why it cannot be invoked on another machine; or null */
    const struct sr_field *result; /* a result that lies outside of the block; or null */
};
#endif

/* A block of that size, the head zeroed. */
struct sr_invocation *SR_RT(invocation_new)(sr_at, int64_t bytes);
/* Frees a block from sr_invocation_new, or one that came as an answer; does nothing to a local
 * one. */
void SR_RT(invocation_free)(struct sr_invocation *);
#define sr_invocation_new(at, bytes) SR_RT(invocation_new)(at, bytes)
#define sr_invocation_free(inv) SR_RT(invocation_free)(inv)
/* Prepares a local block. */
SR_INLINE void sr_invocation_local(struct sr_invocation *inv, int64_t bytes)
{
    memset(inv, 0, sizeof *inv);
    inv->size = (uint32_t)bytes;
}

/* call. Switches. Returns the block with the results: mostly the same one, another after a forward.
 * Free it with sr_invocation_free when the results are copied. */
SR_INLINE struct sr_invocation *sr_call(sr_at at, sr_cap cap, struct sr_invocation *inv)
{
    SR_POINT();
    inv->op = cap;
    return (struct sr_invocation *)SR_GATE(call, at, inv, 0, 0);
}
/* send. The block, from sr_invocation_new, belongs to the run-time from now on. Never switches,
 * except at SR_POINT. */
void SR_RT(send)(sr_at, struct sr_invocation *);
SR_INLINE void sr_send(sr_at at, sr_cap cap, struct sr_invocation *inv)
{
    SR_POINT();
    inv->op = cap;
    SR_RT(send)(at, inv);
}
/* reply: the caller continues with the block as it is now; the servant continues with the copy that
 * is returned. */
struct sr_invocation *SR_RT(reply)(sr_at, struct sr_invocation *);
#define sr_reply SR_RT(reply)
/* forward: `next` (from sr_invocation_new, with its parameters set) takes over the duty to reply.
 * The servant continues with the block that is returned, as after sr_reply. */
struct sr_invocation *SR_RT(forward)(sr_at, struct sr_invocation *inv, struct sr_invocation *next);
SR_INLINE struct sr_invocation *sr_forward(sr_at at, struct sr_invocation *inv, sr_cap to, struct sr_invocation *next)
{
    next->op = to;
    return SR_RT(forward)(at, inv, next);
}
/* Ends an arm of `in`: replies if that was not done, and frees unused memory. (For a proc the
 * run-time does this, with the block that the code returns.) */
void SR_RT(finish)(sr_at, struct sr_invocation *);
#define sr_finish SR_RT(finish)

/* ---- input ----------------------------------------------------------------------------------- */

/* receive, or an `in` of one arm without `and` and `by`: takes the oldest invocation of the
 * operation. Switches. With has_else, returns null if there is none. The caller ends with
 * sr_finish. A noop capability never has an invocation. */
SR_INLINE struct sr_invocation *sr_receive(sr_at at, sr_cap cap, sr_bool has_else)
{
    SR_POINT();
#ifdef SR_MACHINES
    if (SR_UNLIKELY(cap.op && cap.machine != sr_machine))
        return (struct sr_invocation *)SR_GATE(receive_elsewhere, at, &cap, has_else, 0);
#endif
    return (struct sr_invocation *)SR_GATE(receive, at, cap.op, cap.serial, has_else);
}
/* Any other `in`:
 *     sr_class_enter(at, c, has_else);
 *     for (;;) {
 *         for (i = sr_class_first(c); i; i = sr_class_next(i))
 *             if (i->op.op == arm's op && its condition) { sr_class_take(c, i); goto arm; }
 *         if has_else { sr_class_leave(c); goto else; }
 *         sr_class_wait(at, c);
 *     }
 * Conditions are evaluated while no other process may look; they may block. With `by`, continue to
 * the end and take the invocation of the same op with the least value. */
SR_INLINE void sr_class_enter(sr_at at, struct sr_class *c, sr_bool has_else)
{
    SR_POINT();
    SR_GATE(class_enter, at, c, has_else, 0);
}
SR_INLINE struct sr_invocation *sr_class_first(struct sr_class *c) { return c->first; }
SR_INLINE struct sr_invocation *sr_class_next(struct sr_invocation *i) { return i->next; }
void SR_RT(class_take)(struct sr_class *, struct sr_invocation *);
void SR_RT(class_leave)(struct sr_class *);
#define sr_class_take SR_RT(class_take)
#define sr_class_leave SR_RT(class_leave)
SR_INLINE void sr_class_wait(sr_at at, struct sr_class *c) { SR_GATE(class_wait, at, c, 0, 0); }

/* Whether the invocation is for one of these operations. */
SR_INLINE sr_bool sr_is_among(const struct sr_invocation *i, const struct sr_op *first, int64_t count)
{
    return (uintptr_t)i->op.op - (uintptr_t)first < (uintptr_t)count * sizeof *first;
}
#ifdef SR_MACHINES
sr_cap sr_cap_resolved(sr_at, sr_cap);
#endif
/* A capability to take input from; noop never has input. */
SR_INLINE sr_cap sr_cap_not_null(sr_at at, sr_cap cap)
{
    if (SR_UNLIKELY(!cap.op && !cap.serial))
        sr_abort(at, "attempted input from a null capability");
#ifdef SR_MACHINES
    if (SR_UNLIKELY(cap.op && cap.machine != sr_machine))
        return sr_cap_resolved(at, cap);
#endif
    return cap;
}
/* The class of an operation that input statements serve. */
SR_INLINE struct sr_class *sr_class_of(sr_at at, sr_cap cap)
{
    if (SR_UNLIKELY(!cap.op))
        sr_abort(at, cap.serial ? "attempted input from a noop capability" : "attempted input from a null capability");
#ifdef SR_MACHINES
    if (SR_UNLIKELY(cap.machine != sr_machine))
        cap = sr_cap_resolved(at, cap);
#endif
    if (SR_UNLIKELY(cap.op->kind != SR_OP_INPUT))
        sr_abort(at, "attempted input from an operation that a proc services");
    return cap.op->u.in;
}
/* The instance of a capability; aborts if there is none. */
SR_INLINE struct sr_instance *sr_instance_checked(sr_at at, sr_resource r)
{
    if (SR_UNLIKELY(!r.instance))
        sr_abort(at, r.serial ? "attempted to use a noop resource capability" : "attempted to use a null resource capability");
    return r.instance;
}
/* The region of the process that a send creates. */
SR_INLINE void sr_invocation_region(struct sr_invocation *i, int32_t region) { i->region = region + 1; }

/* ---- semaphores ------------------------------------------------------------------------------ */

#if defined(__x86_64__) && defined(__GNUC__)
/* Single instructions, so that neither a tick nor another server comes between looking at the value
 * and changing it. */
#ifdef SR_MANY
#define SR_ATOMIC "lock "
extern __thread uint64_t *srn_p_operations;
#else
#define SR_ATOMIC ""
extern uint64_t *sr1_p_operations;
#endif
void SR_RT(v_wake)(struct sr_semaphore *);
/* P. Switches if it blocks. */
SR_INLINE void sr_p(sr_at at, struct sr_semaphore *s)
{
    SR_POINT();
    _Bool is_below;
    __asm__ volatile("addq $1, %0" : "+m"(*SR_RT(p_operations)) : : "cc");
    __asm__ volatile(SR_ATOMIC "subl $1, %0" : "+m"(s->value), "=@ccs"(is_below) : : "memory");
    if (SR_UNLIKELY(is_below))
        SR_GATE(p_wait, at, s, 0, 0);
}
/* V. Never switches, except at SR_POINT. Wakes the process that has waited longest. */
SR_INLINE void sr_v(sr_at at, struct sr_semaphore *s)
{
    (void)at;
    SR_POINT();
    _Bool is_awaited;
    __asm__ volatile(SR_ATOMIC "addl $1, %0" : "+m"(s->value), "=@ccle"(is_awaited) : : "memory");
    if (SR_UNLIKELY(is_awaited))
        SR_RT(v_wake)(s);
}
#else
void SR_RT(v)(struct sr_semaphore *);
SR_INLINE void sr_p(sr_at at, struct sr_semaphore *s) { SR_POINT(); SR_GATE(p, at, s, 0, 0); }
SR_INLINE void sr_v(sr_at at, struct sr_semaphore *s) { (void)at; SR_POINT(); SR_RT(v)(s); }
#endif

/* P on a semaphore for mutual exclusion, such as that of a monitor. */
SR_INLINE void sr_p_holding(sr_at at, struct sr_semaphore *s)
{
    sr_p(at, s);
    s->holder = sr_self();
}

/* ---- co -------------------------------------------------------------------------------------- */

/*     struct sr_co *co = sr_co_begin(at);
 *     sr_co_call(at, co, cap, inv, arm); ...            (inv from sr_invocation_new)
 *     while ((i = sr_co_wait(at, co))) { switch (i->arm) { results, post-processing } sr_invocation_free(i); }
 *     sr_co_end(co);                                    (also when the post-processing exits)  */
struct sr_co;
struct sr_co *SR_RT(co_begin)(sr_at);
void SR_RT(co_call)(sr_at, struct sr_co *, struct sr_invocation *);
void SR_RT(co_send)(sr_at, struct sr_co *, struct sr_invocation *);
/* An arm that is done at once, such as a V. */
void SR_RT(co_done)(sr_at, struct sr_co *, int32_t arm);
void SR_RT(co_end)(struct sr_co *);
#define sr_co_begin SR_RT(co_begin)
#define sr_co_done SR_RT(co_done)
#define sr_co_end SR_RT(co_end)
SR_INLINE void sr_co_call(sr_at at, struct sr_co *co, sr_cap cap, struct sr_invocation *inv, int32_t arm)
{
    inv->op = cap;
    inv->arm = arm;
    SR_RT(co_call)(at, co, inv);
}
SR_INLINE void sr_co_send(sr_at at, struct sr_co *co, sr_cap cap, struct sr_invocation *inv, int32_t arm)
{
    inv->op = cap;
    inv->arm = arm;
    SR_RT(co_send)(at, co, inv);
}
/* The next completed invocation: the latest among those that have completed; null when all were
 * taken. Switches. */
SR_INLINE struct sr_invocation *sr_co_wait(sr_at at, struct sr_co *co) { return (struct sr_invocation *)SR_GATE(co_wait, at, co, 0, 0); }

/* ---- components ------------------------------------------------------------------------------ */

/* create: waits until the body ends or replies. Switches. */
SR_INLINE sr_resource sr_create(sr_at at, const struct sr_component *component, const void *parameters, size_t bytes)
{
    struct sr_instance *i = (struct sr_instance *)SR_GATE(create, at, component, parameters, bytes);
    return SR_RESOURCE_OF(i);
}
/* destroy: runs the final, ends the instance's processes and operations. Switches; does not return
 * to a process of the instance itself. */
SR_INLINE void sr_destroy(sr_at at, sr_resource r)
{
#ifdef SR_MACHINES
    SR_GATE(destroy, at, r.instance, r.serial, r.machine);
#else
    SR_GATE(destroy, at, r.instance, r.serial, 0);
#endif
}
/* ---- virtual machines ------------------------------------------------------------------------ */

/* A capability for a virtual machine is one for a resource whose instance is the machine's number
 * plus 1. */
#define SR_MACHINE_SERIAL 2
SR_INLINE uint32_t sr_machine_in(sr_at at, sr_resource vm, const char *refusal)
{
    if (SR_UNLIKELY(!vm.instance))
        sr_abort(at, refusal);
    return (uint32_t)(uintptr_t)vm.instance - 1;
}
#ifdef SR_MACHINES
#define SR_MACHINE(number) ((sr_resource){(struct sr_instance *)(uintptr_t)((number) + 1), SR_MACHINE_SERIAL, 0})
/* The number of the physical machine that this one runs on. */
extern int32_t sr_machine_number;
#define sr_my_machine() sr_machine_number
#define sr_my_vm() SR_MACHINE(sr_machine)
/* locate(number, host, path). */
void sr_locate(sr_at, int32_t number, sr_text host, sr_text path);
/* The place for a new virtual machine: a host with this name, or the machine with this number. */
struct sr_vm_place {
    sr_bool is_named;
    int32_t number;
    sr_text name;
};
/* create vm(). Switches. */
SR_INLINE sr_resource sr_create_vm(sr_at at, struct sr_vm_place place)
{
    uint32_t number = (uint32_t)SR_GATE(create_vm, at, &place, 0, 0);
    return SR_MACHINE(number);
}
/* destroy of a virtual machine. Switches. */
SR_INLINE void sr_destroy_vm(sr_at at, sr_resource vm)
{
    if (vm.instance || !vm.serial)
        SR_GATE(destroy_vm, at, sr_machine_in(at, vm, "attempting to destroy null vm"), 0, 0);
}
struct sr_creation {
    const struct sr_component *component;
    const void *parameters;
    size_t bytes;
    const struct sr_field *fields; /* texts and arrays in the parameters */
    int32_t fields_count;
    uint32_t machine;
    struct sr_instance *made;
    uint32_t serial;
};
/* create on a virtual machine. Switches. */
SR_INLINE sr_resource sr_create_on(sr_at at, const struct sr_component *component, const void *parameters, size_t bytes, const struct sr_field *fields,
                                   int32_t fields_count, sr_resource vm)
{
    if (SR_UNLIKELY(!vm.instance && vm.serial))
        return SR_NOOP_RESOURCE;
    struct sr_creation creation = {component, parameters, bytes, fields, fields_count, sr_machine_in(at, vm, "attempting to create resource on null vm"), 0, 0};
    SR_GATE(create_on, at, &creation, 0, 0);
    return (sr_resource){creation.made, creation.serial, creation.machine};
}
#else
/* A program that creates no virtual machine runs on one. */
#define sr_my_machine() 0
#define sr_my_vm() ((sr_resource){(struct sr_instance *)1, SR_MACHINE_SERIAL})
#define sr_locate(at, number, host, path) ((void)(number), (void)(host), (void)(path))
SR_INLINE void sr_destroy_vm(sr_at at, sr_resource vm)
{
    if (vm.instance || !vm.serial) {
        sr_machine_in(at, vm, "attempting to destroy null vm");
        sr_abort(at, "the first virtual machine cannot be destroyed: write stop");
    }
}
SR_INLINE sr_resource sr_create_on(sr_at at, const struct sr_component *component, const void *parameters, size_t bytes, sr_resource vm)
{
    if (SR_UNLIKELY(!vm.instance && vm.serial))
        return SR_NOOP_RESOURCE;
    sr_machine_in(at, vm, "attempting to create resource on null vm");
    return sr_create(at, component, parameters, bytes);
}
#endif

/* import of a global, at the beginning of the importer's body: creates it if it does not exist.
 * Switches. */
SR_INLINE void sr_need_global(sr_at at, const struct sr_component *component)
{
    SR_GATE(need_global, at, component, 0, 0);
}
/* reply in the body (or the final) of a component. */
void SR_RT(reply_body)(sr_at);
#define sr_reply_body SR_RT(reply_body)

/* ---- processes ------------------------------------------------------------------------------- */

/* nap(ms); zero and below let others run. Switches. */
SR_INLINE void sr_nap(sr_at at, int32_t milliseconds)
{
    if (milliseconds <= 0)
        SR_GATE(yield_now, at, 0, 0, 0);
    else
        SR_GATE(nap, at, milliseconds, 0, 0);
}
/* setpriority(n), which may switch, and mypriority(). */
SR_INLINE void sr_set_priority(sr_at at, int32_t priority) { SR_GATE(set_priority, at, priority, 0, 0); }
int32_t SR_RT(priority)(void);
#define sr_priority SR_RT(priority)
/* Ends a proc that changed the priority of its caller's process. May switch. */
SR_INLINE void sr_restore_priority(sr_at at, int32_t priority)
{
    if (sr_priority() != priority)
        sr_set_priority(at, priority);
}
/* age(): milliseconds since the start. */
int32_t SR_RT(age)(void);
#define sr_age SR_RT(age)
/* stop, stop(code): finals run if the code is 0. Does not return. */
SR_INLINE void sr_stop(sr_at at, int32_t code)
{
    SR_GATE(stop, at, code, 0, 0);
    __builtin_unreachable();
}
/* Moves the calling process, and those that it starts later, to a region. May switch. */
SR_INLINE void sr_region(sr_at at, int32_t region) { SR_GATE(region, at, region, 0, 0); }
/* Processes that serve operations of the instance belong to this region. */
SR_INLINE void sr_instance_region(struct sr_instance *i, int32_t region) { i->region = region; }

/* The head of a loop: `do`, innermost `fa`, quantifiers. */
#ifdef SR_LOOPS
#if defined(SR_MANY) && defined(__x86_64__)
extern __thread int64_t *srn_budget;
#define SR_BUDGET srn_budget
#elif defined(SR_MANY)
int64_t *srn_budget_of_thread(void);
#define SR_BUDGET srn_budget_of_thread()
#else
extern int64_t *sr1_budget;
#define SR_BUDGET sr1_budget
#endif
#ifdef SR_MANY
#define SR_LOOP_GATE "srn_loop_gate"
#else
#define SR_LOOP_GATE "sr1_loop_gate"
#endif
void SR_RT(loop_is_up)(void);
SR_INLINE void sr_loop(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    _Bool is_up;
    __asm__ volatile("subq $1, %0" : "+m"(*SR_BUDGET), "=@ccle"(is_up) : : "memory");
    /* Changes no register, so that the loop keeps its variables in them. */
    if (SR_UNLIKELY(is_up))
        __asm__ volatile("call " SR_LOOP_GATE : : : "memory", "cc");
#else
    if (SR_UNLIKELY(--*SR_BUDGET <= 0))
        SR_RT(loop_is_up)();
#endif
}
#define SR_LOOP() sr_loop()
#else
#define SR_LOOP() ((void)0)
#endif
/* The head of a `do` that reads variables which other processes may write: makes the compiler read
 * them again. It adds no instruction. SR_LOOP has the same effect where it is enabled. */
#define SR_LOOK_AGAIN() __asm__ volatile("" : : : "memory")

/* Calls an external C function through `call`, which takes its parameters from a struct and stores
 * its result there. Output is written out first, and no tick switches inside. The function runs on
 * a stack of 8 MiB that belongs to the server: frames of C functions may be larger than a process's
 * stack, or jump over the guard below it. The function cannot use the run-time. May switch after
 * the call. */
void SR_RT(external)(sr_at, void (*call)(void *), void *parameters);
SR_INLINE void sr_external(sr_at at, void (*call)(void *), void *parameters)
{
    SR_RT(external)(at, call, parameters);
    SR_GATE(leave_external, 0, 0, 0, 0);
}
/* The C library's FILE * for a file; null for null. Input that was read ahead is given back to the
 * system if the file can seek. */
void *sr_c_file(sr_at, sr_file);

#endif
