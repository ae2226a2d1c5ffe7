#pragma once
// The options of `kvsim longcontext`.

#include "tools/kvsim/longcontext.h"

namespace CLI {
class App;
}

namespace kvtier::sim {

CLI::App* longcontext_add(CLI::App& app, LongContextOptions& to);

}  // namespace kvtier::sim
