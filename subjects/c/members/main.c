/* A member in a process of its own: member NAME RANK, as the leader has it started when it is about to come. */
#include "members.h"

#include <stdlib.h>

#define PATIENCE_MS 20000

int main(int count, char **word)
{
    if (count != 3)
        member_fail("the leader starts this program: member NAME RANK");
    member_serve(word[1], (unsigned)strtoul(word[2], NULL, 10), PATIENCE_MS);
    return EXIT_SUCCESS;
}
