#include "augury/delivery.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <thread>

#include "dataset.hpp"

namespace {

using namespace augury::check;
using augury::Delivery;
using augury::RamTier;
using U64s = std::vector<std::uint64_t>;

U64s shuffled(std::size_t count, std::uint64_t seed) {
  U64s samples(count);
  std::iota(samples.begin(), samples.end(), 0);
  std::ranges::shuffle(samples, std::mt19937_64(seed));
  return samples;
}

/// Batches of random sizes from 0 to 4 that end at `count`.
U64s random_ends(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  U64s ends;
  for (std::uint64_t at = 0; at < count;) {
    at = std::min<std::uint64_t>(count, at + random() % 5);
    ends.push_back(at);
  }
  ends.push_back(count);
  return ends;
}

/// Takes the batches that end at `ends` and compares them.
void check_epoch(Delivery& delivery, const U64s& samples, const U64s& ends) {
  std::uint64_t begin = 0;
  for (const auto end : ends) {
    const auto batch = next_of(delivery);
    CHECK(Dataset::matches(batch, std::span(samples).subspan(begin, end - begin)));
    begin = end;
  }
}

}  // namespace

TEST("every batch arrives whole and in order, whatever the threads and the depth") {
  const Dataset data(61);
  for (const std::size_t threads : {1U, 2U, 8U}) {
    for (const std::size_t depth : {1U, 2U, 5U}) {
      const auto delivery = data.deliver(threads, depth);
      for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
        const auto samples = shuffled(61, epoch);
        const auto ends = random_ends(61, epoch);
        CHECK(delivery->submit(samples, ends));
        check_epoch(*delivery, samples, ends);
        CHECK(!*delivery->next(never));
      }
    }
  }
}

TEST("epochs can be submitted while earlier ones are read") {
  const Dataset data(40);
  const auto delivery = data.deliver(2, 2);
  std::jthread planner([&] {
    for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
      CHECK(delivery->submit(shuffled(40, epoch), U64s{4, 8, 12, 16, 20, 24, 28, 32, 36, 40}));
    }
  });
  std::uint64_t taken = 0;
  while (taken < 200) {
    const auto batch = delivery->next(never);
    CHECK(batch);
    if (!*batch) continue;  // the planner is behind
    const auto samples = shuffled(40, taken / 10);
    CHECK(Dataset::matches(**batch, std::span(samples).subspan(taken % 10 * 4, 4)));
    ++taken;
  }
}

TEST("float32 without stages is read straight into place") {
  const Dataset data(8);
  auto config = data.config();
  config.source_dtype = "float32";
  config.stages = {};
  config.shape.sample_shape = {3};
  const auto delivery = std::move(*Delivery::make(config));
  CHECK(delivery->submit(U64s{5}, U64s{1}));
  const auto batch = next_of(*delivery);
  const auto bytes = std::as_bytes(batch.x());
  for (std::size_t i = 0; i < Dataset::num_values; ++i) {
    std::int16_t value = 0;
    std::memcpy(&value, &bytes[2 * i], 2);
    CHECK_EQUAL(value, Dataset::value(5, i));
  }
}

TEST("samples of several pieces of four MiB are whole") {
  const TemporaryFolder folder;
  const auto bytes = bytes_of(1, (std::size_t{9} << 20) + 12);
  const U64s size{bytes.size()};
  const std::vector<std::uint32_t> file{0};
  const U64s offset{0};
  const U64s begin{0, 1};
  const auto delivery = std::move(
      *Delivery::make({.files = {folder.write("a", bytes)},
                       .table = {size, file, offset, size, begin},
                       .labels = {},
                       .shape = {.batch = 1, .sample_shape = {bytes.size() / 4}, .label_bytes = 0},
                       .source_dtype = "float32",
                       .stages = {},
                       .depth = 1,
                       .threads = 1}));
  CHECK(delivery->submit(U64s{0}, U64s{1}));
  const auto batch = next_of(*delivery);
  CHECK(std::ranges::equal(std::as_bytes(batch.x()), bytes));
  CHECK_EQUAL(delivery->counters().ring.traffic.source_reads, 3U);
}

TEST("with a ram tier every sample is read from the source once") {
  const Dataset data(40);
  const U64s sizes(40, 12);
  std::vector<std::uint64_t> memory(RamTier::bytes_needed(sizes, 1 << 20) / 8);
  auto tier = *RamTier::attach(std::as_writable_bytes(std::span(memory)), sizes);
  auto config = data.config();
  config.ram = &tier;
  const auto delivery = std::move(*Delivery::make(config));
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    const auto samples = shuffled(40, epoch);
    const auto ends = random_ends(40, epoch);
    CHECK(delivery->submit(samples, ends));
    check_epoch(*delivery, samples, ends);
  }
  const auto traffic = delivery->counters().ring.traffic;
  CHECK_EQUAL(traffic.source_bytes, 480U);
  CHECK_EQUAL(traffic.ram_bytes, 960U);
}

TEST("a ram tier that is too small serves what it holds") {
  const Dataset data(40);
  const U64s sizes(40, 12);
  const auto bytes = 64 + 40 * 8 + 10 * 64;
  std::vector<std::uint64_t> memory(bytes / 8);
  auto tier = *RamTier::attach(std::as_writable_bytes(std::span(memory)), sizes);
  auto config = data.config();
  config.ram = &tier;
  const auto delivery = std::move(*Delivery::make(config));
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    const auto samples = shuffled(40, epoch);
    const auto ends = random_ends(40, epoch);
    CHECK(delivery->submit(samples, ends));
    check_epoch(*delivery, samples, ends);
  }
  CHECK_EQUAL(delivery->counters().ring.traffic.ram_bytes, 120U);
}

TEST("counters count what was read and what was taken") {
  const Dataset data(8);
  const auto delivery = data.deliver();
  CHECK(delivery->submit(U64s{0, 7, 3}, U64s{2, 3}));
  const auto batch = next_of(*delivery);
  CHECK_EQUAL(batch.traffic().source_bytes, 24U);
  next_of(*delivery);
  const auto counters = delivery->counters();
  CHECK_EQUAL(counters.source_opens, 2U);
  CHECK_EQUAL(counters.ring.traffic.source_reads, 6U);
  CHECK_EQUAL(counters.ring.traffic.source_bytes, 36U);
  CHECK_EQUAL(counters.ring.batches, 2U);
  CHECK_EQUAL(counters.ring.samples, 3U);
}
