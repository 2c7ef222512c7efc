/* Values of SR in C: strings, arrays, conversions, arithmetic, and input and output. Included by sr.h. */
#ifndef ANTIPHON_SR_VALUES_H
#define ANTIPHON_SR_VALUES_H

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
SR_INLINE struct sr_array1 sr_chars_of_text(sr_text t) { return (struct sr_array1){(char *)t.data, {{1, t.length, 1}}}; }
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

#endif
