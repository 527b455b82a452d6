#include "augury/ring.hpp"

#include <algorithm>
#include <chrono>
#include <string>

namespace augury {
namespace {

constexpr std::size_t line_bytes = 64;
constexpr auto patience = std::chrono::milliseconds(100);  // between two looks at `give_up`

constexpr std::size_t lines(std::size_t bytes) { return (bytes + line_bytes - 1) / line_bytes; }

/// Where the three arrays of a batch start inside a slot, in lines.
struct Layout {
  explicit Layout(const BatchShape& shape)
      : y(lines(shape.batch * shape.sample_values() * sizeof(float))),
        samples(y + lines(shape.batch * shape.label_bytes)),
        end(samples + lines(shape.batch * sizeof(std::uint64_t))) {}

  std::size_t y;
  std::size_t samples;
  std::size_t end;
};

/// Bytes of `depth` slots, generously; nothing when that is no number.
std::optional<std::size_t> total_bytes(const BatchShape& shape, std::size_t depth) {
  std::size_t bytes = sizeof(float);
  for (const auto side : shape.sample_shape) {
    if (__builtin_mul_overflow(bytes, side, &bytes)) return std::nullopt;
  }
  if (__builtin_add_overflow(bytes, shape.label_bytes + sizeof(std::uint64_t), &bytes) ||
      __builtin_mul_overflow(bytes, shape.batch, &bytes) ||
      __builtin_add_overflow(bytes, 3 * line_bytes, &bytes) ||
      __builtin_mul_overflow(bytes, depth, &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

template <class T>
std::span<T> array(std::byte* at, std::size_t count) {
  return {reinterpret_cast<T*>(at), count};
}

}  // namespace

std::size_t BatchShape::sample_values() const noexcept {
  std::size_t values = 1;
  for (const auto side : sample_shape) values *= side;
  return values;
}

Traffic& Traffic::operator+=(const Traffic& other) noexcept {
  source_bytes += other.source_bytes;
  source_reads += other.source_reads;
  ram_bytes += other.ram_bytes;
  return *this;
}

Lease::~Lease() {
  if (ring_) ring_->release(slot_);
}

const BatchShape& Lease::shape() const noexcept { return ring_->shape_; }

Result<std::shared_ptr<Ring>> Ring::make(BatchShape shape, std::size_t depth) {
  if (shape.batch == 0 || depth == 0 || !total_bytes(shape, depth)) {
    return Error{.kind = Error::Kind::invalid,
                 .text = "no ring of " + std::to_string(depth) + " batches of " +
                         std::to_string(shape.batch) + " samples"};
  }
  return std::make_shared<Ring>(Key{}, std::move(shape), depth);
}

Ring::Ring(Key, BatchShape shape, std::size_t depth)
    : shape_(std::move(shape)),
      memory_(std::make_unique_for_overwrite<Line[]>(depth * Layout(shape_).end)),
      slots_(depth) {
  const Layout layout(shape_);
  for (std::size_t i = 0; i < depth; ++i) {
    Line* const first = &memory_[i * layout.end];
    slots_[i].x = array<float>(first->bytes, shape_.batch * shape_.sample_values());
    slots_[i].y = array<std::byte>(first[layout.y].bytes, shape_.batch * shape_.label_bytes);
    slots_[i].samples = array<std::uint64_t>(first[layout.samples].bytes, shape_.batch);
    free_.push_back(i);
  }
}

Result<Done> Ring::submit(std::span<const std::uint64_t> samples,
                          std::span<const std::uint64_t> ends) {
  std::uint64_t begin = 0;
  for (const auto end : ends) {
    if (end < begin || end > samples.size() || end - begin > shape_.batch) {
      return Error{.kind = Error::Kind::invalid,
                   .text = "no batch of at most " + std::to_string(shape_.batch) +
                           " samples from " + std::to_string(begin) + " to " + std::to_string(end)};
    }
    begin = end;
  }
  if (begin != samples.size()) {
    return Error{.kind = Error::Kind::invalid,
                 .text = "the batches end at " + std::to_string(begin) + ", the samples at " +
                         std::to_string(samples.size())};
  }
  Submission submission{{samples.begin(), samples.end()}, {ends.begin(), ends.end()}};
  const std::lock_guard lock(mutex_);
  if (stopped_) return Error{.kind = Error::Kind::stopped, .text = "stopped"};
  if (!ends.empty()) queue_.push_back(std::move(submission));
  pending_ += ends.size();
  work_.notify_all();
  return Done{};
}

bool Ring::has_untaken() const {
  return !open_.empty() && slots_[open_.back()].taken < slots_[open_.back()].count;
}

bool Ring::has_work() const {
  return !failed_ && (has_untaken() || (!queue_.empty() && !free_.empty()));
}

std::optional<Ring::Task> Ring::take(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, stop, [this] { return stopped_ || has_work(); });
    if (stopped_ || stop.stop_requested()) return std::nullopt;
    if (!has_untaken()) open_batch();
    if (has_untaken()) return next_task();
  }
}

/// Gives the next batch of the queue a free slot. An empty batch is ready at once.
void Ring::open_batch() {
  auto& submission = queue_.front();
  const auto begin = submission.next == 0 ? 0 : submission.ends[submission.next - 1];
  const auto count = submission.ends[submission.next] - begin;

  auto& slot = slots_[free_.back()];
  open_.push_back(free_.back());
  free_.pop_back();
  slot.count = count;
  slot.taken = 0;
  slot.traffic = {};
  std::copy_n(submission.samples.begin() + static_cast<std::ptrdiff_t>(begin), count,
              slot.samples.begin());

  if (++submission.next == submission.ends.size()) queue_.pop_front();
  if (count == 0) ready_.notify_all();
}

Ring::Task Ring::next_task() {
  const auto at = open_.back();
  auto& slot = slots_[at];
  const auto place = slot.taken++;
  ++slot.running;
  const auto values = shape_.sample_values();
  return {.slot = at,
          .place = place,
          .sample = slot.samples[place],
          .x = slot.x.subspan(place * values, values),
          .y = slot.y.subspan(place * shape_.label_bytes, shape_.label_bytes)};
}

void Ring::done(const Task& task, const Result<Traffic>& outcome) {
  const std::lock_guard lock(mutex_);
  auto& slot = slots_[task.slot];
  --slot.running;
  if (outcome) {
    slot.traffic += *outcome;
    counters_.traffic += *outcome;
  } else {
    failed_ = true;
    slot.taken = slot.count;  // the rest of the batch is of no use
    if (!slot.error || task.place < slot.failed_at) {
      slot.error = outcome.error();
      slot.failed_at = task.place;
    }
  }
  if (is_complete(slot)) ready_.notify_all();
}

bool Ring::is_complete(const Slot& slot) { return slot.taken == slot.count && slot.running == 0; }

/// True when next() has nothing to wait for.
bool Ring::is_settled() const {
  if (stopped_ || error_ || pending_ == 0) return true;
  return open_.empty() ? free_.empty() : is_complete(slots_[open_.front()]);
}

Result<std::optional<Lease>> Ring::next(const std::function<bool()>& give_up) {
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!ready_.wait_for(lock, patience, [this] { return is_settled(); })) {
    lock.unlock();
    if (give_up()) return Error{.kind = Error::Kind::interrupted, .text = "interrupted"};
    lock.lock();
  }
  if (stopped_) return Error{.kind = Error::Kind::stopped, .text = "stopped"};
  if (error_) return *error_;
  if (pending_ == 0) return std::optional<Lease>();
  if (open_.empty()) {
    return Error{.kind = Error::Kind::held,
                 .text = std::to_string(slots_.size()) +
                         " batches are still held, all that the ring has: copy them or raise "
                         "loader.depth"};
  }
  if (const auto& error = slots_[open_.front()].error) {
    error_ = error;
    return *error;
  }
  return std::optional<Lease>(lease_front(std::chrono::steady_clock::now() - begin));
}

Lease Ring::lease_front(std::chrono::nanoseconds stall) {
  const auto at = open_.front();
  open_.pop_front();
  --pending_;
  const auto& slot = slots_[at];
  Lease lease;
  lease.ring_ = shared_from_this();
  lease.slot_ = at;
  lease.x_ = slot.x.first(slot.count * shape_.sample_values());
  lease.y_ = slot.y.first(slot.count * shape_.label_bytes);
  lease.samples_ = slot.samples.first(slot.count);
  lease.traffic_ = slot.traffic;
  lease.stall_ns_ = static_cast<std::uint64_t>(stall.count());
  counters_.stall_ns += lease.stall_ns_;
  counters_.samples += slot.count;
  ++counters_.batches;
  return lease;
}

void Ring::release(std::size_t slot) {
  const std::lock_guard lock(mutex_);
  free_.push_back(slot);
  work_.notify_all();
}

void Ring::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  work_.notify_all();
  ready_.notify_all();
}

RingCounters Ring::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

}  // namespace augury
