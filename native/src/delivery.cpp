#include "augury/delivery.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <exception>

namespace augury {
namespace {

Error invalid(std::string text) { return {.kind = Error::Kind::invalid, .text = std::move(text)}; }

/// What does not fit together in `config`, if anything.
std::optional<Error> contradiction(const DeliveryConfig& config, const Extents& extents) {
  if (config.threads == 0) return invalid("a delivery needs at least one thread");
  if (config.files.size() != config.table.file_bytes.size()) {
    return invalid("index: " + std::to_string(config.files.size()) + " files, " +
                   std::to_string(config.table.file_bytes.size()) + " sizes");
  }
  const auto num_samples = extents.num_samples();
  if (config.labels.size() != num_samples * config.shape.label_bytes) {
    return invalid("index: " + std::to_string(num_samples) + " samples, but other labels");
  }
  if (config.ram == nullptr) return std::nullopt;
  if (config.ram->num_samples() != num_samples) {
    return invalid("the ram tier has " + std::to_string(config.ram->num_samples()) +
                   " samples, the index " + std::to_string(num_samples));
  }
  for (std::uint64_t sample = 0; sample < num_samples; ++sample) {
    if (config.ram->sample_bytes(sample) != extents.sample_bytes()) {
      return invalid("the ram tier has another size for sample " + std::to_string(sample));
    }
  }
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<Delivery>> Delivery::make(DeliveryConfig config) {
  auto ring = Ring::make(config.shape, config.depth);
  if (!ring) return ring.error();
  auto decoder = Decoder::make(config.source_dtype, config.stages);
  if (!decoder) return decoder.error();
  const auto extents =
      Extents::make(config.table, config.shape.sample_values() * decoder->value_bytes());
  if (!extents) return extents.error();
  if (auto error = contradiction(config, *extents)) return std::move(*error);
  return std::make_unique<Delivery>(Key{}, std::move(config), *extents, std::move(*decoder),
                                    std::move(*ring));
}

Delivery::Delivery(Key, DeliveryConfig config, const Extents& extents, Decoder decoder,
                   std::shared_ptr<Ring> ring)
    : config_(std::move(config)),
      decoder_(std::move(decoder)),
      source_(config_.files, config_.table.file_bytes, extents),
      ring_(std::move(ring)) {
  const std::size_t scratch_bytes = decoder_.is_identity() ? 0 : extents.sample_bytes();
  for (std::size_t i = 0; i < config_.threads; ++i) {
    threads_.emplace_back([this, i, scratch = std::vector<std::byte>(scratch_bytes)](
                              const std::stop_token& stop) mutable { work(i, scratch, stop); });
  }
}

Delivery::~Delivery() { stop(); }

Result<Done> Delivery::submit(std::span<const std::uint64_t> samples,
                              std::span<const std::uint64_t> ends) {
  const auto num_samples = source_.extents().num_samples();
  for (const auto sample : samples) {
    if (sample >= num_samples) {
      return invalid("sample " + std::to_string(sample) + " is not below " +
                     std::to_string(num_samples));
    }
  }
  return ring_->submit(samples, ends);
}

Result<std::optional<Lease>> Delivery::next(const std::function<bool()>& give_up) {
  const auto ring = ring_;  // outlives this call, even when the delivery does not
  return ring->next(give_up);
}

void Delivery::stop() {
  ring_->stop();
  std::call_once(joined_, [this] {
    for (auto& thread : threads_) thread.request_stop();
    for (auto& thread : threads_) thread.join();
  });
}

DeliveryCounters Delivery::counters() const {
  return {.ring = ring_->counters(), .source_opens = source_.opens()};
}

void Delivery::work(std::size_t number, std::span<std::byte> scratch, const std::stop_token& stop) {
  constexpr std::size_t longest_name = 15;
  const auto name = ("augury-read-" + std::to_string(number)).substr(0, longest_name);
  ::pthread_setname_np(::pthread_self(), name.c_str());
  while (const auto task = ring_->take(stop)) ring_->done(*task, fill(*task, scratch, stop));
}

Result<Traffic> Delivery::fill(const Ring::Task& task, std::span<std::byte> scratch,
                               const std::stop_token& stop) {
  try {
    std::ranges::copy(config_.labels.subspan(task.sample * task.y.size(), task.y.size()),
                      task.y.begin());
    return fill_x(task, scratch, stop);
  } catch (const std::exception& bug) {  // no exception may leave a thread
    return Error{.kind = Error::Kind::unexpected, .text = bug.what()};
  }
}

Result<Traffic> Delivery::fill_x(const Ring::Task& task, std::span<std::byte> scratch,
                                 const std::stop_token& stop) {
  if (config_.ram != nullptr) {
    if (const auto bytes = config_.ram->get(task.sample)) {
      decoder_.decode(*bytes, task.x);
      return Traffic{.ram_bytes = bytes->size()};
    }
    if (const auto room = config_.ram->claim(task.sample)) {
      auto traffic = read(task.sample, *room, stop);
      if (!traffic) {
        config_.ram->abandon(task.sample);
        return traffic;
      }
      config_.ram->publish(task.sample);
      decoder_.decode(*room, task.x);
      return traffic;
    }
  }
  if (decoder_.is_identity()) return read(task.sample, std::as_writable_bytes(task.x), stop);
  auto traffic = read(task.sample, scratch, stop);
  if (traffic) decoder_.decode(scratch, task.x);
  return traffic;
}

Result<Traffic> Delivery::read(std::uint64_t sample, std::span<std::byte> into,
                               const std::stop_token& stop) {
  const auto reads = source_.read(sample, into, stop);
  if (!reads) return reads.error();
  return Traffic{.source_bytes = into.size(), .source_reads = *reads};
}

}  // namespace augury
