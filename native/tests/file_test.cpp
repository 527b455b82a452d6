#include "augury/file.hpp"

#include <cerrno>
#include <utility>

#include "check.hpp"
#include "temporary.hpp"

using augury::Error;
using augury::File;
using augury::check::bytes_of;
using augury::check::TemporaryFolder;

TEST("a file is read by position, in any order") {
  const TemporaryFolder folder;
  const auto bytes = bytes_of(1, 1000);
  auto file = File::open(folder.write("a", bytes));
  CHECK(file);
  CHECK_EQUAL(*file->size_bytes(), 1000U);
  std::vector<std::byte> into(10);
  for (const std::size_t offset : {990U, 0U, 17U}) {
    CHECK(file->read(offset, into));
    CHECK(std::equal(into.begin(), into.end(), bytes.begin() + static_cast<long>(offset)));
  }
  CHECK(file->read(1000, {}));
}

TEST("a file that ends first is truncated, not short") {
  const TemporaryFolder folder;
  const auto path = folder.write("a", bytes_of(1, 100));
  const auto file = File::open(path);
  std::vector<std::byte> into(60);
  const auto outcome = file->read(50, into);
  CHECK(!outcome);
  CHECK(outcome.error().kind == Error::Kind::damaged);
  CHECK_EQUAL(outcome.error().message(),
              path + ": truncated: the file ends inside 60 bytes at offset 50");
}

TEST("a missing file and a folder are errors with errno and path") {
  const auto missing = File::open("/no/such/file");
  CHECK(!missing);
  CHECK_EQUAL(missing.error().sys, ENOENT);
  CHECK_EQUAL(missing.error().path, "/no/such/file");
  const auto folder = File::open("/");
  CHECK(folder);
  std::vector<std::byte> into(1);
  CHECK_EQUAL(folder->read(0, into).error().sys, EISDIR);
}

TEST("a moved file stays open") {
  const TemporaryFolder folder;
  auto first = File::open(folder.write("a", bytes_of(1, 10)));
  auto second = File::open(folder.write("b", bytes_of(2, 20)));
  File file = std::move(*first);
  CHECK_EQUAL(*file.size_bytes(), 10U);
  file = std::move(*second);
  CHECK_EQUAL(*file.size_bytes(), 20U);
}
