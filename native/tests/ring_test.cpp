#include "augury/ring.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

using augury::Error;
using augury::Lease;
using augury::Ring;
using augury::Traffic;
using U64s = std::vector<std::uint64_t>;

bool never() { return false; }

std::shared_ptr<Ring> make_ring(std::size_t depth) {
  return *Ring::make({.batch = 3, .sample_shape = {2, 2}, .label_bytes = 5}, depth);
}

void submit(Ring& ring, const U64s& samples, const U64s& ends) {
  CHECK(ring.submit(samples, ends));
}

/// Fills in `count` samples in the calling thread, each with its number.
void fill(Ring& ring, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto task = ring.take({});
    CHECK(task);
    std::ranges::fill(task->x, static_cast<float>(task->sample));
    std::ranges::fill(task->y, static_cast<std::byte>(task->sample));
    ring.done(*task, Traffic{.source_bytes = 4, .source_reads = 1});
  }
}

Lease take_lease(Ring& ring) {
  auto batch = ring.next(never);
  if (!batch) throw std::runtime_error(batch.error().message());
  CHECK(batch->has_value());
  return std::move(**batch);
}

}  // namespace

TEST("arrays of a batch start at multiples of 64 bytes and do not overlap") {
  const auto ring = make_ring(2);
  submit(*ring, {1, 2, 3, 4}, {3, 4});
  fill(*ring, 4);
  const auto first = take_lease(*ring);
  const auto second = take_lease(*ring);
  CHECK_EQUAL(first.num_samples(), 3U);
  CHECK_EQUAL(second.num_samples(), 1U);
  for (const auto* lease : {&first, &second}) {
    for (const void* at :
         {static_cast<const void*>(lease->x().data()), static_cast<const void*>(lease->y().data()),
          static_cast<const void*>(lease->samples().data())}) {
      CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(at) % 64, 0U);
    }
  }
  CHECK_EQUAL(first.x().size(), 12U);
  CHECK_EQUAL(first.y().size(), 15U);
  CHECK(first.x()[11] == 3.F && first.y()[14] == std::byte{3} && first.samples()[2] == 3);
  CHECK_EQUAL(second.x()[0], 4.F);
}

TEST("batches that become ready out of order are handed over in order") {
  const auto ring = make_ring(2);
  submit(*ring, {10, 20}, {1, 2});
  const auto first = ring->take({});
  const auto second = ring->take({});
  CHECK_EQUAL(second->sample, 20U);
  ring->done(*second, Traffic{});
  CHECK(ring->next([] { return true; }).error().kind == Error::Kind::interrupted);
  ring->done(*first, Traffic{});
  CHECK_EQUAL(take_lease(*ring).samples()[0], 10U);
  CHECK_EQUAL(take_lease(*ring).samples()[0], 20U);
}

TEST("nothing submitted, or one next too many, is nothing at once") {
  const auto ring = make_ring(2);
  CHECK(!*ring->next(never));
  submit(*ring, {}, {});
  CHECK(!*ring->next(never));
  submit(*ring, {1}, {1});
  fill(*ring, 1);
  take_lease(*ring);
  CHECK(!*ring->next(never));
}

TEST("a slot that is held is not refilled, and held slots are told from a wait") {
  const auto ring = make_ring(2);
  submit(*ring, {1, 2, 3}, {1, 2, 3});
  fill(*ring, 2);
  auto first = std::make_unique<Lease>(take_lease(*ring));
  const auto second = take_lease(*ring);
  const auto outcome = ring->next(never);
  CHECK(!outcome);
  CHECK(outcome.error().kind == Error::Kind::held);
  CHECK(outcome.error().text.starts_with("2 batches are still held"));
  const auto* const memory = first->x().data();
  first.reset();
  fill(*ring, 1);
  const auto third = take_lease(*ring);
  CHECK_EQUAL(third.samples()[0], 3U);
  CHECK(third.x().data() == memory);
  CHECK_EQUAL(second.x()[0], 2.F);
}

