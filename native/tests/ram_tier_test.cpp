#include "augury/ram_tier.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <thread>
#include <vector>

#include "check.hpp"
#include "temporary.hpp"

namespace {

using augury::RamTier;
using augury::check::bytes_of;

/// Zeroed memory that a forked process shares.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes)
      : data_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)),
        bytes_(bytes) {
    CHECK(data_ != MAP_FAILED);
  }
  ~SharedMemory() { ::munmap(data_, bytes_); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  [[nodiscard]] std::span<std::byte> span() const {
    return {static_cast<std::byte*>(data_), bytes_};
  }

 private:
  void* data_;
  std::size_t bytes_;
};

bool holds(const RamTier& tier, std::uint64_t sample) {
  const auto bytes = tier.get(sample);
  return bytes && std::ranges::equal(*bytes, bytes_of(sample, tier.sample_bytes(sample)));
}

bool put(RamTier& tier, std::uint64_t sample) {
  const auto room = tier.claim(sample);
  if (!room) return false;
  std::ranges::copy(bytes_of(sample, room->size()), room->begin());
  tier.publish(sample);
  return true;
}

/// Puts every sample, or finds it; how many it put.
std::size_t visit_all(RamTier& tier) {
  std::size_t puts = 0;
  for (std::uint64_t sample = 0; sample < tier.num_samples(); ++sample) {
    if (put(tier, sample)) ++puts;
  }
  return puts;
}

/// Runs `body` in another process; what it returned, 0 to 255.
int in_child(const std::function<int()>& body) {
  const auto pid = ::fork();
  if (pid == 0) ::_exit(body());
  int status = 0;
  CHECK_EQUAL(::waitpid(pid, &status, 0), pid);
  CHECK(WIFEXITED(status));
  return WEXITSTATUS(status);
}

const std::vector<std::uint64_t> sizes{100, 64, 1, 1000, 65};

}  // namespace

TEST("a sample is absent, then filling, then ready") {
  const SharedMemory memory(RamTier::bytes_needed(sizes, 1 << 20));
  auto tier = *RamTier::attach(memory.span(), sizes);
  CHECK(!tier.get(3));
  const auto room = tier.claim(3);
  CHECK(room && room->size() == 1000);
  CHECK(!tier.get(3) && !tier.claim(3));
  std::ranges::copy(bytes_of(3, 1000), room->begin());
  tier.publish(3);
  CHECK(holds(tier, 3));
  CHECK(!tier.claim(3));
}

TEST("an abandoned sample can be claimed again, in the same room") {
  const SharedMemory memory(RamTier::bytes_needed(sizes, 1 << 20));
  auto tier = *RamTier::attach(memory.span(), sizes);
  const auto first = tier.claim(0);
  tier.abandon(0);
  CHECK(!tier.get(0));
  const auto used = tier.used_bytes();
  const auto again = tier.claim(0);
  CHECK(again && again->data() == first->data());
  CHECK_EQUAL(tier.used_bytes(), used);
}

TEST("memory for all samples holds them all, aligned, and not one byte more is used") {
  const auto bytes = RamTier::bytes_needed(sizes, 1 << 20);
  CHECK_EQUAL(bytes, 64U + 64 + 128 + 64 + 64 + 1024 + 128);
  const SharedMemory memory(bytes);
  auto tier = *RamTier::attach(memory.span(), sizes);
  CHECK_EQUAL(visit_all(tier), sizes.size());
  CHECK_EQUAL(tier.used_bytes(), bytes);
  for (std::uint64_t sample = 0; sample < sizes.size(); ++sample) {
    CHECK(holds(tier, sample));
    CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(tier.get(sample)->data()) % 64, 0U);
  }
}

TEST("when the memory is full, samples that do not fit stay absent and smaller ones get in") {
  const auto budget = 64U + 64 + 256;
  CHECK_EQUAL(RamTier::bytes_needed(sizes, budget), budget);
  const SharedMemory memory(budget);
  auto tier = *RamTier::attach(memory.span(), sizes);
  CHECK(!put(tier, 3));
  CHECK(put(tier, 0) && put(tier, 1) && put(tier, 2));
  CHECK(!put(tier, 4) && !put(tier, 3));
  CHECK(holds(tier, 0) && holds(tier, 1) && holds(tier, 2) && !tier.get(4));
}

TEST("a budget below the table gives the size of the table") {
  CHECK_EQUAL(RamTier::bytes_needed(sizes, 5), 128U);
  const SharedMemory memory(128);
  auto tier = *RamTier::attach(memory.span(), sizes);
  CHECK_EQUAL(visit_all(tier), 0U);
}

TEST("memory that is too small, unaligned or of other samples is refused") {
  const SharedMemory memory(4096);
  CHECK(!RamTier::attach(memory.span().first(127), sizes));
  CHECK(!RamTier::attach(memory.span().subspan(1), sizes));
  CHECK(RamTier::attach(memory.span(), sizes));
  CHECK(RamTier::attach(memory.span(), sizes));
  const std::vector<std::uint64_t> others{100, 64, 1, 1000, 66};
  const auto outcome = RamTier::attach(memory.span(), others);
  CHECK(!outcome);
  CHECK_EQUAL(outcome.error().message(), "ram tier: the memory belongs to other samples");
}

TEST("two processes fill every sample once and see each other's") {
  const std::vector<std::uint64_t> many(200, 3000);
  const SharedMemory memory(RamTier::bytes_needed(many, 1 << 30));
  const auto body = [&] {
    auto tier = *RamTier::attach(memory.span(), many);
    return static_cast<int>(visit_all(tier));
  };
  const auto pid = ::fork();
  if (pid == 0) ::_exit(body());
  const int mine = body();
  int status = 0;
  CHECK_EQUAL(::waitpid(pid, &status, 0), pid);
  CHECK(WIFEXITED(status));
  CHECK_EQUAL(mine + WEXITSTATUS(status), 200);
  const auto tier = *RamTier::attach(memory.span(), many);
  for (std::uint64_t sample = 0; sample < 200; ++sample) CHECK(holds(tier, sample));
}

TEST("a process that dies while it fills a sample stops nobody") {
  const SharedMemory memory(RamTier::bytes_needed(sizes, 1 << 20));
  CHECK_EQUAL(in_child([&] {
                auto tier = *RamTier::attach(memory.span(), sizes);
                return tier.claim(0) ? 0 : 1;
              }),
              0);
  auto tier = *RamTier::attach(memory.span(), sizes);
  CHECK(!tier.get(0) && !tier.claim(0));
  CHECK(put(tier, 1));
}

TEST("threads fill every sample once") {
  const std::vector<std::uint64_t> many(500, 100);
  const SharedMemory memory(RamTier::bytes_needed(many, 1 << 30));
  std::vector<std::size_t> puts(4);
  {
    std::vector<std::jthread> threads;
    for (auto& count : puts) {
      threads.emplace_back([&] {
        auto tier = *RamTier::attach(memory.span(), many);
        count = visit_all(tier);
        for (std::uint64_t sample = 0; sample < many.size(); ++sample) {
          if (tier.get(sample) && !holds(tier, sample)) std::terminate();
        }
      });
    }
  }
  CHECK_EQUAL(puts[0] + puts[1] + puts[2] + puts[3], many.size());
}
