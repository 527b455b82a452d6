#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "augury/result.hpp"

namespace augury {

/// An open file, read by position. Any number of threads may read at once.
class File {
 public:
  /// Opens for reading. Error::io names the path.
  static Result<File> open(std::string path);

  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  /// Length of the file now, in bytes.
  [[nodiscard]] Result<std::uint64_t> size_bytes() const;

  /// Fills all of `into` from byte `offset`. A file that ends first is an Error::damaged,
  /// never a short count.
  [[nodiscard]] Result<Done> read(std::uint64_t offset, std::span<std::byte> into) const;

 private:
  File(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  int fd_;
  std::string path_;
};

}  // namespace augury
