#include "augury/order.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <vector>

#include "check.hpp"

namespace {

using augury::Order;
using U64s = std::vector<std::uint64_t>;

U64s samples_at(std::uint64_t num_samples, std::uint64_t seed, std::uint64_t epoch,
                const U64s& positions) {
  U64s samples(positions.size());
  CHECK((*Order::make(num_samples, seed, epoch)).samples_at(positions, samples));
  return samples;
}

U64s all_positions(std::uint64_t num_samples) {
  U64s positions(num_samples);
  std::iota(positions.begin(), positions.end(), 0);
  return positions;
}

void check_bijection(std::uint64_t num_samples, std::uint64_t seed, std::uint64_t epoch) {
  const auto positions = all_positions(num_samples);
  auto samples = samples_at(num_samples, seed, epoch, positions);
  U64s back(samples.size());
  CHECK((*Order::make(num_samples, seed, epoch)).positions_of(samples, back));
  CHECK(back == positions);
  std::ranges::sort(samples);
  CHECK(samples == positions);
}

}  // namespace

TEST("every epoch visits every sample once, for all small numbers of samples") {
  for (std::uint64_t n = 0; n <= 300; ++n) {
    for (const std::uint64_t epoch : {0U, 1U, 99U}) check_bijection(n, 7, epoch);
  }
}

TEST("every epoch visits every sample once around powers of two and for primes") {
  for (const unsigned k : {9U, 10U, 13U, 14U, 15U, 16U, 17U}) {
    const auto power = std::uint64_t{1} << k;
    for (const auto n : {power - 1, power, power + 1}) check_bijection(n, k, 3);
  }
  for (const std::uint64_t prime : {1009U, 10007U, 65537U, 100003U}) check_bijection(prime, 11, 5);
}

TEST("random numbers of samples, seeds and epochs give bijections") {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 200; ++trial) check_bijection(random() % 5000, random(), random());
}

TEST("above 2^32 samples the inverse undoes the order, and samples are distinct") {
  std::mt19937_64 random(2);
  const auto power = std::uint64_t{1} << 40;
  for (const auto n :
       {(std::uint64_t{1} << 32) + 1, power - 1, power, power + 1,
        std::uint64_t{1'000'000'007} * 1'000'000'009, Order::max_samples - 1, Order::max_samples}) {
    U64s positions(2000);
    std::ranges::generate(positions, [&] { return random() % n; });
    positions.front() = 0;
    positions.back() = n - 1;
    std::ranges::sort(positions);
    positions.erase(std::ranges::unique(positions).begin(), positions.end());
    auto samples = samples_at(n, 3, 4, positions);
    U64s back(samples.size());
    CHECK((*Order::make(n, 3, 4)).positions_of(samples, back));
    CHECK(back == positions);
    CHECK(std::ranges::all_of(samples, [n](auto sample) { return sample < n; }));
    std::ranges::sort(samples);
    CHECK(std::ranges::adjacent_find(samples) == samples.end());
  }
}

TEST("orders of different seeds and epochs differ") {
  const auto positions = all_positions(1000);
  const auto first = samples_at(1000, 1, 1, positions);
  CHECK(first != samples_at(1000, 1, 2, positions));
  CHECK(first != samples_at(1000, 2, 1, positions));
  CHECK(first != samples_at(1000, 2, 0, positions));
  CHECK(first == samples_at(1000, 1, 1, positions));
}

TEST("order version 1 is frozen") {
  CHECK(samples_at(10, 7, 0, all_positions(10)) == U64s{5, 9, 2, 6, 1, 7, 0, 3, 8, 4});
  CHECK(samples_at(16384, 0, 0, {0, 1, 2, 16383}) == U64s{14642, 15938, 11509, 10708});
  CHECK(samples_at(16385, 0, 0, {0, 1, 2, 16384}) == U64s{12913, 2709, 12615, 12686});
  CHECK(samples_at(1'000'000, 123, 45, {0, 1, 999'999}) == U64s{20440, 370890, 52223});
  CHECK(samples_at((std::uint64_t{1} << 40) + 1, ~std::uint64_t{0}, 9, {0, 1}) ==
        U64s{937273625211, 763688813486});
  CHECK(samples_at(Order::max_samples, 5, 1, {0, Order::max_samples - 1}) ==
        U64s{7276660720622960581, 3286350872764739779});
}

TEST("a position outside the range is an error that names it") {
  const auto order = *Order::make(10, 7, 0);
  const std::array<std::uint64_t, 2> positions{3, 10};
  std::array<std::uint64_t, 2> samples{};
  const auto outcome = order.samples_at(positions, samples);
  CHECK(!outcome);
  CHECK_EQUAL(outcome.error().message(), "position 10 is not below 10");
  CHECK(!(*Order::make(0, 7, 0)).positions_of(std::span(positions).first(1), samples));
  CHECK(!Order::make(Order::max_samples + 1, 0, 0));
}
