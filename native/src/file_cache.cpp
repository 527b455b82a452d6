#include "augury/file_cache.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace augury {

FileCache::FileCache(std::vector<std::string> paths, std::span<const std::uint64_t> file_bytes,
                     std::size_t capacity)
    : paths_(std::move(paths)),
      file_bytes_(file_bytes),
      capacity_(std::max<std::size_t>(1, capacity)) {}

Result<std::shared_ptr<const File>> FileCache::get(std::uint32_t at, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto is_opening = [&] {
    const auto found = entries_.find(at);
    return found != entries_.end() && !found->second.file;
  };
  if (!opened_.wait(lock, stop, [&] { return !is_opening(); })) {
    return Error{.kind = Error::Kind::stopped, .text = "stopped"};
  }
  if (const auto found = entries_.find(at); found != entries_.end()) {
    recent_.splice(recent_.begin(), recent_, found->second.recent);
    return found->second.file;
  }
  entries_.emplace(at, Entry{});
  lock.unlock();
  auto file = open(at);
  lock.lock();
  if (file) {
    ++opens_;
    recent_.push_front(at);
    entries_[at] = {*file, recent_.begin()};
    if (recent_.size() > capacity_) close_oldest();
  } else {
    entries_.erase(at);  // a waiting thread tries for itself and meets its own error
  }
  opened_.notify_all();
  return file;
}

void FileCache::close_oldest() {
  entries_.erase(recent_.back());
  recent_.pop_back();
}

Result<std::shared_ptr<const File>> FileCache::open(std::uint32_t at) const {
  auto file = File::open(paths_[at]);
  if (!file) return file.error();
  const auto size = file->size_bytes();
  if (!size) return size.error();
  if (*size != file_bytes_[at]) {
    const std::string change = *size < file_bytes_[at] ? "truncated" : "changed";
    return Error{.kind = Error::Kind::damaged,
                 .text = change + " since it was indexed: " + std::to_string(*size) +
                         " bytes, the index says " + std::to_string(file_bytes_[at]),
                 .path = paths_[at]};
  }
  return std::make_shared<const File>(std::move(*file));
}

std::uint64_t FileCache::opens() const {
  const std::lock_guard lock(mutex_);
  return opens_;
}

std::size_t FileCache::default_capacity() {
  constexpr std::size_t most = 256;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return most;
  return std::clamp<std::size_t>(limit.rlim_cur / 4, 1, most);
}

}  // namespace augury
