#include "kit.h"
