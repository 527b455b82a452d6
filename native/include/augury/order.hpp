#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "augury/result.hpp"

namespace augury {

/// Order version 1: a keyed bijection of [0, num_samples) for every epoch, in O(1) memory.
///
/// A balanced Feistel network over [0, 4^h), the least even power of two that is not below
/// num_samples (and not below 4), with cycle walking: values outside the range are permuted
/// again until they fall inside. One round takes (l, r) to (r, l ^ top_h(mix(r ^ key))), where
/// `mix` is the finaliser of SplitMix64 (Stafford's variant 13) and top_h its h highest bits.
/// A Feistel network reaches even permutations only, so a key bit decides whether the first
/// two points change places on the way in. Keys come from (seed, epoch) by SplitMix64.
///
/// The values are frozen: runs resume by (epoch, step) alone, so another algorithm is another
/// version with another name. The test holds golden values.
class Order {
 public:
  static constexpr std::uint64_t max_samples = std::uint64_t{1} << 63;

  /// Error::invalid when num_samples is above max_samples.
  static Result<Order> make(std::uint64_t num_samples, std::uint64_t seed, std::uint64_t epoch);

  /// Fills `samples` with the samples at `positions`, both of the same length.
  /// Error::invalid when a position is not below num_samples.
  Result<Done> samples_at(std::span<const std::uint64_t> positions,
                          std::span<std::uint64_t> samples) const;

  /// The inverse: fills `positions` with the places of `samples`.
  Result<Done> positions_of(std::span<const std::uint64_t> samples,
                            std::span<std::uint64_t> positions) const;

 private:
  static constexpr std::size_t most_rounds = 24;

  Order(std::uint64_t num_samples, std::uint64_t seed, std::uint64_t epoch);
  [[nodiscard]] std::uint64_t forward(std::uint64_t x) const noexcept;
  [[nodiscard]] std::uint64_t backward(std::uint64_t x) const noexcept;
  [[nodiscard]] std::uint64_t round(std::uint64_t half, std::uint64_t key) const noexcept;
  [[nodiscard]] std::uint64_t swap_first(std::uint64_t x) const noexcept;

  std::uint64_t num_samples_;
  unsigned half_bits_;
  std::size_t num_rounds_;
  std::array<std::uint64_t, most_rounds> keys_{};
  std::uint64_t swap_bit_ = 0;
};

}  // namespace augury
