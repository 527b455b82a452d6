#pragma once

#include <functional>
#include <source_location>
#include <sstream>
#include <string>

/// A small test framework: TEST("a sentence") { CHECK(...); CHECK_EQUAL(a, b); }
/// A test program exits with 0, 1 (a check failed) or 77 (all its tests were skipped).
namespace augury::check {

struct Registration {
  Registration(const char* sentence, void (*body)());
};

/// Ends the running test as skipped.
[[noreturn]] void skip(const std::string& reason);

/// Ends the running test as failed.
[[noreturn]] void fail(const std::string& text, std::source_location where);

inline void check(bool holds, const char* text,
                  std::source_location where = std::source_location::current()) {
  if (!holds) fail(text, where);
}

template <class A, class B>
void check_equal(const A& a, const B& b, const char* text,
                 std::source_location where = std::source_location::current()) {
  if (a == b) return;
  std::ostringstream out;
  out << text << ": " << a << " != " << b;
  fail(out.str(), where);
}

}  // namespace augury::check

#define AUGURY_JOIN_(a, b) a##b
#define AUGURY_JOIN(a, b) AUGURY_JOIN_(a, b)
#define TEST(sentence)                                                             \
  static void AUGURY_JOIN(test_, __LINE__)();                                      \
  static const ::augury::check::Registration AUGURY_JOIN(registration_, __LINE__)( \
      sentence, AUGURY_JOIN(test_, __LINE__));                                     \
  static void AUGURY_JOIN(test_, __LINE__)()
#define CHECK(...) ::augury::check::check(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__)
#define CHECK_EQUAL(a, b) ::augury::check::check_equal((a), (b), #a " == " #b)
