/* Alone in its unit: whoever calls it must not see what it does. */
#include "kit.h"

void kit_increment(uint64_t *index)
{
    ++*index;
}
