#include "features.h"
const struct kit_test *const kit_tables[] = {NULL};
