/* A member: mpirun has told it its rank. */
#include "start.h"

#include <stdlib.h>

int main(void)
{
    char name[NAME_BYTES];
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank)
        member_fail("start it by mpirun, as `run` in subject.toml does");
    members_name(name);
    member_serve(name, (unsigned)strtoul(rank, NULL, 10));
    return EXIT_SUCCESS;
}
