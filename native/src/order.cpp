#include "augury/order.hpp"

#include <algorithm>
#include <bit>
#include <string>

namespace augury {
namespace {

constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;  // the increment of SplitMix64

constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

Error outside(const char* what, std::uint64_t value, std::uint64_t num_samples) {
  return {.kind = Error::Kind::invalid,
          .text = std::string(what) + " " + std::to_string(value) + " is not below " +
                  std::to_string(num_samples)};
}

}  // namespace

Result<Order> Order::make(std::uint64_t num_samples, std::uint64_t seed, std::uint64_t epoch) {
  if (num_samples > max_samples) return outside("num_samples - 1 =", num_samples - 1, max_samples);
  return Order(num_samples, seed, epoch);
}

Order::Order(std::uint64_t num_samples, std::uint64_t seed, std::uint64_t epoch)
    : num_samples_(num_samples) {
  const auto largest = num_samples == 0 ? 0 : num_samples - 1;
  half_bits_ = std::max(1U, (static_cast<unsigned>(std::bit_width(largest)) + 1) / 2);
  num_rounds_ = half_bits_ < 8 ? most_rounds : 8;
  const auto base = mix(mix(seed + golden) + (epoch + 1) * golden);
  swap_bit_ = mix(base) & 1;
  std::uint64_t state = base;
  for (auto& key : keys_) key = mix(state += golden);
}

std::uint64_t Order::round(std::uint64_t half, std::uint64_t key) const noexcept {
  return mix(half ^ key) >> (64 - half_bits_);
}

std::uint64_t Order::swap_first(std::uint64_t x) const noexcept {
  return x ^ (x < 2 ? swap_bit_ : 0);
}

std::uint64_t Order::forward(std::uint64_t x) const noexcept {
  x = swap_first(x);
  auto left = x >> half_bits_;
  auto right = x & ((std::uint64_t{1} << half_bits_) - 1);
  for (std::size_t i = 0; i < num_rounds_; ++i) {
    const auto mixed = left ^ round(right, keys_[i]);
    left = right;
    right = mixed;
  }
  return left << half_bits_ | right;
}

std::uint64_t Order::backward(std::uint64_t x) const noexcept {
  auto left = x >> half_bits_;
  auto right = x & ((std::uint64_t{1} << half_bits_) - 1);
  for (std::size_t i = num_rounds_; i-- > 0;) {
    const auto mixed = right ^ round(left, keys_[i]);
    right = left;
    left = mixed;
  }
  return swap_first(left << half_bits_ | right);
}

Result<Done> Order::samples_at(std::span<const std::uint64_t> positions,
                               std::span<std::uint64_t> samples) const {
  for (std::size_t i = 0; i < positions.size(); ++i) {
    auto x = positions[i];
    if (x >= num_samples_) return outside("position", x, num_samples_);
    do x = forward(x);
    while (x >= num_samples_);
    samples[i] = x;
  }
  return Done{};
}

Result<Done> Order::positions_of(std::span<const std::uint64_t> samples,
                                 std::span<std::uint64_t> positions) const {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    auto x = samples[i];
    if (x >= num_samples_) return outside("sample", x, num_samples_);
    do x = backward(x);
    while (x >= num_samples_);
    positions[i] = x;
  }
  return Done{};
}

}  // namespace augury
