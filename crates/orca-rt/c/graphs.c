/* Graphs: nodes under names of an index and an age.
 *
 *     slots  [node, age 1] [free, age 3, next 4] [node, age 2] [free, age 2, next 0]
 *     free = 2
 *
 * A deleted node's slot gets older, so that no later node has its name. Copies have the same slots
 * and the same chain of free ones: what is added to both gets the same name. */
#include <stdlib.h>

#include "internal.h"

static struct orca_slot *slot_at(const struct orca_graph_body *body, uint32_t index)
{
    return &body->slots[index - 1];
}

static uint32_t new_slot(orca_at at, struct orca_graph_body *body)
{
    if (body->count == body->capacity) {
        uint32_t capacity = body->capacity ? 2 * body->capacity : 8;
        if (body->capacity > UINT32_MAX / 4)
            orca_fail(at, ORCA_LIMIT, "out of memory", "a graph has %u nodes", body->count);
        struct orca_slot *slots = orca_allocate(at, capacity, sizeof *slots);
        if (body->count)
            memcpy(slots, body->slots, body->count * sizeof *slots);
        free(body->slots);
        body->slots = slots;
        body->capacity = capacity;
    }
    uint32_t index = ++body->count;
    *slot_at(body, index) = (struct orca_slot){NULL, 1, 0};
    return index;
}

orca_node orca_graph_add(orca_at at, const struct orca_type *type, orca_graph *graph)
{
    if (!graph->body)
        graph->body = orca_allocate(at, 1, sizeof(struct orca_graph_body));
    struct orca_graph_body *body = graph->body;
    void *node = orca_allocate(at, 1, type->element->size);
    orca_init(type->element, node);
    uint32_t index = body->free;
    if (index)
        body->free = slot_at(body, index)->next;
    else
        index = new_slot(at, body);
    slot_at(body, index)->node = node;
    slot_at(body, index)->next = 0;
    body->live++;
    return (orca_node){index, slot_at(body, index)->age};
}

void orca_graph_delete(orca_at at, const struct orca_type *type, orca_graph *graph, orca_node name)
{
    void *node = orca_graph_node(at, graph, name);
    uint32_t index = name.index;
    struct orca_slot *slot = slot_at(graph->body, index);
    slot->node = NULL;
    graph->body->live--;
    orca_destroy(type->element, node);
    free(node);
    if (slot->age == UINT32_MAX)
        return; /* No name is left for this slot. */
    slot->age++;
    slot->next = graph->body->free;
    graph->body->free = index;
}

void orca_graph_copy(const struct orca_type *type, orca_graph *to, const orca_graph *from)
{
    const struct orca_graph_body *old = from->body;
    to->body = NULL;
    if (!old)
        return;
    struct orca_graph_body *body = orca_allocate(NULL, 1, sizeof *body);
    *body = *old;
    body->capacity = old->count;
    body->slots = orca_allocate(NULL, old->count, sizeof *body->slots);
    for (uint32_t i = 0; i < old->count; i++) {
        body->slots[i] = old->slots[i];
        if (old->slots[i].node) {
            body->slots[i].node = orca_allocate(NULL, 1, type->element->size);
            orca_copy(type->element, body->slots[i].node, old->slots[i].node);
        }
    }
    to->body = body;
}

void orca_graph_destroy(const struct orca_type *type, orca_graph *graph)
{
    struct orca_graph_body *body = graph->body;
    if (!body)
        return;
    for (uint32_t i = 0; i < body->count; i++)
        if (body->slots[i].node) {
            orca_destroy(type->element, body->slots[i].node);
            free(body->slots[i].node);
        }
    free(body->slots);
    free(body);
    graph->body = NULL;
}

bool orca_graph_holds(const struct orca_type *type, const orca_graph *graph, const void *address)
{
    const struct orca_graph_body *body = graph->body;
    for (uint32_t i = 0; body && i < body->count; i++)
        if (body->slots[i].node && orca_holds(type->element, body->slots[i].node, address))
            return true;
    return false;
}

/* The number of slots, the first free one, and of each slot its age, and its node or the next
 * free one. */
void orca_graph_put(const struct orca_type *type, const orca_graph *graph,
                    struct orca_writer *writer)
{
    const struct orca_graph_body *body = graph->body;
    orca_put_number(writer, body ? body->count : 0, 4);
    orca_put_number(writer, body ? body->free : 0, 4);
    for (uint32_t i = 0; body && i < body->count; i++) {
        const struct orca_slot *slot = &body->slots[i];
        orca_put_number(writer, slot->age, 4);
        orca_put_number(writer, slot->node != NULL, 1);
        if (slot->node)
            orca_put(type->element, slot->node, writer);
        else
            orca_put_number(writer, slot->next, 4);
    }
}

static bool get_slot(const struct orca_type *type, struct orca_graph_body *body,
                     struct orca_reader *reader)
{
    uint64_t age, is_there, next;
    if (!orca_get_number(reader, &age, 4) || !orca_get_number(reader, &is_there, 1))
        return false;
    if (!age || is_there > 1)
        return orca_wrong(reader, "a node of a graph has no age");
    struct orca_slot *slot = slot_at(body, new_slot(NULL, body));
    slot->age = (uint32_t)age;
    if (!is_there) {
        if (!orca_get_number(reader, &next, 4))
            return false;
        slot->next = (uint32_t)next;
        return true;
    }
    void *node = orca_allocate(NULL, 1, type->element->size);
    if (!orca_get(type->element, node, reader)) {
        free(node);
        return false;
    }
    slot->node = node;
    body->live++;
    return true;
}

/* Each free slot is in the chain at most once, and no other is. */
static bool has_sound_chain(const struct orca_graph_body *body)
{
    uint32_t dead = body->count - body->live, steps = 0;
    for (uint32_t index = body->free; index; index = slot_at(body, index)->next) {
        if (index > body->count || slot_at(body, index)->node || ++steps > dead)
            return false;
    }
    return true;
}

bool orca_graph_get(const struct orca_type *type, orca_graph *graph, struct orca_reader *reader)
{
    uint64_t count, free;
    graph->body = NULL;
    if (!orca_get_number(reader, &count, 4) || !orca_get_number(reader, &free, 4))
        return false;
    struct orca_graph_body *body = orca_allocate(NULL, 1, sizeof *body);
    graph->body = body;
    body->free = (uint32_t)free;
    bool is_right = true;
    for (uint64_t i = 0; i < count && is_right; i++)
        is_right = get_slot(type, body, reader);
    if (is_right && !has_sound_chain(body))
        is_right = orca_wrong(reader, "the free nodes of a graph are not in one chain");
    if (!is_right)
        orca_graph_destroy(type, graph);
    return is_right;
}
