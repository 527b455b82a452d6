#pragma once

#include "augury/ram_tier.hpp"
#include "bind.hpp"

namespace augury::bind {

/// A RamTier that keeps the arrays it looks into alive.
struct PyRamTier {
  PyRamTier(Array<std::uint8_t> memory_array, U64s sizes_array)
      : memory(std::move(memory_array)),
        sizes(std::move(sizes_array)),
        tier(take(RamTier::attach(std::as_writable_bytes(span_of(memory)), span_of(sizes)))) {}

  Array<std::uint8_t> memory;
  U64s sizes;
  RamTier tier;
};

}  // namespace augury::bind
