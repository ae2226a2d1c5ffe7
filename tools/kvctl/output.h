#pragma once
// Whether what was printed arrived: standard output is a file on a full disk as well as a terminal.

namespace kvtier::ctl {

/// Writes out what standard output still buffers. Throws Failure (kExitOutput) when anything that was printed since
/// the start could not be written. A reader that closed its end of a pipe has what it wants: no failure.
void finish_output();

}  // namespace kvtier::ctl
