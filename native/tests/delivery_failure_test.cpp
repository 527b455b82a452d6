#include "augury/delivery.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <future>
#include <thread>

#include "dataset.hpp"

namespace {

using namespace augury::check;
using augury::Delivery;
using augury::Error;
using augury::Lease;
using U64s = std::vector<std::uint64_t>;

/// A dataset whose second file is a pipe that nobody writes to: opening it hangs until the
/// end of this object, or release().
class HangingDataset {
 public:
  HangingDataset() : data(8) {
    std::filesystem::remove(data.paths[1]);
    CHECK_EQUAL(::mkfifo(data.paths[1].c_str(), 0600), 0);
  }
  ~HangingDataset() {
    if (fd_ >= 0) ::close(fd_);
  }
  HangingDataset(const HangingDataset&) = delete;
  HangingDataset& operator=(const HangingDataset&) = delete;

  void release() { fd_ = ::open(data.paths[1].c_str(), O_RDWR | O_CLOEXEC); }

  Dataset data;

 private:
  int fd_ = -1;
};

/// A thread that waits in next() for a sample of the hanging file.
class Waiter {
 public:
  explicit Waiter(Delivery& delivery) {
    CHECK(delivery.submit(U64s{4}, U64s{1}));
    thread_ = std::jthread([this, &delivery] {
      bool told = false;
      const auto batch = delivery.next([&] {
        if (!std::exchange(told, true)) waits_.set_value();
        return false;
      });
      kind_.set_value(batch ? Error::Kind::unexpected : batch.error().kind);
    });
    waits_.get_future().wait();
  }

  Error::Kind kind() { return kind_.get_future().get(); }

 private:
  std::promise<void> waits_;
  std::promise<Error::Kind> kind_;
  std::jthread thread_;
};

std::string complaint(augury::DeliveryConfig config) {
  const auto outcome = Delivery::make(std::move(config));
  return outcome ? "none" : outcome.error().message();
}

}  // namespace

TEST("a missing file is reported in its batch's turn, with file and sample, again and again") {
  const Dataset data(12);
  std::filesystem::remove(data.paths[1]);
  for (const std::size_t threads : {1U, 4U}) {
    const auto delivery = data.deliver(threads);
    CHECK(delivery->submit(U64s{0, 1, 9, 5, 8}, U64s{2, 4, 5}));
    CHECK(Dataset::matches(next_of(*delivery), U64s{0, 1}));
    for (int i = 0; i < 3; ++i) {
      const auto outcome = delivery->next(never);
      CHECK(!outcome);
      CHECK_EQUAL(outcome.error().sys, ENOENT);
      CHECK_EQUAL(outcome.error().path, data.paths[1]);
      CHECK(outcome.error().text.ends_with("sample 5"));
    }
  }
}

TEST("a file that vanishes in mid-run is an error when it is needed") {
  const Dataset data(12);
  const auto delivery = data.deliver();
  CHECK(delivery->submit(U64s{0}, U64s{1}));
  next_of(*delivery);
  std::filesystem::remove(data.paths[0]);  // open already: still readable
  std::filesystem::remove(data.paths[2]);
  CHECK(delivery->submit(U64s{1, 8}, U64s{1, 2}));
  CHECK(Dataset::matches(next_of(*delivery), U64s{1}));
  CHECK(delivery->next(never).error().kind == Error::Kind::io);
}

TEST("a file that is truncated in mid-run is an error that says where") {
  const Dataset data(12);
  const auto delivery = data.deliver();
  CHECK(delivery->submit(U64s{0}, U64s{1}));
  next_of(*delivery);
  std::filesystem::resize_file(data.paths[0], 20);
  CHECK(delivery->submit(U64s{1}, U64s{1}));
  const auto outcome = delivery->next(never);
  CHECK(!outcome);
  CHECK_EQUAL(outcome.error().message(),
              data.paths[0] + ": truncated: the file ends inside 8 bytes at offset 16, sample 1");
}

TEST("a failed read leaves its sample claimable in the ram tier") {
  const Dataset data(4);
  const U64s sizes(4, 12);
  U64s memory(augury::RamTier::bytes_needed(sizes, 1 << 20) / 8);
  auto tier = *augury::RamTier::attach(std::as_writable_bytes(std::span(memory)), sizes);
  auto config = data.config();
  config.ram = &tier;
  std::filesystem::remove(data.paths[0]);
  const auto delivery = std::move(*Delivery::make(config));
  CHECK(delivery->submit(U64s{2}, U64s{1}));
  CHECK(!delivery->next(never));
  CHECK(!tier.get(2) && tier.claim(2));
}

