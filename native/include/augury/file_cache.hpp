#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "augury/file.hpp"

namespace augury {

/// The files of a dataset, opened when first needed and kept open up to a bound.
///
/// The least recently used file is closed first. Threads open different files at the same
/// time (an open can take long on a parallel file system); a thread that needs a file which
/// another one is opening waits for it, so that no file is opened twice for nothing.
class FileCache {
 public:
  /// `file_bytes` is the recorded length of each path; it must outlive the cache. At most
  /// `capacity` files (at least 1) stay open, plus those that a thread still reads.
  FileCache(std::vector<std::string> paths, std::span<const std::uint64_t> file_bytes,
            std::size_t capacity);

  /// File number `at`, open. Error::io when it cannot be opened, Error::damaged when its
  /// length differs from the recorded one, Error::stopped.
  Result<std::shared_ptr<const File>> get(std::uint32_t at, const std::stop_token& stop);

  /// Files opened so far.
  [[nodiscard]] std::uint64_t opens() const;

  /// 256, or a quarter of what this process may have open (RLIMIT_NOFILE) if that is less.
  static std::size_t default_capacity();

 private:
  struct Entry {
    // Shared, because a file that leaves the cache stays open until its last read ends.
    std::shared_ptr<const File> file;  // null while a thread opens it
    std::list<std::uint32_t>::iterator recent;
  };

  [[nodiscard]] Result<std::shared_ptr<const File>> open(std::uint32_t at) const;
  void close_oldest();

  const std::vector<std::string> paths_;
  const std::span<const std::uint64_t> file_bytes_;
  const std::size_t capacity_;

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable_any opened_;
  std::unordered_map<std::uint32_t, Entry> entries_;
  std::list<std::uint32_t> recent_;  // open files, most recently used first
  std::uint64_t opens_ = 0;
};

}  // namespace augury
