#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "augury/result.hpp"

namespace augury {

/// Samples in memory that the ranks of a node share.
///
/// Any number of processes attach to the same memory, which is zero-filled when fresh; all
/// state is inside it, in atomic words, and there is no lock: a process that dies at any
/// moment stops nobody. A sample goes absent -> filling -> ready. Who claims an absent sample
/// fills and publishes it; who finds it `filling` reads it from the source instead of waiting.
/// A process that dies while it fills leaves that sample `filling`: it is read from the source
/// from then on. Nothing is ever dropped: when the memory is full, samples stay absent.
///
/// Layout: a header of 64 bytes {fingerprint, bytes used}, one word per sample, the samples,
/// each at a multiple of 64 bytes.
class RamTier {
 public:
  /// Bytes of memory that hold all samples of `sizes`, but no more than `budget_bytes` unless
  /// the table of states alone needs more.
  static std::uint64_t bytes_needed(std::span<const std::uint64_t> sizes,
                                    std::uint64_t budget_bytes);

  /// Attaches to `memory`, which outlives the tier, as does `sizes`. Error::invalid when the
  /// memory is too small or not aligned, or belongs to samples of other sizes.
  static Result<RamTier> attach(std::span<std::byte> memory, std::span<const std::uint64_t> sizes);

  [[nodiscard]] std::size_t num_samples() const noexcept { return sizes_.size(); }

  /// Bytes of `sample`, in the tier or not.
  [[nodiscard]] std::uint64_t sample_bytes(std::uint64_t sample) const { return sizes_[sample]; }

  /// The bytes of `sample`, if it is ready. They stay as they are as long as the memory lives.
  [[nodiscard]] std::optional<std::span<const std::byte>> get(std::uint64_t sample) const;

  /// Room for `sample`, to be filled by the caller alone and then published or abandoned.
  /// Nothing when it is ready, when another one fills it, or when the memory is full.
  std::optional<std::span<std::byte>> claim(std::uint64_t sample);

  /// Makes a claimed and filled sample ready, for all processes.
  void publish(std::uint64_t sample);

  /// Gives a claim back; the room stays reserved for the sample.
  void abandon(std::uint64_t sample);

  /// Bytes of the memory in use, the table included.
  [[nodiscard]] std::uint64_t used_bytes() const;

 private:
  RamTier(std::span<std::byte> memory, std::span<const std::uint64_t> sizes)
      : memory_(memory), sizes_(sizes) {}

  [[nodiscard]] std::atomic_ref<std::uint64_t> word(std::size_t at) const;
  [[nodiscard]] std::atomic_ref<std::uint64_t> state(std::uint64_t sample) const;
  [[nodiscard]] std::span<std::byte> room(std::uint64_t offset, std::uint64_t sample) const;
  std::uint64_t reserve(std::uint64_t sample);

  std::span<std::byte> memory_;
  std::span<const std::uint64_t> sizes_;
};

}  // namespace augury
