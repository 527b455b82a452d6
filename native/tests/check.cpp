#include "check.hpp"

#include <cstdio>
#include <stdexcept>
#include <vector>

namespace augury::check {
namespace {

struct Test {
  const char* sentence;
  void (*body)();
};

std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}

struct Skipped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace

Registration::Registration(const char* sentence, void (*body)()) {
  tests().push_back({sentence, body});
}

void skip(const std::string& reason) { throw Skipped(reason); }

void fail(const std::string& text, std::source_location where) {
  throw std::runtime_error(std::string(where.file_name()) + ":" + std::to_string(where.line()) +
                           ": " + text);
}

}  // namespace augury::check

int main() {
  using namespace augury::check;
  std::size_t failed = 0;
  std::size_t skipped = 0;
  for (const auto& test : tests()) {
    std::string outcome = "ok";
    try {
      test.body();
    } catch (const Skipped& skip) {
      ++skipped;
      outcome = std::string("skipped, ") + skip.what();
    } catch (const std::exception& error) {
      ++failed;
      outcome = std::string("FAILED, ") + error.what();
    }
    std::printf("%s: %s\n", test.sentence, outcome.c_str());
  }
  if (failed > 0) return 1;
  return skipped == tests().size() ? 77 : 0;
}
