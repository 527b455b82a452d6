#include "augury/extents.hpp"

#include <string>

namespace augury {
namespace {

Error invalid(std::string text) {
  return {.kind = Error::Kind::invalid, .text = "index: " + std::move(text)};
}

/// True when the columns have matching lengths and `begin` cuts the extents into samples.
bool is_shaped(const ExtentTable& table) {
  const auto num_extents = table.file.size();
  if (table.offset.size() != num_extents || table.length.size() != num_extents) return false;
  if (table.begin.empty() || table.begin.front() != 0 || table.begin.back() != num_extents) {
    return false;
  }
  for (std::size_t k = 1; k < table.begin.size(); ++k) {
    if (table.begin[k] < table.begin[k - 1]) return false;
  }
  return true;
}

bool is_inside_file(const ExtentTable& table, std::size_t at) {
  if (table.file[at] >= table.file_bytes.size()) return false;
  const auto file_bytes = table.file_bytes[table.file[at]];
  return table.offset[at] <= file_bytes && table.length[at] <= file_bytes - table.offset[at];
}

}  // namespace

Result<Extents> Extents::make(const ExtentTable& table, std::uint64_t sample_bytes) {
  if (!is_shaped(table)) return invalid("the columns of the extents do not fit together");
  const Extents extents(table, sample_bytes);
  for (std::uint64_t sample = 0; sample < extents.num_samples(); ++sample) {
    std::uint64_t bytes = 0;
    for (auto at = extents.first(sample); at < extents.last(sample); ++at) {
      if (!is_inside_file(table, at)) {
        return invalid("sample " + std::to_string(sample) + " reaches beyond its file");
      }
      if (bytes > sample_bytes) break;  // before the sum can overflow
      bytes += table.length[at];
    }
    if (bytes != sample_bytes) {
      return invalid("sample " + std::to_string(sample) + " has " + std::to_string(bytes) +
                     " bytes, its shape and type make " + std::to_string(sample_bytes));
    }
  }
  return extents;
}

}  // namespace augury
