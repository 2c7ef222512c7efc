/* A member: mpirun has told it its rank. */
#include "start.h"

#include <stdlib.h>

int main(void)
{
    char name[NAME_BYTES];
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank)
        member_fail("start it by mpirun, as `run` in subject.toml does");
    end_with_parent();
    members_name(name);
    member_serve(name, (unsigned)strtoul(rank, NULL, 10), -1); /* mpirun ends whom the leader does not come to */
    return EXIT_SUCCESS;
}
