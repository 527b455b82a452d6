#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "augury/result.hpp"

namespace augury {

/// A run of bytes in one file.
struct Extent {
  std::uint32_t file;
  std::uint64_t offset;
  std::uint64_t length;
};

/// The columns of the dataset's index. Views: their owner outlives every user.
struct ExtentTable {
  std::span<const std::uint64_t> file_bytes;  ///< [F]
  std::span<const std::uint32_t> file;        ///< [E]
  std::span<const std::uint64_t> offset;      ///< [E]
  std::span<const std::uint64_t> length;      ///< [E]
  std::span<const std::uint64_t> begin;       ///< [N + 1]: extents of sample k are begin[k]..
};

/// Where the bytes of every sample are; all samples have the same size.
class Extents {
 public:
  /// Checks the table once, so that nobody needs to later: Error::invalid names the first
  /// sample whose extents leave their file or do not add up to `sample_bytes`. Cost: O(E).
  static Result<Extents> make(const ExtentTable& table, std::uint64_t sample_bytes);

  [[nodiscard]] std::size_t num_samples() const noexcept { return table_.begin.size() - 1; }
  [[nodiscard]] std::uint64_t sample_bytes() const noexcept { return sample_bytes_; }

  /// The numbers of the extents of `sample`, [first, last).
  [[nodiscard]] std::size_t first(std::uint64_t sample) const noexcept {
    return static_cast<std::size_t>(table_.begin[sample]);
  }
  [[nodiscard]] std::size_t last(std::uint64_t sample) const noexcept { return first(sample + 1); }

  [[nodiscard]] Extent extent(std::size_t at) const noexcept {
    return {table_.file[at], table_.offset[at], table_.length[at]};
  }

 private:
  Extents(const ExtentTable& table, std::uint64_t sample_bytes)
      : table_(table), sample_bytes_(sample_bytes) {}

  ExtentTable table_;
  std::uint64_t sample_bytes_;
};

}  // namespace augury
