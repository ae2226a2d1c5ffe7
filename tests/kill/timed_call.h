#pragma once
// Times every call of a worker, compares it with its deadline, and counts what it answered.

#include <cstdint>

#include "kvclient/kvclient.h"
#include "tests/kill/worker_cells.h"

namespace kvtier::kill {

class TimedCalls {
 public:
  TimedCalls(WorkerCell& cell, TimeNs deadline_ns) : cell_(cell), deadline_ns_(deadline_ns) {}

  /// Runs `call` (returns a kvc_code) as `verb`; `deadline_ns` 0: the client's default.
  template <class Call>
  int run(Verb verb, TimeNs deadline_ns, Call call) {
    const TimeNs begin_ns = clock_.now_ns();
    const int code = call();
    note({verb, begin_ns, clock_.now_ns() - begin_ns, deadline_ns == 0 ? deadline_ns_ : deadline_ns}, code);
    return code;
  }
  /// A code that this load cannot explain.
  void unexpected(Verb verb, int code, const char* text);
  void wrong(const char* text);

 private:
  struct Timing {
    Verb verb;
    TimeNs begin_ns;
    TimeNs took_ns;
    TimeNs deadline_ns;
  };
  void note(const Timing& timing, int code);
  static void keep_worst(WorstCall& worst, const Timing& timing, TimeNs excess_ns);
  void first_error(const char* text);

  WorkerCell& cell_;
  const TimeNs deadline_ns_;
  SystemClock clock_;
};

}  // namespace kvtier::kill
