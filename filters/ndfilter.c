#include "ndfilter.h"
