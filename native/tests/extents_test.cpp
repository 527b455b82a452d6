#include "augury/extents.hpp"

#include <cstdint>
#include <functional>
#include <vector>

#include "check.hpp"

namespace {

using augury::Extents;

/// Two samples of 10 bytes: one of two extents, one of one.
struct Table {
  std::vector<std::uint64_t> file_bytes{20, 15};
  std::vector<std::uint32_t> file{0, 1, 1};
  std::vector<std::uint64_t> offset{16, 0, 5};
  std::vector<std::uint64_t> length{4, 6, 10};
  std::vector<std::uint64_t> begin{0, 2, 3};

  [[nodiscard]] augury::Result<Extents> make() const {
    return Extents::make({file_bytes, file, offset, length, begin}, 10);
  }
};

std::string complaint(const std::function<void(Table&)>& change) {
  Table table;
  change(table);
  const auto outcome = table.make();
  return outcome ? "none" : outcome.error().message();
}

}  // namespace

TEST("a sample is its extents, in order") {
  const Table table;
  const auto extents = table.make();
  CHECK(extents);
  CHECK_EQUAL(extents->num_samples(), 2U);
  CHECK_EQUAL(extents->last(0) - extents->first(0), 2U);
  const auto extent = extents->extent(extents->first(1));
  CHECK(extent.file == 1 && extent.offset == 5 && extent.length == 10);
}

TEST("an empty dataset is a dataset") {
  const std::vector<std::uint64_t> begin{0};
  const auto extents = Extents::make({{}, {}, {}, {}, begin}, 10);
  CHECK(extents);
  CHECK_EQUAL(extents->num_samples(), 0U);
}

TEST("tables that contradict themselves are refused") {
  const std::string shape = "index: the columns of the extents do not fit together";
  CHECK_EQUAL(complaint([](Table& t) { t.offset.pop_back(); }), shape);
  CHECK_EQUAL(complaint([](Table& t) { t.begin.clear(); }), shape);
  CHECK_EQUAL(complaint([](Table& t) { t.begin = {0, 4, 3}; }), shape);
  CHECK_EQUAL(complaint([](Table& t) { t.begin = {1, 2, 3}; }), shape);
  CHECK_EQUAL(complaint([](Table& t) { t.begin = {0, 2}; }), shape);
}

TEST("extents outside their file are refused, also when the sum overflows") {
  const std::string beyond = "index: sample 1 reaches beyond its file";
  CHECK_EQUAL(complaint([](Table& t) { t.offset[2] = 6; }), beyond);
  CHECK_EQUAL(complaint([](Table& t) { t.file[2] = 2; }), beyond);
  CHECK_EQUAL(complaint([](Table& t) { t.offset[2] = ~std::uint64_t{0} - 5; }), beyond);
}

TEST("a sample of another size is refused, with its number") {
  CHECK_EQUAL(complaint([](Table& t) { t.length[0] = 3; }),
              "index: sample 0 has 9 bytes, its shape and type make 10");
}
