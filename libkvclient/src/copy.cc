// kvc_copy: the library's way to copy blocks, for its users.

#include "kvclient/kvclient.h"
#include "libkvclient/base/stream_copy.h"

extern "C" void kvc_copy(void* to, const void* from, size_t bytes) {
  kvtier::stream_copy(to, from, bytes);
}
