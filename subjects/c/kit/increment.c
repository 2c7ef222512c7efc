/* Alone in its unit: whoever calls it must not see what it does. */
#include "kit.h"

uint64_t kit_increment(uint64_t index)
{
    return index + 1;
}
