/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/context.h"

#include "core/log.h"

#include <gmodule.h>
#include <map>
#include <sstream>

namespace nd
{

namespace
{

/* Functions of the driver library, which is opened at run time so that the
 * module can be loaded on machines that lack it. */
struct Driver
{
  CUresult (*init) (unsigned);
  CUresult (*create) (CUcontext *, unsigned, CUdevice);
  CUresult (*destroy) (CUcontext);
  CUresult (*push) (CUcontext);
  CUresult (*pop) (CUcontext *);
  CUresult (*current) (CUcontext *);
  CUresult (*device) (CUdevice *);
  CUresult (*attributes) (unsigned, CUpointer_attribute *, void **,
      CUdeviceptr);
  CUresult (*can_access) (int *, CUdevice, CUdevice);
  CUresult (*enable_access) (CUcontext, unsigned);
};

Driver
open_driver ()
{
  GModule *module = g_module_open ("libcuda.so.1", G_MODULE_BIND_LOCAL);
  Driver d;
  const struct
  {
    const char *name;
    void *function;
  } symbols[] = {
    { "cuInit", &d.init },
    { "cuCtxCreate_v2", &d.create },
    { "cuCtxDestroy_v2", &d.destroy },
    { "cuCtxPushCurrent_v2", &d.push },
    { "cuCtxPopCurrent_v2", &d.pop },
    { "cuCtxGetCurrent", &d.current },
    { "cuCtxGetDevice", &d.device },
    { "cuPointerGetAttributes", &d.attributes },
    { "cuDeviceCanAccessPeer", &d.can_access },
    { "cuCtxEnablePeerAccess", &d.enable_access },
  };

  for (const auto &symbol : symbols) {
    if (!module
        || !g_module_symbol (module, symbol.name, (gpointer *) symbol.function))
      throw Error (ND_ERROR_INIT,
          std::string ("The NVIDIA driver lacks ") + symbol.name
              + ": use backend=cpu, or install a newer one");
  }
  g_module_make_resident (module);
  if (d.init (0) != CUDA_SUCCESS)
    throw Error (ND_ERROR_INIT,
        "The NVIDIA driver does not start: use backend=cpu");
  return d;
}

const Driver &
driver ()
{
  static const Driver d = open_driver ();

  return d;
}

void
check_driver (CUresult result, const char *call)
{
  check (static_cast<cudaError_t> (result), call);
}

/* The back end keeps its own contexts until the process ends or an error makes
 * them unusable. It knows contexts of applications while rings use them. */
struct Known
{
  std::mutex lock;
  std::map<int, ContextPointer> own;
  std::map<CUcontext, std::weak_ptr<Context>> others;
};

Known &
known ()
{
  /* Never destroyed, because the driver is shut down first. */
  static Known *k = new Known;

  return *k;
}

/* 12040 as 12.4. */
std::string
release (int version)
{
  return std::to_string (version / 1000) + "."
      + std::to_string (version % 1000 / 10);
}

std::vector<int>
built_for ()
{
  std::istringstream list (ND_ARCHITECTURES);
  std::vector<int> all;

  for (std::string one; std::getline (list, one, ',');)
    all.push_back (std::stoi (one));
  return all;
}

/* An unusable context answers every call with the error that made it so. */
bool
is_usable (const Context &context)
{
  const ScopedContext scope (context);
  size_t unused, all;
  const bool usable = cudaMemGetInfo (&unused, &all) == cudaSuccess;

  cudaGetLastError ();
  return usable;
}

/* Connects @context with those of other devices. Call with the lock held. */
void
connect (const Context &context)
{
  const auto both = [&] (const ContextPointer &other) {
    if (!other || other->device == context.device)
      return;
    context.enable_access (*other);
    other->enable_access (context);
  };

  for (const auto &own : known ().own)
    both (own.second);
  for (const auto &other : known ().others)
    both (other.second.lock ());
}

} // namespace

int
choose_device (int wanted)
{
  int count = 0, version = 0, wanted_version = 0;

  cudaDriverGetVersion (&version);
  if (version == 0)
    throw Error (ND_ERROR_INIT,
        "There is no NVIDIA driver on this machine: use backend=cpu, or "
        "install the driver");

  const cudaError_t result = cudaGetDeviceCount (&count);

  cudaGetLastError ();
  cudaRuntimeGetVersion (&wanted_version);
  if (result == cudaErrorInsufficientDriver)
    throw Error (ND_ERROR_INIT,
        "The NVIDIA driver supports CUDA " + release (version) + ", but CUDA "
            + release (wanted_version / 1000 * 1000)
            + " is needed: use backend=cpu, or install a newer driver");
  if (result != cudaSuccess && result != cudaErrorNoDevice)
    throw Error (ND_ERROR_INIT,
        std::string ("The NVIDIA driver does not start (")
            + cudaGetErrorString (result)
            + "): use backend=cpu, or restart the machine if the driver was "
              "updated");
  if (count == 0)
    throw Error (ND_ERROR_INIT,
        "There is no NVIDIA GPU that the driver can use: use backend=cpu");
  if (wanted >= count)
    throw Error (ND_ERROR_NOT_FOUND,
        "There is no GPU with device-id=" + std::to_string (wanted)
            + ": this machine has " + std::to_string (count)
            + ", counted from 0");
  return wanted < 0 ? 0 : wanted;
}

bool
has_code (const std::vector<int> &built, int capability)
{
  const auto tegra = [] (int one) { return one == 72 || one == 87; };
  bool has = capability >= built.back ();

  for (int one : built)
    has |= one == capability
        || (!tegra (one) && !tegra (capability) && one / 10 == capability / 10
            && one < capability);
  return has;
}

void
check_code (int device)
{
  std::string list;
  int major, minor;

  ND_CUDA (cudaDeviceGetAttribute (&major, cudaDevAttrComputeCapabilityMajor,
      device));
  ND_CUDA (cudaDeviceGetAttribute (&minor, cudaDevAttrComputeCapabilityMinor,
      device));

  const std::vector<int> built = built_for ();

  if (has_code (built, 10 * major + minor))
    return;
  for (int one : built)
    list += (list.empty () ? "" : ", ") + std::to_string (one / 10) + "."
        + std::to_string (one % 10);
  throw Error (ND_ERROR_INIT,
      "The CUDA back end has no code for this GPU of compute capability "
          + std::to_string (major) + "." + std::to_string (minor) + ", but for "
          + list
          + ": use backend=cpu, or build with -Dcuda-architectures for it");
}

Context::Context (CUcontext handle, int device, bool own)
    : device (device), handle (handle), own (own)
{
}

Context::~Context ()
{
  enter ();
  for (const auto &pool : events)
    for (cudaEvent_t event : pool)
      cudaEventDestroy (event);
  leave ();
  if (own)
    driver ().destroy (handle);
  cudaGetLastError ();
}

ContextPointer
Context::make_own (int device)
{
  CUcontext handle, popped;

  const CUresult result = driver ().create (&handle, CU_CTX_SCHED_AUTO, device);

  if (result == CUDA_ERROR_OUT_OF_MEMORY)
    throw Error (ND_ERROR_MEMORY,
        "Other programs have taken nearly all memory of the GPU: use "
        "backend=cpu");
  check_driver (result, "cuCtxCreate");
  check_driver (driver ().pop (&popped), "cuCtxPopCurrent");
  ND_INFO ("made a context on device %d", device);
  return std::make_shared<Context> (handle, device, true);
}

void
Context::check_usable (int device)
{
  const cudaError_t lost = context_error;
  CUcontext handle, popped;

  if (lost == cudaSuccess)
    return;
  if (driver ().create (&handle, CU_CTX_SCHED_AUTO, device) != CUDA_SUCCESS)
    throw Error (ND_ERROR_INIT,
        std::string ("This process lost the GPU to the error \"")
            + cudaGetErrorString (lost) + "\" (" + std::to_string (lost)
            + "): restart the program, or use backend=cpu or auto");
  driver ().pop (&popped);
  driver ().destroy (handle);
  context_error = cudaSuccess;
}

ContextPointer
Context::get (int wanted)
{
  const int device = choose_device (wanted);
  const std::lock_guard<std::mutex> guard (known ().lock);
  CUcontext handle = nullptr;
  CUdevice its;

  check_driver (driver ().current (&handle), "cuCtxGetCurrent");
  if (handle && driver ().device (&its) == CUDA_SUCCESS
      && (wanted < 0 || its == device)) {
    for (auto &own : known ().own) {
      if (own.second->handle == handle)
        return own.second;
    }
    std::weak_ptr<Context> &other = known ().others[handle];
    ContextPointer context = other.lock ();

    if (!context) {
      other = context = std::make_shared<Context> (handle, its, false);
      ND_INFO ("using the application's context on device %d", its);
      connect (*context);
    }
    return context;
  }
  ContextPointer &own = known ().own[device];

  if (own && is_usable (*own))
    return own;
  own = make_own (device);
  connect (*own);
  return own;
}

void
Context::enter () const
{
  driver ().push (handle);
}

void
Context::leave ()
{
  CUcontext popped;

  driver ().pop (&popped);
}

bool
Context::knows (const void *data)
{
  CUpointer_attribute names[] = { CU_POINTER_ATTRIBUTE_MEMORY_TYPE };
  CUmemorytype type = static_cast<CUmemorytype> (0);
  void *values[] = { &type };

  /* The call also succeeds for pointers that the driver does not know. */
  check_driver (driver ().attributes (1, names, values,
                    reinterpret_cast<CUdeviceptr> (data)),
      "cuPointerGetAttributes");
  return type != static_cast<CUmemorytype> (0);
}

Context::Place
Context::place_of (const void *data) const
{
  CUpointer_attribute names[] = { CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
    CU_POINTER_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL };
  CUmemorytype type = static_cast<CUmemorytype> (0);
  CUcontext its = nullptr;
  int ordinal = -1;
  void *values[] = { &type, &its, &ordinal };

  /* The call also succeeds for pointers that the driver does not know. */
  check_driver (driver ().attributes (3, names, values,
                    reinterpret_cast<CUdeviceptr> (data)),
      "cuPointerGetAttributes");
  /* Memory of a pool and mapped memory have a device and no context. */
  if (type != CU_MEMORYTYPE_DEVICE)
    return HOST;
  return (its ? its == handle : ordinal == device) ? HERE : ELSEWHERE;
}

void
Context::enable_access (const Context &other) const
{
  int possible = 0;

  if (driver ().can_access (&possible, device, other.device) != CUDA_SUCCESS
      || !possible)
    return;
  const ScopedContext scope (*this);
  const CUresult result = driver ().enable_access (other.handle, 0);

  if (result == CUDA_SUCCESS)
    ND_INFO ("device %d reads memory of device %d directly", device,
        other.device);
  else if (result != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
    ND_INFO ("device %d copies from device %d through the host: error %d",
        device, other.device, result);
}

Event::Event (Context &context, bool timed) : context (&context), timed (timed)
{
  const std::lock_guard<std::mutex> guard (context.lock);
  std::vector<cudaEvent_t> &events = context.events[timed];

  if (events.empty ()) {
    ND_CUDA (cudaEventCreateWithFlags (&handle,
        timed ? cudaEventDefault : cudaEventDisableTiming));
    return;
  }
  handle = events.back ();
  events.pop_back ();
}

Event::~Event ()
{
  if (!handle)
    return;
  const std::lock_guard<std::mutex> guard (context->lock);

  context->events[timed].push_back (handle);
}

void
Event::record (cudaStream_t stream) const
{
  ND_CUDA (cudaEventRecord (handle, stream));
}

void
Event::make_wait (cudaStream_t stream) const
{
  ND_CUDA (cudaStreamWaitEvent (stream, handle));
}

} // namespace nd
