#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "augury/extents.hpp"
#include "augury/file_cache.hpp"

namespace augury {

/// Where the samples start: files on the parallel file system, read by extents.
class Source {
 public:
  Source(std::vector<std::string> paths, std::span<const std::uint64_t> file_bytes,
         const Extents& extents)
      : files_(std::move(paths), file_bytes, FileCache::default_capacity()), extents_(extents) {}

  /// Fills `into` (of sample_bytes) with the bytes of `sample`; the number of reads it took.
  /// Looks at `stop` between pieces of a large sample. Errors name file, offset and sample.
  Result<std::uint64_t> read(std::uint64_t sample, std::span<std::byte> into,
                             const std::stop_token& stop);

  [[nodiscard]] const Extents& extents() const noexcept { return extents_; }

  /// Files opened so far.
  [[nodiscard]] std::uint64_t opens() const { return files_.opens(); }

 private:
  FileCache files_;
  const Extents extents_;
};

}  // namespace augury
