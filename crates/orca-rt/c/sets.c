/* Sets and bags: members in the order in which they came, found by a table of hashes.
 *
 *     table    0 2 0 1 3 0 0 0      number of an entry from 1, or 0; linear probing
 *     entries  [a ×1] [b ×0] [c ×2]  ×0: it was taken out
 *     members   a      zeros  c
 *
 * An entry that is taken out keeps its place in the table until all are laid out anew. */
#include <stdlib.h>

#include "internal.h"

struct entry {
    uint64_t hash, times;
};

struct orca_set_body {
    struct entry *entries;
    char *members;
    uint32_t *table;
    uint32_t used, capacity; /* entries; the table has twice the capacity */
    uint32_t live;           /* entries that are not removed */
    uint32_t first;          /* no entry before it is live */
    uint64_t total;          /* members by their counts */
};

enum { LEAST = 8, MOST = 1 << 30 };

static char *member_of(const struct orca_type *type, const struct orca_set_body *body,
                       uint32_t entry)
{
    return body->members + (size_t)entry * type->element->size;
}

static uint32_t table_mask(const struct orca_set_body *body) { return 2 * body->capacity - 1; }

static void enter(struct orca_set_body *body, uint32_t entry)
{
    uint32_t at = (uint32_t)body->entries[entry].hash & table_mask(body);
    while (body->table[at])
        at = (at + 1) & table_mask(body);
    body->table[at] = entry + 1;
}

/* Lays the live entries out again, with room for as many more. */
static void lay_out(const struct orca_type *type, struct orca_set_body *body)
{
    size_t size = type->element->size;
    struct orca_set_body old = *body;
    uint32_t capacity = LEAST;
    while (capacity < 2 * old.live && capacity < MOST)
        capacity *= 2;
    if (old.live >= MOST)
        orca_fail(NULL, ORCA_LIMIT, "out of memory", "a set has %u members", old.live);
    body->capacity = capacity;
    body->entries = orca_allocate(NULL, capacity, sizeof(struct entry));
    body->members = orca_allocate(NULL, capacity, size);
    body->table = orca_allocate(NULL, 2 * (size_t)capacity, sizeof(uint32_t));
    body->used = body->first = 0;
    for (uint32_t i = old.first; i < old.used; i++)
        if (old.entries[i].times) {
            body->entries[body->used] = old.entries[i];
            memcpy(member_of(type, body, body->used), old.members + (size_t)i * size, size);
            enter(body, body->used++);
        }
    free(old.entries);
    free(old.members);
    free(old.table);
}

static struct entry *find(const struct orca_type *type, const struct orca_set_body *body,
                          const void *member, uint64_t hash)
{
    if (!body || !body->live)
        return NULL;
    for (uint32_t at = (uint32_t)hash & table_mask(body); body->table[at];
         at = (at + 1) & table_mask(body)) {
        uint32_t number = body->table[at] - 1;
        struct entry *entry = &body->entries[number];
        if (entry->times && entry->hash == hash &&
            orca_equal(type->element, member_of(type, body, number), member))
            return entry;
    }
    return NULL;
}

static uint64_t times_of(const struct orca_type *type, const orca_set *set, const void *member,
                         uint64_t hash)
{
    const struct entry *entry = find(type, set->body, member, hash);
    return entry ? entry->times : 0;
}

/* Returns a place for a new member at the end. */
static void *append(const struct orca_type *type, orca_set *set, uint64_t hash, uint64_t times)
{
    if (!set->body)
        set->body = orca_allocate(NULL, 1, sizeof(struct orca_set_body));
    struct orca_set_body *body = set->body;
    if (body->used == body->capacity)
        lay_out(type, body);
    uint32_t number = body->used++;
    body->entries[number] = (struct entry){hash, times};
    enter(body, number);
    body->live++;
    body->total += times;
    return member_of(type, body, number);
}

static void add(const struct orca_type *type, orca_set *set, const void *member, uint64_t hash,
                uint64_t times)
{
    struct entry *entry = find(type, set->body, member, hash);
    if (!entry) {
        orca_copy(type->element, append(type, set, hash, times), member);
    } else if (type->kind == ORCA_BAG) {
        entry->times += times;
        set->body->total += times;
    }
}

/* Removes one of an entry. With the last one, moves its member away or destroys it. */
static void take(const struct orca_type *type, struct orca_set_body *body, struct entry *entry,
                 void *to)
{
    char *member = member_of(type, body, (uint32_t)(entry - body->entries));
    entry->times--;
    body->total--;
    if (entry->times) {
        if (to)
            orca_copy(type->element, to, member);
        return;
    }
    body->live--;
    if (to) {
        memcpy(to, member, type->element->size);
        memset(member, 0, type->element->size);
    } else {
        orca_destroy(type->element, member);
    }
}

void orca_set_insert(orca_at at, const struct orca_type *type, orca_set *set, const void *member)
{
    (void)at;
    add(type, set, member, orca_hash(type->element, member), 1);
}

void orca_set_delete(const struct orca_type *type, orca_set *set, const void *member)
{
    struct entry *entry = find(type, set->body, member, orca_hash(type->element, member));
    if (entry)
        take(type, set->body, entry, NULL);
}

bool orca_set_has(const struct orca_type *type, const orca_set *set, const void *member)
{
    return find(type, set->body, member, orca_hash(type->element, member)) != NULL;
}

int32_t orca_set_size(const orca_set *set)
{
    uint64_t total = set->body ? set->body->total : 0;
    return total > INT32_MAX ? INT32_MAX : (int32_t)total;
}

