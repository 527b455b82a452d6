#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "augury/result.hpp"

namespace augury {

/// What one batch looks like in memory.
struct BatchShape {
  std::size_t batch;                      ///< most samples of a batch
  std::vector<std::size_t> sample_shape;  ///< decoded sample, float32, C order
  std::size_t label_bytes;                ///< label row of one sample

  /// Values of one decoded sample.
  [[nodiscard]] std::size_t sample_values() const noexcept;
};

/// Bytes and reads by the tier that served them.
struct Traffic {
  std::uint64_t source_bytes = 0;
  std::uint64_t source_reads = 0;
  std::uint64_t ram_bytes = 0;

  Traffic& operator+=(const Traffic& other) noexcept;
};

/// What a ring has done so far.
struct RingCounters {
  Traffic traffic;             ///< of all samples that were read, taken or not
  std::uint64_t stall_ns = 0;  ///< time that next() waited
  std::uint64_t batches = 0;   ///< taken by the consumer
  std::uint64_t samples = 0;   ///< in those batches
};

class Ring;

/// A batch in the consumer's hands. Its memory belongs to nobody else until it is destroyed,
/// also when the ring has been stopped and its owner is gone.
class Lease {
 public:
  Lease(Lease&& other) noexcept = default;
  Lease& operator=(Lease&& other) noexcept = delete;
  ~Lease();

  [[nodiscard]] std::size_t num_samples() const noexcept { return samples_.size(); }
  [[nodiscard]] const BatchShape& shape() const noexcept;

  [[nodiscard]] std::span<float> x() const noexcept { return x_; }
  [[nodiscard]] std::span<std::byte> y() const noexcept { return y_; }
  [[nodiscard]] std::span<std::uint64_t> samples() const noexcept { return samples_; }
  [[nodiscard]] const Traffic& traffic() const noexcept { return traffic_; }
  [[nodiscard]] std::uint64_t stall_ns() const noexcept { return stall_ns_; }

 private:
  friend class Ring;
  Lease() = default;

  std::shared_ptr<Ring> ring_;  // shared: the memory outlives the delivery while it is in use
  std::size_t slot_ = 0;
  std::span<float> x_;
  std::span<std::byte> y_;
  std::span<std::uint64_t> samples_;
  Traffic traffic_;
  std::uint64_t stall_ns_ = 0;
};

/// Batch buffers that go round between reader threads and a consumer.
///
/// A slot is free, then filling (readers take its samples one by one), then ready, then leased,
/// then free again. Batches become ready in any order and are handed over in the order of
/// submission. The first failed batch ends the delivery: those before it are still handed over,
/// then every next() gives its error.
class Ring : public std::enable_shared_from_this<Ring> {
  struct Key {  // lets make() alone construct
    explicit Key() = default;
  };

 public:
  Ring(Key, BatchShape shape, std::size_t depth);

  /// One sample to fill in; the places are the reader's alone until it calls done().
  struct Task {
    std::size_t slot;
    std::size_t place;  ///< in the batch
    std::uint64_t sample;
    std::span<float> x;
    std::span<std::byte> y;
  };

  /// `depth` slots for batches of `shape`. Error::invalid when their size overflows.
  static Result<std::shared_ptr<Ring>> make(BatchShape shape, std::size_t depth);

  /// Queues batches: batch i is samples[ends[i-1]..ends[i]), it may be empty.
  /// Error::invalid when the ends do not fit; Error::stopped.
  Result<Done> submit(std::span<const std::uint64_t> samples, std::span<const std::uint64_t> ends);

  /// Waits for the next sample to fill in. Nothing: stopped.
  std::optional<Task> take(const std::stop_token& stop);

  /// Ends a task, one way or the other.
  void done(const Task& task, const Result<Traffic>& outcome);

  /// Waits for the next batch. Nothing, at once, when all submitted ones were taken.
  /// Errors: what a reader met (again on each further call); Error::held at once when the
  /// consumer itself holds all slots; Error::stopped; Error::interrupted when `give_up`,
  /// which is called some ten times a second while waiting, returns true.
  Result<std::optional<Lease>> next(const std::function<bool()>& give_up);

  /// Ends all waits, now and later. Leases stay valid.
  void stop();

  [[nodiscard]] RingCounters counters() const;

 private:
  friend class Lease;
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  struct Slot {
    std::span<float> x;
    std::span<std::byte> y;
    std::span<std::uint64_t> samples;
    std::size_t count = 0;    // samples of the batch
    std::size_t taken = 0;    // handed to readers
    std::size_t running = 0;  // handed to readers and not done
    Traffic traffic;
    std::optional<Error> error;
    std::size_t failed_at = 0;  // place of the sample that `error` is about
  };
  struct Submission {
    std::vector<std::uint64_t> samples;
    std::vector<std::uint64_t> ends;
    std::size_t next = 0;  // batch that is opened next
  };

  [[nodiscard]] bool has_untaken() const;
  [[nodiscard]] bool has_work() const;
  [[nodiscard]] static bool is_complete(const Slot& slot);
  [[nodiscard]] bool is_settled() const;
  void open_batch();
  Task next_task();
  Lease lease_front(std::chrono::nanoseconds stall);
  void release(std::size_t slot);

  const BatchShape shape_;
  std::unique_ptr<Line[]> memory_;

  mutable std::mutex mutex_;  // guards all below, except what x, y and samples of a slot show
  std::condition_variable_any work_;   // readers wait here
  std::condition_variable_any ready_;  // the consumer waits here
  std::vector<Slot> slots_;
  std::vector<std::size_t> free_;
  std::deque<std::size_t> open_;  // slots being filled or ready, in the order of submission
  std::deque<Submission> queue_;
  std::uint64_t pending_ = 0;  // batches submitted and not yet taken by the consumer
  bool failed_ = false;        // a batch failed: nothing new is opened
  bool stopped_ = false;
  std::optional<Error> error_;  // handed to the consumer, again and again
  RingCounters counters_;
};

}  // namespace augury
