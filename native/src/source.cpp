#include "augury/source.hpp"

#include <algorithm>

namespace augury {
namespace {

// A read under way cannot be called back; smaller pieces let a stop be noticed in time.
constexpr std::size_t piece_bytes = std::size_t{4} << 20;

Error about(Error error, std::uint64_t sample) {
  error.text += ", sample " + std::to_string(sample);
  return error;
}

}  // namespace

Result<std::uint64_t> Source::read(std::uint64_t sample, std::span<std::byte> into,
                                   const std::stop_token& stop) {
  std::uint64_t reads = 0;
  for (auto at = extents_.first(sample); at < extents_.last(sample); ++at) {
    auto extent = extents_.extent(at);
    auto file = files_.get(extent.file, stop);
    if (!file) return about(file.error(), sample);
    while (extent.length > 0) {
      if (stop.stop_requested()) return Error{.kind = Error::Kind::stopped, .text = "stopped"};
      const auto bytes = std::min<std::uint64_t>(extent.length, piece_bytes);
      const auto outcome = (*file)->read(extent.offset, into.first(bytes));
      if (!outcome) return about(outcome.error(), sample);
      into = into.subspan(bytes);
      extent.offset += bytes;
      extent.length -= bytes;
      ++reads;
    }
  }
  return reads;
}

}  // namespace augury
