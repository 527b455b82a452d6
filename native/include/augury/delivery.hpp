#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "augury/decode.hpp"
#include "augury/ram_tier.hpp"
#include "augury/ring.hpp"
#include "augury/source.hpp"

namespace augury {

/// What a delivery is made of. The table, the labels and the ram tier outlive it.
struct DeliveryConfig {
  std::vector<std::string> files;  ///< absolute paths, [F]
  ExtentTable table;
  std::span<const std::byte> labels;  ///< [N, shape.label_bytes], copied row by row
  BatchShape shape;
  std::string source_dtype;
  std::vector<std::string> stages;
  std::size_t depth = 0;
  std::size_t threads = 0;
  RamTier* ram = nullptr;  ///< null: every sample comes from the source
};

/// What a delivery has done so far.
struct DeliveryCounters {
  RingCounters ring;
  std::uint64_t source_opens = 0;
};

/// Reads, decodes and assembles batches in the order of submission, with threads of its own.
class Delivery {
  struct Key {  // lets make() alone construct
    explicit Key() = default;
  };

 public:
  Delivery(Key, DeliveryConfig config, const Extents& extents, Decoder decoder,
           std::shared_ptr<Ring> ring);

  /// Starts the reader threads. Error::invalid says what does not fit together.
  static Result<std::unique_ptr<Delivery>> make(DeliveryConfig config);

  /// Stops. Batches in the consumer's hands stay valid, and a thread in next() returns.
  ~Delivery();
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;

  /// Queues batches; see Ring::submit. Error::invalid also for a sample that does not exist.
  Result<Done> submit(std::span<const std::uint64_t> samples, std::span<const std::uint64_t> ends);

  /// The next batch; see Ring::next.
  Result<std::optional<Lease>> next(const std::function<bool()>& give_up);

  /// Ends the threads, after at most one read each. From any thread, any number of times.
  void stop();

  [[nodiscard]] DeliveryCounters counters() const;

 private:
  void work(std::size_t number, std::span<std::byte> scratch, const std::stop_token& stop);
  Result<Traffic> fill(const Ring::Task& task, std::span<std::byte> scratch,
                       const std::stop_token& stop);
  Result<Traffic> fill_x(const Ring::Task& task, std::span<std::byte> scratch,
                         const std::stop_token& stop);
  Result<Traffic> read(std::uint64_t sample, std::span<std::byte> into,
                       const std::stop_token& stop);

  const DeliveryConfig config_;
  const Decoder decoder_;
  Source source_;
  const std::shared_ptr<Ring> ring_;  // shared with the leases
  std::once_flag joined_;
  std::vector<std::jthread> threads_;  // last member: stops and joins first
};

}  // namespace augury
