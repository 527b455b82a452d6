#include "augury/decode.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "check.hpp"

namespace {

using augury::Decoder;
const std::vector<std::string> logarithm{"log1p"};
const std::vector<std::string> none{};

template <class T>
std::vector<float> decoded(const char* dtype, const std::vector<std::string>& stages,
                           const std::vector<T>& values) {
  std::vector<float> out(values.size());
  const auto decoder = Decoder::make(dtype, stages);
  CHECK(decoder);
  CHECK_EQUAL(decoder->value_bytes(), sizeof(T));
  decoder->decode(std::as_bytes(std::span(values)), out);
  return out;
}

template <class T>
std::vector<T> all_values() {
  std::vector<T> values;
  for (int v = std::numeric_limits<T>::min(); v <= std::numeric_limits<T>::max(); ++v) {
    values.push_back(static_cast<T>(v));
  }
  return values;
}

}  // namespace

TEST("log1p of every int16 is the rounded one of double precision") {
  const auto values = all_values<std::int16_t>();
  const auto out = decoded("int16", logarithm, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto expected = static_cast<float>(std::log1p(static_cast<double>(values[i])));
    if (values[i] < -1) {
      CHECK(std::isnan(out[i]));
    } else {
      CHECK_EQUAL(out[i], expected);
    }
  }
}

TEST("integers without a stage keep their value") {
  for (const auto v : all_values<std::int16_t>()) {
    CHECK_EQUAL(decoded<std::int16_t>("int16", none, {v})[0], static_cast<float>(v));
  }
  const auto bytes = all_values<std::uint8_t>();
  const auto plain = decoded("uint8", none, bytes);
  const auto logs = decoded("uint8", logarithm, bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    CHECK_EQUAL(plain[i], static_cast<float>(bytes[i]));
    CHECK_EQUAL(logs[i], static_cast<float>(std::log1p(static_cast<double>(bytes[i]))));
  }
}

TEST("float32 passes through, and log1p follows IEEE 754 at its edges") {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(decoded<float>("float32", none, {1.5F, -2.F}) == std::vector<float>{1.5F, -2.F});
  const auto out = decoded<float>("float32", logarithm, {0.F, 1.F, -1.F, inf, -2.F, nan});
  CHECK_EQUAL(out[0], 0.F);
  CHECK_EQUAL(out[1], std::log1p(1.F));
  CHECK_EQUAL(out[2], -inf);
  CHECK_EQUAL(out[3], inf);
  CHECK(std::isnan(out[4]) && std::isnan(out[5]));
}

TEST("bytes need not be aligned to their type") {
  const std::vector<std::byte> bytes{std::byte{9}, std::byte{1}, std::byte{0}, std::byte{2},
                                     std::byte{0}};
  std::vector<float> out(2);
  (*Decoder::make("int16", none)).decode(std::span(bytes).subspan(1), out);
  CHECK(out == std::vector<float>{1.F, 2.F});
}

TEST("only float32 without stages is the identity") {
  CHECK((*Decoder::make("float32", none)).is_identity());
  CHECK(!(*Decoder::make("float32", logarithm)).is_identity());
  CHECK(!(*Decoder::make("int16", none)).is_identity());
}

TEST("unknown types and stages are errors that name them") {
  CHECK(!Decoder::make("int64", none));
  const std::vector<std::string> sqrt{"sqrt"};
  const auto outcome = Decoder::make("int16", sqrt);
  CHECK(!outcome);
  CHECK(outcome.error().message().find("'sqrt'") != std::string::npos);
}
