#include "nddesign.h"
