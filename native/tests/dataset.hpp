#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "augury/delivery.hpp"
#include "check.hpp"
#include "temporary.hpp"

namespace augury::check {

/// `num_samples` samples of 6 int16 in files of `per_file` samples, each in two extents that
/// lie in reverse order, with two label bytes.
class Dataset {
 public:
  static constexpr std::size_t num_values = 6;

  explicit Dataset(std::size_t num_samples, std::size_t per_file = 4) : begin_{0} {
    for (std::size_t first = 0; first < num_samples; first += per_file) {
      add_file(first, std::min(first + per_file, num_samples));
    }
  }

  /// Value `i` of `sample`, as it is in the file.
  static std::int16_t value(std::uint64_t sample, std::size_t i) {
    return static_cast<std::int16_t>(sample * 10 + i);
  }

  [[nodiscard]] DeliveryConfig config(std::size_t threads = 2, std::size_t depth = 3) const {
    return {.files = paths,
            .table = {file_bytes, file_, offset_, length_, begin_},
            .labels = std::as_bytes(std::span(labels_)),
            .shape = {.batch = 4, .sample_shape = {2, 3}, .label_bytes = 2},
            .source_dtype = "int16",
            .stages = {"log1p"},
            .depth = depth,
            .threads = threads};
  }

  [[nodiscard]] std::unique_ptr<Delivery> deliver(std::size_t threads = 2,
                                                  std::size_t depth = 3) const {
    return std::move(*Delivery::make(config(threads, depth)));
  }

  /// True when `batch` holds the decoded samples `expected` and their labels.
  static bool matches(const Lease& batch, std::span<const std::uint64_t> expected) {
    if (!std::ranges::equal(batch.samples(), expected)) return false;
    for (std::size_t row = 0; row < expected.size(); ++row) {
      if (batch.y()[2 * row] != static_cast<std::byte>(expected[row])) return false;
      for (std::size_t i = 0; i < num_values; ++i) {
        const auto decoded = std::log1p(static_cast<double>(value(expected[row], i)));
        if (batch.x()[row * num_values + i] != static_cast<float>(decoded)) return false;
      }
    }
    return true;
  }

  TemporaryFolder folder;
  std::vector<std::string> paths;
  std::vector<std::uint64_t> file_bytes;

 private:
  void add_file(std::uint64_t first, std::uint64_t last) {
    const auto file = static_cast<std::uint32_t>(paths.size());
    std::vector<std::int16_t> values;
    for (auto sample = first; sample < last; ++sample) {
      const auto at = values.size() * sizeof(std::int16_t);
      for (const std::size_t i : {4U, 5U, 0U, 1U, 2U, 3U}) values.push_back(value(sample, i));
      file_.insert(file_.end(), {file, file});
      offset_.insert(offset_.end(), {at + 4, at});
      length_.insert(length_.end(), {8, 4});
      begin_.push_back(file_.size());
      labels_.insert(labels_.end(), {static_cast<std::uint8_t>(sample), 0});
    }
    const auto bytes = std::as_bytes(std::span(values));
    paths.push_back(folder.write(std::to_string(file), bytes));
    file_bytes.push_back(bytes.size());
  }

  std::vector<std::uint32_t> file_;
  std::vector<std::uint64_t> offset_;
  std::vector<std::uint64_t> length_;
  std::vector<std::uint64_t> begin_;
  std::vector<std::uint8_t> labels_;
};

inline bool never() { return false; }

/// The next batch; a failure or no batch fails the test.
inline Lease next_of(Delivery& delivery) {
  auto batch = delivery.next(never);
  if (!batch) fail(batch.error().message(), std::source_location::current());
  auto& lease = *batch;
  if (!lease) fail("no batch", std::source_location::current());
  return std::move(*lease);
}

}  // namespace augury::check
