// The header is C++, too, and links.
#include <panda.h>

int main()
{
    return panda_status_name(PANDA_OK)[0] == 'P' && panda_last_rank() == PANDA_ANY ? 0 : 1;
}
