/* The contract between generated C and the SR run-time.
 *
 * The compiler writes one C file that includes this header and defines the program by SR_PROGRAM. It is compiled with
 *     cc -O2 -fwrapv -mno-red-zone          (the red zone: see sr_gate below)
 * and one of each of
 *     -DSR_MANY      processes run on several servers; without it on one, with no atomic instructions
 *     -DSR_LOOPS     SR_LOOP() at loop heads does something: models counted and sliced-deferred
 * and linked with libantiphon_sr_rt.a -lm -lpthread -ldl. `main` is in the library.
 *
 * Values. bool and char: unsigned char. int and enum: int32_t, which wraps. real: double. ptr: void *.
 * A function that may block, abort, or start other generated code takes the place in the source first: sr_at, the address of a static location.
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
};
typedef const struct sr_location *sr_at;

/* ---- the program ------------------------------------------------------------------------------------------------------------------ */

struct sr_instance;
struct sr_invocation;
struct sr_process;

/* A resource or global. An instance is a struct whose first member is struct sr_instance; the run-time allocates it, zeroed. */
struct sr_component {
    const char *name;
    size_t instance_bytes;
    /* Runs as a process of its own: imports globals (sr_need_global), makes operations, runs top-level code. Parameters are the bytes given to
     * sr_create, copied; they live as long as the instance. */
    void (*body)(struct sr_instance *, void *parameters);
    void (*final)(struct sr_instance *); /* or null */
    struct sr_instance **global;         /* of a global: where its one instance is kept; null for a resource */
};

/* For reports of stack overflows: which code belongs to what. Sorted or not. */
struct sr_function {
    const void *code;
    const char *name; /* component.proc */
    sr_at at;
};

struct sr_program {
    uint32_t version;
    sr_bool is_many, has_loops;
    const struct sr_component *main;
    const char *options; /* as in ANTIPHON_SR, which overrides them; or null */
    const struct sr_function *functions;
    int32_t functions_count;
};
extern const struct sr_program sr_the_program;

#define SR_VERSION 1
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
/* SR_PROGRAM(&main_component, "options" or 0, functions or 0, count); once, at file level. */
#define SR_PROGRAM(component, options, functions, count) \
    const struct sr_program sr_the_program = {SR_VERSION, SR_IS_MANY, SR_HAS_LOOPS, component, options, functions, count}

/* ---- entering the run-time where it may switch -------------------------------------------------------------------------------------- */

/* A processor predicts returns by the calls it saw. A switch between a call and its return spoils that, at some 30 ns. So what may switch is not called: we jump
 * into the library (sr_gate_stub) with the address to go on at in a register, and it leaves by a jump, too. Nothing in between returns across a
 * switch. The library uses the stack below us: no red zone. Elsewhere than on x86-64 it is called. */
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
/* What the gate goes to. Their parameters are what the functions below give it; they are not called otherwise. */
void SR_GATED(call)(void), SR_GATED(receive)(void), SR_GATED(class_enter)(void), SR_GATED(class_wait)(void), SR_GATED(co_wait)(void);
void SR_GATED(create)(void), SR_GATED(destroy)(void), SR_GATED(need_global)(void), SR_GATED(stop)(void);
void SR_GATED(p)(void), SR_GATED(p_wait)(void), SR_GATED(yield_now)(void), SR_GATED(nap)(void), SR_GATED(set_priority)(void);
void SR_GATED(region)(void), SR_GATED(leave_external)(void);
#define SR_GATE(name, a, b, c, d) sr_gate(SR_GATED(name), (intptr_t)(a), (intptr_t)(b), (intptr_t)(c), (intptr_t)(d))

/* ---- errors ------------------------------------------------------------------------------------------------------------------------- */

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
SR_NORETURN void sr_no_virtual_machines(sr_at, const char *feature);
/* "RTS warning: ..." */
void sr_warn(const char *message);

/* ---- memory ------------------------------------------------------------------------------------------------------------------------- */

/* Memory of temporaries and of arrays of blocks: each process has its own, used as a stack.
 *     sr_mark m = sr_mark_now(); ... sr_allocate(...) ... sr_release(m);
 * Blocks above 64 KB come from the kernel and are zero and untouched at first. */
