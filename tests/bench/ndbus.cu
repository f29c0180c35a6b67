/* The rate of the bus: copies a block of pinned memory to the device and back,
 * in both directions at once. Prints the volumes per second for each number of
 * BYTES as one JSON object.
 *
 *   ndbus BYTES...
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                     \
  do {                                                                  \
    cudaError_t result = call;                                          \
    if (result != cudaSuccess) {                                        \
      fprintf (stderr, "%s: %s\n", #call, cudaGetErrorString (result)); \
      exit (1);                                                         \
    }                                                                   \
  } while (0)

static double
rate (size_t bytes, bool up, bool down)
{
  const int n = 300;
  cudaStream_t streams[2];
  cudaEvent_t begin, end[2];
  void *host[2], *device[2];
  float ms[2] = { 0, 0 };

  CHECK (cudaEventCreate (&begin));
  for (int i = 0; i < 2; i++) {
    CHECK (cudaStreamCreateWithFlags (&streams[i], cudaStreamNonBlocking));
    CHECK (cudaEventCreate (&end[i]));
    CHECK (cudaMallocHost (&host[i], bytes));
    CHECK (cudaMalloc (&device[i], bytes));
  }
  CHECK (cudaEventRecord (begin, streams[0]));
  CHECK (cudaStreamWaitEvent (streams[1], begin));
  for (int i = 0; i < n; i++) {
    if (up)
      CHECK (cudaMemcpyAsync (device[0], host[0], bytes, cudaMemcpyHostToDevice,
          streams[0]));
    if (down)
      CHECK (cudaMemcpyAsync (host[1], device[1], bytes, cudaMemcpyDeviceToHost,
          streams[1]));
  }
  for (int i = 0; i < 2; i++) {
    CHECK (cudaEventRecord (end[i], streams[i]));
    CHECK (cudaEventSynchronize (end[i]));
    CHECK (cudaEventElapsedTime (&ms[i], begin, end[i]));
    CHECK (cudaFreeHost (host[i]));
    CHECK (cudaFree (device[i]));
  }
  return n * 1e3 / (ms[0] > ms[1] ? ms[0] : ms[1]);
}

int
main (int argc, char **argv)
{
  cudaDeviceProp properties;

  CHECK (cudaGetDeviceProperties (&properties, 0));
  for (int i = 1; i < argc; i++) {
    const size_t bytes = strtoull (argv[i], nullptr, 10);

    rate (bytes, true, true);
    printf ("{\"work\": \"bus\", \"device\": \"%s\", \"bytes\": %zu, "
            "\"up_per_s\": %.1f, \"down_per_s\": %.1f, \"both_per_s\": %.1f}\n",
        properties.name, bytes, rate (bytes, true, false),
        rate (bytes, false, true), rate (bytes, true, true));
  }
  return 0;
}
