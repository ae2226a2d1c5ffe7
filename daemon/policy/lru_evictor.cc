#include "daemon/policy/lru_evictor.h"

namespace kvtier {

void LruEvictor::access(BlockId block) {
  if (block == list_.hottest()) return;
  remove(block);
  list_.push_hottest(block);
}

void LruEvictor::remove(BlockId block) {
  if (mark() == block) set_mark(list_.after(block));
  list_.remove(block);
}

}  // namespace kvtier
