#pragma once
// Structs of the C contract, in and out. Each begins with the size that the caller was compiled with; fields
// beyond it count as 0, and are not written.

#include <algorithm>
#include <cstring>
#include <string>

#include "kvclient/kvclient.h"
#include "libkvclient/base/status.h"

namespace kvtier::client {

/// Length of a struct in ABI 1. No caller has a shorter one: struct_size was forgotten. Fields that are added
/// later leave these numbers alone.
template <class T>
inline constexpr std::size_t kFirstBytes = 0;
template <>
inline constexpr std::size_t kFirstBytes<kvc_client_options> = 48;
template <>
inline constexpr std::size_t kFirstBytes<kvc_client_status> = 488;
template <>
inline constexpr std::size_t kFirstBytes<kvc_client_stats> = 136;
template <>
inline constexpr std::size_t kFirstBytes<kvc_spec_options> = 56;
template <>
inline constexpr std::size_t kFirstBytes<kvc_part> = 56;
template <>
inline constexpr std::size_t kFirstBytes<kvc_shard> = 28;  // and 4 of padding
template <>
inline constexpr std::size_t kFirstBytes<kvc_space_facts> = 64;
template <>
inline constexpr std::size_t kFirstBytes<kvc_reserve_options> = 32;

template <class T>
Status check_struct(const char* call, const T& given) {
  static_assert(kFirstBytes<T> > 0 && kFirstBytes<T> <= sizeof(T));
  if (given.struct_size >= kFirstBytes<T>) return Status::ok();
  return {Code::kInvalid, std::string(call) + ": struct_size is " + std::to_string(given.struct_size) +
                              "; set it to sizeof the struct, at least " + std::to_string(kFirstBytes<T>)};
}

/// What the caller gave; `given` null: all 0.
template <class T>
Status read_struct(const char* call, const T* given, T& copy) {
  if (given == nullptr) return Status::ok();
  Status status = check_struct(call, *given);
  if (status.is_ok()) std::memcpy(&copy, given, std::min(given->struct_size, sizeof copy));
  return status;
}

/// All 0 but for its size, for a call that fails before it knows anything. A struct that is too small is left alone: how
/// much of it is the caller's is not known.
template <class T>
void clear_struct(T* out) {
  if (out == nullptr || out->struct_size < kFirstBytes<T>) return;
  T none{};
  none.struct_size = out->struct_size;
  std::memcpy(out, &none, std::min(out->struct_size, sizeof none));
}

template <class T>
Status write_struct(const char* call, T found, T& out) {
  Status status = check_struct(call, out);
  found.struct_size = out.struct_size;
  if (status.is_ok()) std::memcpy(&out, &found, std::min(out.struct_size, sizeof found));
  return status;
}

/// kInvalid when `flags` has others than `known`, whose names `names` are.
inline Status check_flags(const char* call, std::uint32_t flags, std::uint32_t known, const char* names) {
  if ((flags & ~known) == 0) return Status::ok();
  return {Code::kInvalid, std::string(call) + ": flags other than " + names};
}

}  // namespace kvtier::client
