#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "augury/result.hpp"

namespace augury {

/// Turns the bytes of a sample (little endian) into float32.
///
/// Values follow IEEE 754: with log1p, -1 becomes minus infinity, what is below becomes NaN,
/// and NaN stays NaN. Integers go through a table of all their values, so the result is the
/// correctly rounded log1p whatever the compiler, and small counts stay in the first cache.
class Decoder {
 public:
  /// `dtype` is "int16", "uint8" or "float32"; `stages` is empty or {"log1p"}.
  /// Error::invalid names what is not known.
  static Result<Decoder> make(std::string_view dtype, std::span<const std::string> stages);

  /// Bytes of one value at the source.
  [[nodiscard]] std::size_t value_bytes() const noexcept { return value_bytes_; }

  /// True when the decoded sample is the source's bytes: read them straight into place.
  [[nodiscard]] bool is_identity() const noexcept { return dtype_ == Dtype::float32 && !log1p_; }

  /// Decodes `from`, of into.size() * value_bytes() bytes; they may not overlap.
  void decode(std::span<const std::byte> from, std::span<float> into) const;

 private:
  enum class Dtype { int16, uint8, float32 };

  Decoder(Dtype dtype, bool log1p);

  Dtype dtype_;
  bool log1p_;
  std::size_t value_bytes_;
  std::vector<float> table_;  // log1p of every value by its bits, empty when not used
};

}  // namespace augury