TEST("empty batches take their turn") {
  const auto ring = make_ring(4);
  submit(*ring, {5}, {0, 1, 1});
  fill(*ring, 1);
  {
    std::jthread reader([&](const std::stop_token& stop) { CHECK(!ring->take(stop)); });
    CHECK_EQUAL(take_lease(*ring).num_samples(), 0U);
    CHECK_EQUAL(take_lease(*ring).num_samples(), 1U);
    CHECK_EQUAL(take_lease(*ring).num_samples(), 0U);
  }
  CHECK(!*ring->next(never));
}

TEST("a failed batch is reported in its turn, then again and again") {
  const auto ring = make_ring(3);
  submit(*ring, {1, 2, 3, 4}, {1, 4});
  const auto good = ring->take({});
  const auto bad = ring->take({});
  const auto worse = ring->take({});
  ring->done(*worse, Error{.text = "second"});
  ring->done(*bad, Error{.text = "first"});
  ring->done(*good, Traffic{});
  CHECK_EQUAL(take_lease(*ring).samples()[0], 1U);
  for (int i = 0; i < 3; ++i) CHECK_EQUAL(ring->next(never).error().text, "first");
}

TEST("after a failure readers get no more work") {
  const auto ring = make_ring(3);
  submit(*ring, {1, 2}, {1, 2});
  const auto task = ring->take({});
  ring->done(*task, Error{.text = "gone"});
  std::jthread reader([&](const std::stop_token& stop) { CHECK(!ring->take(stop)); });
}

TEST("a lease keeps its memory when the ring is gone") {
  auto ring = make_ring(1);
  submit(*ring, {7}, {1});
  fill(*ring, 1);
  const auto lease = take_lease(*ring);
  ring->stop();
  ring.reset();
  CHECK_EQUAL(lease.x()[3], 7.F);
  lease.x()[3] = 8.F;
}

TEST("a stop ends every wait and every later call") {
  const auto ring = make_ring(1);
  std::jthread reader([&] { CHECK(!ring->take({})); });
  ring->stop();
  reader.join();
  CHECK(ring->next(never).error().kind == Error::Kind::stopped);
  CHECK(ring->submit({}, {}).error().kind == Error::Kind::stopped);
  CHECK(!ring->take({}));
}

TEST("batches that do not fit are refused and leave nothing behind") {
  const auto ring = make_ring(1);
  const U64s samples{1, 2, 3, 4};
  for (const auto& ends : {U64s{4}, U64s{3}, U64s{}, U64s{2, 1, 4}, U64s{3, 5}}) {
    const auto outcome = ring->submit(samples, ends);
    CHECK(!outcome);
    CHECK(outcome.error().kind == Error::Kind::invalid);
  }
  CHECK(!*ring->next(never));
}

TEST("sizes that are no numbers are refused") {
  const auto huge = std::numeric_limits<std::size_t>::max() / 2;
  CHECK(!Ring::make({.batch = huge, .sample_shape = {4}, .label_bytes = 0}, 1));
  CHECK(!Ring::make({.batch = 1, .sample_shape = {huge, 8}, .label_bytes = 0}, 1));
  CHECK(!Ring::make({.batch = 0, .sample_shape = {4}, .label_bytes = 0}, 1));
  CHECK(!Ring::make({.batch = 1, .sample_shape = {4}, .label_bytes = 0}, 0));
}

TEST("counters add up over batches") {
  const auto ring = make_ring(2);
  submit(*ring, {1, 2, 3}, {2, 3});
  fill(*ring, 3);
  CHECK_EQUAL(take_lease(*ring).traffic().source_bytes, 8U);
  take_lease(*ring);
  const auto counters = ring->counters();
  CHECK_EQUAL(counters.traffic.source_bytes, 12U);
  CHECK_EQUAL(counters.traffic.source_reads, 3U);
  CHECK_EQUAL(counters.batches, 2U);
  CHECK_EQUAL(counters.samples, 3U);
}
