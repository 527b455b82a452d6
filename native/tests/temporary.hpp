#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace augury::check {

/// A folder of its own that vanishes with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  /// Writes a file; its path.
  [[nodiscard]] std::string write(const std::string& name, std::span<const std::byte> bytes) const;

 private:
  std::filesystem::path path_;
};

/// `count` bytes that a `seed` determines.
std::vector<std::byte> bytes_of(std::uint64_t seed, std::size_t count);

}  // namespace augury::check
