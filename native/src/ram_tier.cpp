#include "augury/ram_tier.hpp"

#include <algorithm>

namespace augury {
namespace {

constexpr std::uint64_t line_bytes = 64;
constexpr std::uint64_t word_bytes = sizeof(std::uint64_t);

// The header: which samples the memory is for, and how much of it is taken.
constexpr std::size_t fingerprint_at = 0;
constexpr std::size_t used_at = 1;

// A sample's word is the offset of its bytes, a multiple of 64 (0: none yet), plus a state.
constexpr std::uint64_t absent = 0;
constexpr std::uint64_t filling = 1;
constexpr std::uint64_t ready = 2;
constexpr std::uint64_t state_mask = 3;

static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free,
              "a lock would belong to one process");

constexpr std::uint64_t to_line(std::uint64_t bytes) {
  return (bytes + line_bytes - 1) / line_bytes * line_bytes;
}

std::uint64_t table_bytes(std::size_t num_samples) {
  return to_line(line_bytes + num_samples * word_bytes);
}

/// FNV-1a over the sizes and the length of the memory; never 0, which means fresh.
std::uint64_t fingerprint_of(std::span<const std::uint64_t> sizes, std::uint64_t memory_bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3; };
  add(memory_bytes);
  for (const auto size : sizes) add(size);
  return hash == 0 ? 1 : hash;
}

Error invalid(std::string text) {
  return {.kind = Error::Kind::invalid, .text = "ram tier: " + std::move(text)};
}

}  // namespace

std::uint64_t RamTier::bytes_needed(std::span<const std::uint64_t> sizes,
                                    std::uint64_t budget_bytes) {
  const auto table = table_bytes(sizes.size());
  auto all = table;
  for (const auto size : sizes) all += to_line(size);
  return std::max(table, std::min(all, budget_bytes));
}

Result<RamTier> RamTier::attach(std::span<std::byte> memory, std::span<const std::uint64_t> sizes) {
  const auto table = table_bytes(sizes.size());
  if (memory.size() < table) {
    return invalid(std::to_string(memory.size()) + " bytes do not hold the table of " +
                   std::to_string(sizes.size()) + " samples, " + std::to_string(table) + " bytes");
  }
  if (reinterpret_cast<std::uintptr_t>(memory.data()) % word_bytes != 0) {
    return invalid("the memory is not aligned to 8 bytes");
  }
  RamTier tier(memory, sizes);
  const auto wanted = fingerprint_of(sizes, memory.size());
  std::uint64_t found = 0;
  if (!tier.word(fingerprint_at).compare_exchange_strong(found, wanted) && found != wanted) {
    return invalid("the memory belongs to other samples");
  }
  return tier;
}

std::atomic_ref<std::uint64_t> RamTier::word(std::size_t at) const {
  return std::atomic_ref(reinterpret_cast<std::uint64_t*>(memory_.data())[at]);
}

std::atomic_ref<std::uint64_t> RamTier::state(std::uint64_t sample) const {
  return word(static_cast<std::size_t>(line_bytes / word_bytes + sample));
}

std::span<std::byte> RamTier::room(std::uint64_t offset, std::uint64_t sample) const {
  return memory_.subspan(offset, sizes_[sample]);
}

std::optional<std::span<const std::byte>> RamTier::get(std::uint64_t sample) const {
  const auto seen = state(sample).load(std::memory_order_acquire);
  if ((seen & state_mask) != ready) return std::nullopt;
  return room(seen & ~state_mask, sample);
}

std::optional<std::span<std::byte>> RamTier::claim(std::uint64_t sample) {
  auto word_of_sample = state(sample);
  auto seen = word_of_sample.load(std::memory_order_relaxed);
  if ((seen & state_mask) != absent) return std::nullopt;
  if (!word_of_sample.compare_exchange_strong(seen, seen | filling)) return std::nullopt;
  auto offset = seen & ~state_mask;
  if (offset == 0) offset = reserve(sample);
  if (offset == 0) {
    word_of_sample.store(absent, std::memory_order_relaxed);
    return std::nullopt;
  }
  word_of_sample.store(offset | filling, std::memory_order_relaxed);
  return room(offset, sample);
}

std::uint64_t RamTier::reserve(std::uint64_t sample) {
  auto used = word(used_at);
  const auto table = table_bytes(sizes_.size());
  const auto bytes = to_line(sizes_[sample]);
  auto taken = used.load(std::memory_order_relaxed);
  do {
    if (bytes > memory_.size() - table - taken) return 0;
  } while (!used.compare_exchange_weak(taken, taken + bytes));
  return table + taken;
}

void RamTier::publish(std::uint64_t sample) {
  const auto offset = state(sample).load(std::memory_order_relaxed) & ~state_mask;
  state(sample).store(offset | ready, std::memory_order_release);
}

void RamTier::abandon(std::uint64_t sample) {
  const auto offset = state(sample).load(std::memory_order_relaxed) & ~state_mask;
  state(sample).store(offset | absent, std::memory_order_release);
}

std::uint64_t RamTier::used_bytes() const {
  return table_bytes(sizes_.size()) + word(used_at).load(std::memory_order_relaxed);
}

}  // namespace augury
