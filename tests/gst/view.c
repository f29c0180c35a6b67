#include <gst/check/gstcheck.h>
int main (void) { return 1; }