struct sr_arena {
    char *next, *limit;
    void *chunk;
};
struct sr_process { /* what generated code may see of the running process */
    sr_at at;       /* where it is, as far as was recorded */
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
/* Tells reports where the process is; blocking functions do so by themselves. */
#define SR_HERE(location) ((void)(sr_self()->at = (location)))

void *SR_RT(allocate_more)(sr_at, int64_t bytes);
void SR_RT(release_chunks)(void *chunk, char *next);

/* Bytes from the process's arena, aligned to 16, of any content. Negative or unheard-of sizes abort. */
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
/* Bytes that live as long as an instance; zeroed. */
void *SR_RT(instance_allocate)(sr_at, struct sr_instance *, int64_t bytes);
#define sr_instance_allocate SR_RT(instance_allocate)
/* new(T) and free(p): zeroed; free(null) does nothing, a pointer that is not from `new` or was freed aborts. */
void *SR_RT(new)(sr_at, int64_t bytes);
void SR_RT(free)(sr_at, void *);
#define sr_new SR_RT(new)
#define sr_free SR_RT(free)

/* ---- strings ------------------------------------------------------------------------------------------------------------------------ */

/* A string value: a constant, a part of a variable, or a temporary in the process's arena. Not terminated by a zero. */
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
/* Below, at, or above zero. */
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

/* ---- conversions -------------------------------------------------------------------------------------------------------------------- */

/* string(x), in the process's arena. A buffer of the caller's is used and its filled part returned by the _in versions (32 bytes suffice). */
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
/* int("..."), real("..."), bool("..."), char("..."), ptr("..."): the whole text must be one, or the program aborts. */
int32_t sr_int_of_text(sr_at, sr_text);
double sr_real_of_text(sr_at, sr_text);
sr_bool sr_bool_of_text(sr_at, sr_text);
sr_char sr_char_of_text(sr_text);
void *sr_pointer_of_text(sr_at, sr_text);
/* char(n) of 0 to 255; int(r) truncates, and aborts outside of int. */
SR_INLINE sr_char sr_char_of_int(sr_at at, int32_t n)
{
    if (SR_UNLIKELY((uint32_t)n > 255))
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

/* ---- arrays ------------------------------------------------------------------------------------------------------------------------- */

struct sr_dimension {
    int32_t low, high; /* high is low-1 if it is empty */
    int64_t stride;    /* bytes from one element of this dimension to the next */
};
/* Views: `data` is the address of the element at the low bounds. sr_array1 to sr_array8. */
#define SR_ARRAY(n)                                                                                                                            \
    struct sr_array##n {                                                                                                                       \
        char *data;                                                                                                                            \
        struct sr_dimension d[n];                                                                                                              \
        int32_t most; /* of strings whose maximum is computed: that */                                                                         \
    }
SR_ARRAY(1);
SR_ARRAY(2);
SR_ARRAY(3);
SR_ARRAY(4);
SR_ARRAY(5);
SR_ARRAY(6);
SR_ARRAY(7);
SR_ARRAY(8);

/* Checks the bounds in d (low and high are set), sets the strides (the last dimension's is element_bytes), and gives the bytes of all elements. */
int64_t sr_array_layout(sr_at, struct sr_dimension *d, int32_t dimensions, int64_t element_bytes);
/* The same, and gives memory, zeroed: from the process's arena; with an instance, for as long as that lives. */
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
/* The same of constant bounds: gives i - low. */
SR_INLINE int64_t sr_offset(sr_at at, int32_t i, int32_t low, int32_t high)
{
    uint32_t offset = (uint32_t)i - (uint32_t)low;
    if (SR_UNLIKELY(offset >= (uint32_t)high - (uint32_t)low + 1u))
        sr_bad_subscript(at, i, low, high);
    return (int64_t)offset;
}
/* Offset in bytes of a slice [from:to] in a dimension; the slice's own dimension is {1, to - from + 1, d->stride}. */
SR_INLINE int64_t sr_slice(sr_at at, const struct sr_dimension *d, int32_t from, int32_t to)
{
    if (SR_UNLIKELY(from < d->low || to > d->high || to < from - 1))
        sr_bad_slice(at, from, to, d->low, d->high);
    return ((int64_t)from - d->low) * d->stride;
}
SR_INLINE int64_t sr_length(const struct sr_dimension *d) { return (int64_t)d->high - d->low + 1; }
/* to := from, elements of so many bytes; the same sizes or the program aborts; they may overlap. */
void sr_array_copy(sr_at, int32_t dimensions, int64_t element_bytes, void *to, const struct sr_dimension *to_d, const void *from,
                   const struct sr_dimension *from_d);
/* The same for string elements (struct {int32_t length; char data[]}) of these maxima; the strides say how far they are apart. */
void sr_array_copy_strings(sr_at, int32_t dimensions, void *to, const struct sr_dimension *to_d, int32_t to_maximum, const void *from,
                           const struct sr_dimension *from_d);
void sr_array_swap(sr_at, int32_t dimensions, int64_t element_bytes, void *a, const struct sr_dimension *a_d, void *b,
                   const struct sr_dimension *b_d);
/* Every element := the value. */
void sr_array_fill(int32_t dimensions, int64_t element_bytes, void *to, const struct sr_dimension *d, const void *value);
/* A char array as a text: in place if its elements stand side by side, else a copy in the process's arena; chars(t) is the other way round. */
sr_text sr_text_of_chars(sr_at, const void *data, const struct sr_dimension *d);
SR_INLINE struct sr_array1 sr_chars_of_text(sr_text t) { return (struct sr_array1){(char *)t.data, {{1, t.length, 1}}, 0}; }
void sr_swap(void *a, void *b, size_t bytes);

/* ---- arithmetic --------------------------------------------------------------------------------------------------------------------- */

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
/* mod: of the sign of the divisor. */
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
/* ** of int by int, of real by int, of real by real; they abort where it is not defined. */
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
/* random(low, high): at least low, below high. seed(0.0) begins anew unpredictably; every other seed gives the sequence of original SR. */
double sr_random(double low, double high);
void sr_seed(double);

/* ---- files -------------------------------------------------------------------------------------------------------------------------- */

typedef struct sr_file_object *sr_file;
#define SR_NULL_FILE ((sr_file)0)
#define SR_NOOP_FILE ((sr_file)1)
#define SR_STDIN ((sr_file)2)
#define SR_STDOUT ((sr_file)3)
#define SR_STDERR ((sr_file)4)
#define SR_EOF (-1)
enum { SR_READ, SR_WRITE, SR_READWRITE };           /* open */
enum { SR_ABSOLUTE, SR_RELATIVE, SR_EXTEND };       /* seek */

/* A value to write, and a variable to read into. Kinds: b bool, c char, i int, e enum, r real, p pointer, s string, a array of char (of stride 1). */
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
/* Give how many were read, or SR_EOF. Those that read files switch while there is no input. */
int32_t sr_read(sr_at, sr_file, int32_t count, const struct sr_target *);
int32_t sr_scanf(sr_at, sr_file, sr_text format, int32_t count, const struct sr_target *);
int32_t sr_sscanf(sr_at, sr_text from, sr_text format, int32_t count, const struct sr_target *);
/* get: characters into an s or a; how many, or SR_EOF. */
int32_t sr_get(sr_at, sr_file, struct sr_target);
sr_file sr_open(sr_text name, int32_t mode); /* null if it cannot be opened */
void sr_flush(sr_at, sr_file);
void sr_close(sr_at, sr_file);
sr_bool sr_remove(sr_text name);
int32_t sr_seek(sr_at, sr_file, int32_t from, int32_t offset); /* the new position */
int32_t sr_where(sr_at, sr_file);
/* Command line: getarg gives 1, or 0 if the argument is no such value, or SR_EOF if there is none; of strings the length. */
int32_t sr_numargs(void);
int32_t sr_getarg(int32_t number, struct sr_target);

/* ---- for generated code ---------------------------------------------------------------------------------------------------------------- */

/* Bytes of a string variable, struct { int32_t length; char data[maximum]; }. */
#define SR_STRING_BYTES(maximum) (((int64_t)(maximum) + 7) & ~(int64_t)3)
/* Bytes rounded up to where anything may begin. */
#define SR_ROOM(bytes) (((int64_t)(bytes) + 15) & ~(int64_t)15)
/* The string variable at an address, as arrays have it. */
SR_INLINE sr_string sr_string_in(void *place, int32_t maximum) { return (sr_string){(int32_t *)place, (char *)place + 4, maximum}; }
/* A new empty string variable in the process's arena or, given one, for as long as an instance lives. */
SR_INLINE sr_string sr_string_make(sr_at at, struct sr_instance *instance, int32_t maximum)
{
    if (SR_UNLIKELY(maximum < 0))
        sr_bad_string_length(at, 0, maximum);
    int64_t bytes = SR_STRING_BYTES(maximum);
    void *place = instance ? sr_instance_allocate(at, instance, bytes) : sr_allocate(at, bytes);
    *(int32_t *)place = 0;
    return sr_string_in(place, maximum);
}
/* new(string[n]): the description and the variable. */
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
/* How many elements there are. */
SR_INLINE int64_t sr_elements(int32_t dimensions, const struct sr_dimension *d)
{
    int64_t count = 1;
    for (int32_t n = 0; n < dimensions; n++)
        count *= sr_length(&d[n]);
    return count;
}
/* Strings and arrays of a block stand behind its struct; rest is where the next goes. */
SR_INLINE sr_string sr_put_string(sr_at at, char **rest, sr_text text, int32_t maximum)
{
    sr_string string = sr_string_in(*rest, maximum);
    *rest += SR_ROOM(SR_STRING_BYTES(maximum));
    *string.length = 0;
    sr_string_set(at, string, text);
    return string;
}
/* The same for an array, with its elements or zeroed; fills its dimensions in and gives its data. */
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
/* Results that are strings or arrays: in memory of their own until the caller has taken them. */
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
/* For C functions: a copy that ends with a zero, with room for so many characters; and back. */
static inline __attribute__((unused)) char *sr_c_string(sr_at at, sr_text text, int32_t room)
{
    char *copy = (char *)sr_allocate(at, (int64_t)room + 1);
    memcpy(copy, text.data, (size_t)text.length);
    memset(copy + text.length, 0, (size_t)(room - text.length) + 1);
    return copy;
}
SR_INLINE sr_text sr_text_of_c(const char *text) { return (sr_text){text, text ? (int32_t)strlen(text) : 0}; }
/* A table of the process's arena with room for one more entry. */
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

/* ---- operations --------------------------------------------------------------------------------------------------------------------- */

/* A proc's code, as it is called through an operation. The block holds the parameters, and receives results. It returns the block it holds at its end,
 * which is another after sr_reply or sr_forward. */
typedef struct sr_invocation *(*sr_code)(struct sr_instance *, struct sr_invocation *);

enum sr_op_kind { SR_OP_NONE, SR_OP_PROC, SR_OP_SEPARATE, SR_OP_INPUT, SR_OP_SEMAPHORE };

/* A semaphore; operations that the compiler found to be such, and `sem`s. */
struct sr_semaphore {
    int32_t value; /* below zero: the processes that wait, or are about to */
    int32_t reserved;
    uint64_t rest[7];
};

/* Operations that appear together in an input statement: a unit with one queue of invocations, that one process at a time looks through. */
struct sr_class {
    struct sr_invocation *first; /* the oldest pending; for sr_class_first, by who has entered */
    uint64_t rest[11];
};

struct sr_op {
    uint32_t serial; /* 0 if it is none */
    int32_t kind;
    int32_t pending;
    int32_t reserved;
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
} sr_cap;
#define SR_NULL_CAP ((sr_cap){0, 0})
#define SR_NOOP_CAP ((sr_cap){0, 1})
SR_INLINE sr_cap sr_cap_of(struct sr_op *op) { return (sr_cap){op, op->serial}; }
SR_INLINE sr_bool sr_cap_equal(sr_cap a, sr_cap b) { return a.op == b.op && a.serial == b.serial; }

/* A capability for a resource instance. */
typedef struct {
    struct sr_instance *instance;
    uint32_t serial; /* with a null instance: 0 null, 1 noop */
} sr_resource;
#define SR_NULL_RESOURCE ((sr_resource){0, 0})
#define SR_NOOP_RESOURCE ((sr_resource){0, 1})
SR_INLINE sr_bool sr_resource_equal(sr_resource a, sr_resource b) { return a.instance == b.instance && a.serial == b.serial; }

/* What every instance begins with. Its memory is only ever used again for instances of the same component, so that old capabilities find out. */
struct sr_instance {
    uint32_t serial;
    int32_t region; /* -1: none */
    const struct sr_component *component;
    void *parameters;
    uint64_t rest[12];
};
SR_INLINE sr_resource sr_my_resource(struct sr_instance *i) { return (sr_resource){i, i->serial}; }
/* The capability of an exported operation, `cap.op`: the operation is at this offset of the instance. Null gives null, noop noop. */
SR_INLINE sr_cap sr_cap_in(sr_resource r, size_t offset)
{
    if (SR_UNLIKELY(!r.instance))
        return (sr_cap){0, r.serial};
    struct sr_op *op = (struct sr_op *)((char *)r.instance + offset);
    return (sr_cap){op, r.instance->serial == r.serial ? op->serial : 0xffffffffu};
}
/* The same for an element of an exported array of operations, which the instance has the address of at this offset. */
SR_INLINE sr_cap sr_cap_in_array(sr_resource r, size_t offset, int64_t index)
{
    if (SR_UNLIKELY(!r.instance))
        return (sr_cap){0, r.serial};
    struct sr_op *op = *(struct sr_op **)((char *)r.instance + offset) + index;
    return (sr_cap){op, r.instance->serial == r.serial ? op->serial : 0xffffffffu};
}

/* Making operations, in memory of an instance or from sr_ops_new. Names are static: "component.op". */
void SR_RT(op_proc)(struct sr_op *, struct sr_instance *, const char *name, sr_code, sr_bool needs_own_process);
void SR_RT(op_input)(struct sr_op *, struct sr_instance *, const char *name, struct sr_class *);
void SR_RT(op_semaphore)(struct sr_op *, struct sr_instance *, const char *name, struct sr_semaphore *);
/* Operations end with their block or instance: pending invocations are refused. Instances' embedded ones must be listed: see sr_instance_ops. */
void SR_RT(op_end)(struct sr_op *, int64_t count);
/* Operations in one piece of memory that is only ever used for operations. Freed by sr_ops_free, which ends them. */
struct sr_op *SR_RT(ops_new)(sr_at, int64_t count);
void SR_RT(ops_free)(struct sr_op *, int64_t count);
/* Tells the run-time that these operations end with the instance. For each op or array of ops that lives as long as the instance. */
void SR_RT(instance_ops)(struct sr_instance *, struct sr_op *, int64_t count);
/* new(op(...)): an input operation. Serves it by sr_receive or an `in`. destroy cap. */
sr_cap SR_RT(op_create)(sr_at, struct sr_instance *, const char *name, struct sr_class *); /* a class of its own if that is 0 */
void SR_RT(op_destroy)(sr_at, sr_cap);
void SR_RT(class_init)(struct sr_class *);
struct sr_class *SR_RT(class_new)(sr_at);    /* of operations of a block */
void SR_RT(class_free)(struct sr_class *);
/* A semaphore with its initial value, which must not be negative. Names are static. */
void SR_RT(semaphore_init)(sr_at, struct sr_semaphore *, const char *name, int32_t value);
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

/* ---- invocations -------------------------------------------------------------------------------------------------------------------- */

/* An invocation: generated structs begin with it, parameters and results follow. Blocks of sends and of co come from sr_invocation_new; a block of
 * a call may be a local variable. Parameters of run-time size stand behind the struct in the same block, and then `relocate` must
 * be set: it adds `by` to the addresses in the block that point into it, after the block was copied. */
struct sr_invocation {
    struct sr_invocation *next, *previous;
    sr_cap op;
    struct sr_process *caller;
    void (*relocate)(struct sr_invocation *, ptrdiff_t by);
    void *co;
    struct sr_invocation **answer;
    uint32_t size;
    uint32_t co_serial;
    int32_t arm; /* of a co: its number */
    uint8_t kind;
    sr_bool is_replied, is_owned, is_refused;
    int32_t region; /* of the process that a send creates, and 1; 0: its creator's */
};

/* A block of that size, the head zeroed. */
struct sr_invocation *SR_RT(invocation_new)(sr_at, int64_t bytes);
/* Gives back a block that was got from sr_invocation_new, or as an answer; does nothing to a local one. */
void SR_RT(invocation_free)(struct sr_invocation *);
#define sr_invocation_new(at, bytes) SR_RT(invocation_new)(at, bytes)
#define sr_invocation_free(inv) SR_RT(invocation_free)(inv)
/* Prepares a local block. */
SR_INLINE void sr_invocation_local(struct sr_invocation *inv, int64_t bytes)
{
    memset(inv, 0, sizeof *inv);
    inv->size = (uint32_t)bytes;
}

/* call. Switches. Gives the block with the results, mostly the same; another one after a forward. sr_invocation_free it when the results are copied. */
SR_INLINE struct sr_invocation *sr_call(sr_at at, sr_cap cap, struct sr_invocation *inv)
{
    inv->op = cap;
    return (struct sr_invocation *)SR_GATE(call, at, inv, 0, 0);
}
/* send. The block, from sr_invocation_new, is the run-time's from now on. Never switches. */
void SR_RT(send)(sr_at, struct sr_invocation *);
SR_INLINE void sr_send(sr_at at, sr_cap cap, struct sr_invocation *inv)
{
    inv->op = cap;
    SR_RT(send)(at, inv);
}
/* reply: the caller goes on with the block as it is now; the servant goes on with the copy that is returned. */
struct sr_invocation *SR_RT(reply)(sr_at, struct sr_invocation *);
#define sr_reply SR_RT(reply)
/* forward: `next` (from sr_invocation_new, with its parameters set) takes over the duty to reply; the servant goes on with the block that is
 * returned, as after sr_reply. */
struct sr_invocation *SR_RT(forward)(sr_at, struct sr_invocation *inv, struct sr_invocation *next);
SR_INLINE struct sr_invocation *sr_forward(sr_at at, struct sr_invocation *inv, sr_cap to, struct sr_invocation *next)
{
    next->op = to;
    return SR_RT(forward)(at, inv, next);
}
/* The end of an arm of `in`: replies if that was not done, frees what nobody needs. (For a proc the run-time does it with the block that the code returns.) */
void SR_RT(finish)(sr_at, struct sr_invocation *);
#define sr_finish SR_RT(finish)

/* ---- input -------------------------------------------------------------------------------------------------------------------------- */

/* receive, or an `in` of one arm without `and` and `by`: takes the oldest invocation of the operation. Switches. With has_else gives null if there is none.
 * The caller ends by sr_finish. From a noop capability nothing ever comes. */
SR_INLINE struct sr_invocation *sr_receive(sr_at at, sr_cap cap, sr_bool has_else)
{
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
 * Conditions are evaluated inside, when no other process may look; they may block. With `by`: go on to the end for the least of the same op. */
SR_INLINE void sr_class_enter(sr_at at, struct sr_class *c, sr_bool has_else) { SR_GATE(class_enter, at, c, has_else, 0); }
SR_INLINE struct sr_invocation *sr_class_first(struct sr_class *c) { return c->first; }
SR_INLINE struct sr_invocation *sr_class_next(struct sr_invocation *i) { return i->next; }
void SR_RT(class_take)(struct sr_class *, struct sr_invocation *);
void SR_RT(class_leave)(struct sr_class *);
#define sr_class_take SR_RT(class_take)
#define sr_class_leave SR_RT(class_leave)
SR_INLINE void sr_class_wait(sr_at at, struct sr_class *c) { SR_GATE(class_wait, at, c, 0, 0); }

/* Whether the invocation is of one of these operations. */
SR_INLINE sr_bool sr_is_among(const struct sr_invocation *i, const struct sr_op *first, int64_t count)
{
    return (uintptr_t)i->op.op - (uintptr_t)first < (uintptr_t)count * sizeof *first;
}
/* A capability to take input from: noop is one from which nothing ever comes. */
SR_INLINE sr_cap sr_cap_not_null(sr_at at, sr_cap cap)
{
    if (SR_UNLIKELY(!cap.op && !cap.serial))
        sr_abort(at, "attempted input from a null capability");
    return cap;
}
/* The class of an operation that input statements service. */
SR_INLINE struct sr_class *sr_class_of(sr_at at, sr_cap cap)
{
    if (SR_UNLIKELY(!cap.op))
        sr_abort(at, cap.serial ? "attempted input from a noop capability" : "attempted input from a null capability");
    if (SR_UNLIKELY(cap.op->kind != SR_OP_INPUT))
        sr_abort(at, "attempted input from an operation that a proc services");
    return cap.op->u.in;
}
/* The instance of a capability that must be for one. */
SR_INLINE struct sr_instance *sr_instance_checked(sr_at at, sr_resource r)
{
    if (SR_UNLIKELY(!r.instance))
        sr_abort(at, r.serial ? "attempted to use a noop resource capability" : "attempted to use a null resource capability");
    return r.instance;
}
/* The region of the process that a send creates. */
SR_INLINE void sr_invocation_region(struct sr_invocation *i, int32_t region) { i->region = region + 1; }

/* ---- semaphores --------------------------------------------------------------------------------------------------------------------- */

#if defined(__x86_64__) && defined(__GNUC__)
/* Single instructions, so that neither a tick nor another server comes between looking at the value and changing it. */
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
    _Bool is_below;
    __asm__ volatile("addq $1, %0" : "+m"(*SR_RT(p_operations)) : : "cc");
    __asm__ volatile(SR_ATOMIC "subl $1, %0" : "+m"(s->value), "=@ccs"(is_below) : : "memory");
    if (SR_UNLIKELY(is_below))
        SR_GATE(p_wait, at, s, 0, 0);
}
/* V. Never switches; hands over to who waits longest. */
SR_INLINE void sr_v(sr_at at, struct sr_semaphore *s)
{
    (void)at;
    _Bool is_awaited;
    __asm__ volatile(SR_ATOMIC "addl $1, %0" : "+m"(s->value), "=@ccle"(is_awaited) : : "memory");
    if (SR_UNLIKELY(is_awaited))
        SR_RT(v_wake)(s);
}
#else
void SR_RT(v)(struct sr_semaphore *);
SR_INLINE void sr_p(sr_at at, struct sr_semaphore *s) { SR_GATE(p, at, s, 0, 0); }
SR_INLINE void sr_v(sr_at at, struct sr_semaphore *s) { (void)at; SR_RT(v)(s); }
#endif

/* ---- co ----------------------------------------------------------------------------------------------------------------------------- */

/*     struct sr_co *co = sr_co_begin(at);
 *     sr_co_call(at, co, cap, inv, arm); ...            (inv from sr_invocation_new)
 *     while ((i = sr_co_wait(at, co))) { switch (i->arm) { results, post-processing } sr_invocation_free(i); }
 *     sr_co_end(co);                                    (also when the post-processing exits)  */
struct sr_co;
struct sr_co *SR_RT(co_begin)(sr_at);
void SR_RT(co_call)(sr_at, struct sr_co *, struct sr_invocation *);
void SR_RT(co_send)(sr_at, struct sr_co *, struct sr_invocation *);
/* Something that was done at once, such as a V: completes now. */
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
/* The next that has completed, latest first among those that have; null when all were taken. Switches. */
SR_INLINE struct sr_invocation *sr_co_wait(sr_at at, struct sr_co *co) { return (struct sr_invocation *)SR_GATE(co_wait, at, co, 0, 0); }

/* ---- components --------------------------------------------------------------------------------------------------------------------- */

/* create: waits until the body ends or replies. Switches. */
SR_INLINE sr_resource sr_create(sr_at at, const struct sr_component *component, const void *parameters, size_t bytes)
{
    struct sr_instance *i = (struct sr_instance *)SR_GATE(create, at, component, parameters, bytes);
    return (sr_resource){i, i->serial};
}
/* destroy: runs the final, ends the instance's processes and operations. Switches; does not return to a process of the instance itself. */
SR_INLINE void sr_destroy(sr_at at, sr_resource r) { SR_GATE(destroy, at, r.instance, r.serial, 0); }
/* import of a global, at the beginning of the importer's body: makes it if it is not there. Switches. */
SR_INLINE void sr_need_global(sr_at at, const struct sr_component *component)
{
    SR_GATE(need_global, at, component, 0, 0);
}
/* reply in the body (or the final) of a component. */
void SR_RT(reply_body)(sr_at);
#define sr_reply_body SR_RT(reply_body)

/* ---- processes ---------------------------------------------------------------------------------------------------------------------- */

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
/* age(): milliseconds since the start. */
int32_t SR_RT(age)(void);
#define sr_age SR_RT(age)
/* stop, stop(code): finals run if the code is 0. Does not return. */
SR_INLINE void sr_stop(sr_at at, int32_t code)
{
    SR_GATE(stop, at, code, 0, 0);
    __builtin_unreachable();
}
/* The calling process, and those it starts, belong to a region from now on. May switch. */
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
    /* Leaves all registers alone, so that the loop keeps its variables in them. */
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
/* The head of a `do` that reads what other processes may write: it is read anew. No instruction is added. SR_LOOP does the same where it does something. */
#define SR_LOOK_AGAIN() __asm__ volatile("" : : : "memory")

/* Around a call of an external C function: SR_EXTERNAL_BEGIN(); x = f(a); SR_EXTERNAL_END(). Output is written out first; no tick switches inside. */
void SR_RT(enter_external)(void);
#define SR_EXTERNAL_BEGIN() SR_RT(enter_external)()
#define SR_EXTERNAL_END() ((void)SR_GATE(leave_external, 0, 0, 0, 0))

#endif