void orca_set_from(orca_at at, const struct orca_type *type, orca_set *set, void *member)
{
    struct orca_set_body *body = set->body;
    if (!body || !body->live)
        orca_runtime_error(at, ORCA_ERROR, "FROM on empty set or bag", "");
    while (!body->entries[body->first].times)
        body->first++;
    take(type, body, &body->entries[body->first], member);
}

/* Calls the rest of the line for each entry of a set. */
#define EACH(i, set)                                                                              \
    for (uint32_t i = (set)->body ? (set)->body->first : 0; (set)->body && i < (set)->body->used; \
         i++)                                                                                     \
        if ((set)->body->entries[i].times)

void orca_set_copy(const struct orca_type *type, orca_set *to, const orca_set *from)
{
    orca_set copy = {NULL};
    EACH(i, from)
    {
        const struct entry *entry = &from->body->entries[i];
        void *place = append(type, &copy, entry->hash, entry->times);
        orca_copy(type->element, place, member_of(type, from->body, i));
    }
    *to = copy;
}

void orca_set_destroy(const struct orca_type *type, orca_set *set)
{
    struct orca_set_body *body = set->body;
    if (!body)
        return;
    if (!type->element->is_plain)
        EACH(i, set) orca_destroy(type->element, member_of(type, body, i));
    free(body->entries);
    free(body->members);
    free(body->table);
    free(body);
    set->body = NULL;
}

bool orca_set_equal(const struct orca_type *type, const orca_set *left, const orca_set *right)
{
    uint32_t live = left->body ? left->body->live : 0;
    if (live != (right->body ? right->body->live : 0))
        return false;
    EACH(i, left)
    {
        const struct entry *entry = &left->body->entries[i];
        if (times_of(type, right, member_of(type, left->body, i), entry->hash) != entry->times)
            return false;
    }
    return true;
}

/* The hash does not depend on the order. */
uint64_t orca_set_hash(const struct orca_type *type, const orca_set *set)
{
    uint64_t hash = 6;
    (void)type;
    EACH(i, set) hash += set->body->entries[i].hash * set->body->entries[i].times;
    return hash;
}

/* For each member of one set, adds it `count(times in one, times in the other)` times. */
static void combine(const struct orca_type *type, orca_set *result, const orca_set *one,
                    const orca_set *other, uint64_t (*count)(uint64_t, uint64_t))
{
    EACH(i, one)
    {
        const struct entry *entry = &one->body->entries[i];
        const void *member = member_of(type, one->body, i);
        uint64_t there = times_of(type, other, member, entry->hash);
        uint64_t times = count(entry->times, there);
        if (times)
            add(type, result, member, entry->hash, times);
    }
}

static uint64_t own(uint64_t a, uint64_t b) { return (void)b, a; }
static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t more(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

void orca_set_combine(orca_at at, const struct orca_type *type, char operator, orca_set *result,
                      const orca_set *left, const orca_set *right)
{
    (void)at;
    result->body = NULL;
    switch (operator) {
    case '+':
        orca_set_copy(type, result, left);
        combine(type, result, right, left, own);
        break;
    case '*':
        combine(type, result, left, right, least);
        break;
    case '-':
        combine(type, result, left, right, more);
        break;
    default:
        combine(type, result, left, right, more);
        combine(type, result, right, left, more);
    }
}

const void *orca_set_next(const struct orca_type *type, const orca_set *set,
                          struct orca_cursor *cursor)
{
    const struct orca_set_body *body = set->body;
    for (; body && cursor->entry < body->used; cursor->entry++, cursor->times = 0)
        if (cursor->times < body->entries[cursor->entry].times) {
            cursor->times++;
            return member_of(type, body, (uint32_t)cursor->entry);
        }
    return NULL;
}

/* The number of entries, and for each its member and, for a bag, its count. */
void orca_set_put(const struct orca_type *type, const orca_set *set, struct orca_writer *writer)
{
    orca_put_number(writer, set->body ? set->body->live : 0, 4);
    EACH(i, set)
    {
        if (type->kind == ORCA_BAG)
            orca_put_number(writer, set->body->entries[i].times, 8);
        orca_put(type->element, member_of(type, set->body, i), writer);
    }
}

static bool get_entry(const struct orca_type *type, orca_set *set,
                      struct orca_reader *reader, void *member)
{
    uint64_t times = 1;
    if (type->kind == ORCA_BAG && !orca_get_number(reader, &times, 8))
        return false;
    if (!times || times > INT32_MAX)
        return orca_wrong(reader, "a count of a bag is out of range");
    if (!orca_get(type->element, member, reader))
        return false;
    uint64_t hash = orca_hash(type->element, member);
    if (find(type, set->body, member, hash)) {
        orca_destroy(type->element, member);
        return orca_wrong(reader, "a set or bag has a member twice");
    }
    memcpy(append(type, set, hash, times), member, type->element->size);
    return true;
}

bool orca_set_get(const struct orca_type *type, orca_set *set, struct orca_reader *reader)
{
    uint64_t count;
    if (!orca_get_number(reader, &count, 4))
        return false;
    void *member = orca_allocate(NULL, 1, type->element->size);
    bool is_right = true;
    for (uint64_t i = 0; i < count && is_right; i++)
        is_right = get_entry(type, set, reader, member);
    free(member);
    if (!is_right)
        orca_set_destroy(type, set);
    return is_right;
}
