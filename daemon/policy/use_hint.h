#pragma once
// What an engine can tell of the next use of a prompt's blocks when its answer is complete.

#include <cstdint>

namespace kvtier {

enum class UseHint : std::uint8_t {
  kNone,
  kToolCall,      ///< the model called a tool: the next request comes with its result
  kTurnEnded,     ///< it is the user's turn
  kSessionEnded,  ///< nobody continues it
};
inline constexpr std::uint32_t kUseHints = 3;  ///< beside kNone

}  // namespace kvtier
