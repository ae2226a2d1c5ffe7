#include "libkvclient/python/binding/gil.h"

#include <unistd.h>

namespace kvtier::python {

void stay_for_good() noexcept {
  while (true) ::pause();
}

}  // namespace kvtier::python
