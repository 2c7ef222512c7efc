/* Graphs: names of nodes live in copies, and die with their nodes. */
#include "test.h"

static QueueNode *at(Queue *queue, orca_node name)
{
    return orca_graph_node(here, &queue->graph, name);
}

static bool is_nil(orca_node name) { return ORCA_SAME_NODE(name, ORCA_NIL); }

/* Adds a node to both. Returns whether they have the same name. */
static bool add_alike(Queue *a, Queue *b)
{
    orca_node one = orca_graph_add(here, &queue_type, &a->graph);
    orca_node other = orca_graph_add(here, &queue_type, &b->graph);
    return ORCA_SAME_NODE(one, other);
}

static void names_are_not_addresses(void)
{
    Queue a, b;
    orca_init(&queue_type, &a);
    orca_node one = orca_graph_add(here, &queue_type, &a.graph);
    orca_node two = orca_graph_add(here, &queue_type, &a.graph);
    CHECK(!ORCA_SAME_NODE(one, two) && !is_nil(one));
    CHECK(is_nil(at(&a, one)->next) && ORCA_UB(&at(&a, one)->job.route, 0) == 2);
    a.first = one;
    at(&a, one)->next = two;
    at(&a, two)->job.cost = 7;
    orca_copy(&queue_type, &b, &a);
    at(&a, two)->job.cost = 8;
    CHECK(at(&b, at(&b, b.first)->next)->job.cost == 7);
    orca_graph_delete(here, &queue_type, &a.graph, two);
    CHECK(at(&b, two)->job.cost == 7);
    /* A new node in the old place has a new name. */
    orca_node three = orca_graph_add(here, &queue_type, &a.graph);
    CHECK(!ORCA_SAME_NODE(three, two) && three.index == two.index);
    static const char stale[] = "the graph has no such node, or no longer";
    FAILS("bad nodename", stale, at(&a, two));
    FAILS("bad nodename", stale, at(&b, three));
    FAILS("bad nodename", "it is NIL", at(&a, ORCA_NIL));
    FAILS("bad nodename", stale, at(&a, ((orca_node){77, 1})));
    FAILS("bad nodename", stale, orca_graph_delete(here, &queue_type, &a.graph, two));
    orca_assign(&queue_type, &a, &b);
    orca_assign(&queue_type, &a, &a);
    CHECK(at(&a, two)->job.cost == 7);
    orca_destroy(&queue_type, &a);
    FAILS("bad nodename", stale, at(&a, one));
    orca_destroy(&queue_type, &b);
}

static void copies_give_the_same_names(void)
{
    Queue a, b;
    orca_node names[40];
    orca_init(&queue_type, &a);
    for (int i = 0; i < 40; i++)
        names[i] = orca_graph_add(here, &queue_type, &a.graph);
    for (int i = 0; i < 40; i += 3)
        orca_graph_delete(here, &queue_type, &a.graph, names[i]);
    orca_copy(&queue_type, &b, &a);
    for (int i = 0; i < 20; i++)
        CHECK(add_alike(&a, &b));
    orca_destroy(&queue_type, &a);
    orca_destroy(&queue_type, &b);
}

static void a_long_queue_needs_no_more_room(void)
{
    Queue queue;
    orca_init(&queue_type, &queue);
    orca_node last = ORCA_NIL;
    for (int i = 0; i < 10000; i++) {
        orca_node name = orca_graph_add(here, &queue_type, &queue.graph);
        orca_string_set(&at(&queue, name)->job.name, "job", 3);
        if (!is_nil(last))
            orca_graph_delete(here, &queue_type, &queue.graph, last);
        last = name;
    }
    CHECK(queue.graph.body->count == 2 && queue.graph.body->live == 1);
    orca_destroy(&queue_type, &queue);
}

static void a_slot_ends_with_its_ages(void)
{
    Queue queue;
    orca_init(&queue_type, &queue);
    orca_graph_add(here, &queue_type, &queue.graph);
    queue.graph.body->slots[0].age = UINT32_MAX;
    orca_graph_delete(here, &queue_type, &queue.graph, (orca_node){1, UINT32_MAX});
    CHECK(orca_graph_add(here, &queue_type, &queue.graph).index == 2);
    orca_destroy(&queue_type, &queue);
}

int main(void)
{
    names_are_not_addresses();
    copies_give_the_same_names();
    a_long_queue_needs_no_more_room();
    a_slot_ends_with_its_ages();
    return failures != 0;
}
