#pragma once
// Runs a check where limits and filters can be set: in a child that ends with it.

#include <functional>
#include <string>
#include <vector>

namespace kvtier::test {

/// What went wrong in the child; empty: nothing did. A child that dies says so.
std::string in_child(const std::function<std::string()>& check);

/// For the child: each of these system calls fails with that errno from now on. Words when it cannot be done.
std::string deny_calls(const std::vector<long>& numbers, int error_number);
std::string limit(int resource, std::uint64_t value);
/// Gives up root, whom some limits do not bind.
std::string become_nobody();

}  // namespace kvtier::test
