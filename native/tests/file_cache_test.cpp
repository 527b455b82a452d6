#include "augury/file_cache.hpp"

#include <sys/resource.h>

#include <filesystem>
#include <thread>

#include "check.hpp"
#include "temporary.hpp"

namespace {

using augury::Error;
using augury::FileCache;
using augury::check::bytes_of;
using augury::check::TemporaryFolder;

struct Files {
  explicit Files(std::size_t count) : file_bytes(count, 8) {
    for (std::size_t i = 0; i < count; ++i) {
      paths.push_back(folder.write(std::to_string(i), bytes_of(i, 8)));
    }
  }

  TemporaryFolder folder;
  std::vector<std::string> paths;
  std::vector<std::uint64_t> file_bytes;
};

std::size_t open_files() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace

TEST("a file is opened once while it stays in the cache, the oldest leaves first") {
  const Files files(3);
  FileCache cache(files.paths, files.file_bytes, 2);
  for (const std::uint32_t at : {0U, 0U, 1U, 0U}) CHECK(cache.get(at, {}));
  CHECK_EQUAL(cache.opens(), 2U);
  CHECK(cache.get(2, {}));  // file 1 leaves: 0 was used after it
  CHECK(cache.get(0, {}));
  CHECK_EQUAL(cache.opens(), 3U);
  CHECK(cache.get(1, {}));
  CHECK_EQUAL(cache.opens(), 4U);
}

TEST("no more files are open than the bound allows") {
  const Files files(50);
  const auto before = open_files();
  FileCache cache(files.paths, files.file_bytes, 5);
  for (std::uint32_t at = 0; at < 50; ++at) CHECK(cache.get(at, {}));
  CHECK_EQUAL(open_files(), before + 5);
}

TEST("a file that left the cache can still be read by who has it") {
  const Files files(2);
  FileCache cache(files.paths, files.file_bytes, 1);
  const auto first = cache.get(0, {});
  CHECK(cache.get(1, {}));
  std::vector<std::byte> into(8);
  CHECK((*first)->read(0, into));
  CHECK(into == bytes_of(0, 8));
}

TEST("a file of another size than recorded is an error that names both") {
  Files files(2);
  files.file_bytes = {9, 7};
  FileCache cache(files.paths, files.file_bytes, 2);
  const auto shorter = cache.get(0, {});
  CHECK(!shorter);
  CHECK_EQUAL(shorter.error().message(),
              files.paths[0] + ": truncated since it was indexed: " + "8 bytes, the index says 9");
  const auto longer = cache.get(1, {});
  CHECK(!longer);
  CHECK(longer.error().text.starts_with("changed since it was indexed"));
  CHECK_EQUAL(cache.opens(), 0U);
}

TEST("a failed open is tried again and does not count") {
  Files files(1);
  const auto away = files.paths[0] + ".away";
  std::filesystem::rename(files.paths[0], away);
  FileCache cache(files.paths, files.file_bytes, 1);
  CHECK(cache.get(0, {}).error().kind == Error::Kind::io);
  std::filesystem::rename(away, files.paths[0]);
  CHECK(cache.get(0, {}));
  CHECK_EQUAL(cache.opens(), 1U);
}

TEST("threads that need the same file at once open it once") {
  const Files files(4);
  FileCache cache(files.paths, files.file_bytes, 4);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&cache] {
        for (std::uint32_t n = 0; n < 400; ++n) {
          if (!cache.get(n % 4, {})) std::terminate();
        }
      });
    }
  }
  CHECK_EQUAL(cache.opens(), 4U);
}

TEST("the bound follows the limit on open files") {
  rlimit before{};
  CHECK_EQUAL(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit low{.rlim_cur = 64, .rlim_max = before.rlim_max};
  CHECK_EQUAL(::setrlimit(RLIMIT_NOFILE, &low), 0);
  CHECK_EQUAL(FileCache::default_capacity(), 16U);
  CHECK_EQUAL(::setrlimit(RLIMIT_NOFILE, &before), 0);
  CHECK(FileCache::default_capacity() <= 256);
}