TEST("a consumer that holds every slot is told so, and can go on") {
  const Dataset data(12);
  const auto delivery = data.deliver(2, 2);
  CHECK(delivery->submit(U64s{0, 1, 2}, U64s{1, 2, 3}));
  const auto first = next_of(*delivery);
  {
    const auto second = next_of(*delivery);
    CHECK(delivery->next(never).error().kind == Error::Kind::held);
  }
  CHECK(Dataset::matches(next_of(*delivery), U64s{2}));
  CHECK(Dataset::matches(first, U64s{0}));
}

TEST("batches outlive the delivery") {
  const Dataset data(12);
  std::vector<Lease> kept;
  {
    const auto delivery = data.deliver();
    CHECK(delivery->submit(U64s{3, 4, 5, 6}, U64s{2, 4}));
    kept.push_back(next_of(*delivery));
    kept.push_back(next_of(*delivery));
  }
  CHECK(Dataset::matches(kept[0], U64s{3, 4}));
  CHECK(Dataset::matches(kept[1], U64s{5, 6}));
}

TEST("a delivery can be left at any moment") {
  const Dataset data(40);
  U64s samples(4000);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = i % 40;
  U64s ends;
  for (std::uint64_t end = 4; end <= samples.size(); end += 4) ends.push_back(end);
  for (int taken = 0; taken < 30; ++taken) {
    const auto delivery = data.deliver(4, 3);
    CHECK(delivery->submit(samples, ends));
    for (int i = 0; i < taken; ++i) next_of(*delivery);
  }
}

TEST("stop wakes a waiting next, even while a reader hangs in the file system") {
  HangingDataset hanging;
  const auto delivery = hanging.data.deliver();
  Waiter waiter(*delivery);
  std::jthread stopper([&] { delivery->stop(); });
  CHECK(waiter.kind() == Error::Kind::stopped);
  hanging.release();
}

TEST("a delivery may be destroyed while another thread waits in next") {
  HangingDataset hanging;
  auto delivery = hanging.data.deliver();
  Waiter waiter(*delivery);
  std::jthread destroyer([&] { delivery.reset(); });
  CHECK(waiter.kind() == Error::Kind::stopped);
  hanging.release();
}

TEST("a waiting next can be interrupted, and waits again when asked again") {
  HangingDataset hanging;
  const auto delivery = hanging.data.deliver();
  CHECK(delivery->submit(U64s{0, 4}, U64s{1, 2}));
  next_of(*delivery);
  for (int i = 0; i < 2; ++i) {
    CHECK(delivery->next([] { return true; }).error().kind == Error::Kind::interrupted);
  }
  hanging.release();
  CHECK(delivery->next(never).error().kind == Error::Kind::damaged);
}

TEST("stop is idempotent, from any number of threads, and ends every later call") {
  const Dataset data(12);
  const auto delivery = data.deliver();
  {
    std::vector<std::jthread> stoppers;
    for (int i = 0; i < 4; ++i) stoppers.emplace_back([&] { delivery->stop(); });
  }
  delivery->stop();
  CHECK(delivery->next(never).error().kind == Error::Kind::stopped);
  CHECK(delivery->submit(U64s{0}, U64s{1}).error().kind == Error::Kind::stopped);
}

TEST("a sample that does not exist is refused at submission") {
  const Dataset data(12);
  const auto delivery = data.deliver();
  const auto outcome = delivery->submit(U64s{0, 12}, U64s{2});
  CHECK(!outcome);
  CHECK_EQUAL(outcome.error().message(), "sample 12 is not below 12");
  CHECK(!*delivery->next(never));
}

TEST("an empty dataset delivers empty batches") {
  const Dataset data(0);
  const auto delivery = data.deliver();
  CHECK(delivery->submit({}, U64s{0, 0}));
  CHECK_EQUAL(next_of(*delivery).num_samples(), 0U);
  CHECK_EQUAL(next_of(*delivery).num_samples(), 0U);
  CHECK(!*delivery->next(never));
}

TEST("what does not fit together is refused, and says what") {
  const Dataset data(12);
  auto config = data.config();
  CHECK_EQUAL(complaint(data.config(0)), "a delivery needs at least one thread");
  config.shape.sample_shape = {7};
  CHECK_EQUAL(complaint(config), "index: sample 0 has 12 bytes, its shape and type make 14");
  config = data.config();
  config.files.pop_back();
  CHECK_EQUAL(complaint(config), "index: 2 files, 3 sizes");
  config = data.config();
  config.shape.label_bytes = 3;
  CHECK_EQUAL(complaint(config), "index: 12 samples, but other labels");
  config = data.config();
  config.source_dtype = "int64";
  CHECK_EQUAL(complaint(config), "sample type 'int64' is not one of int16, uint8, float32");
}
