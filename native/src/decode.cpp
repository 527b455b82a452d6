#include "augury/decode.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace augury {
namespace {

static_assert(std::endian::native == std::endian::little, "samples are little endian");

/// log1p of every T, by its bits.
template <class T>
std::vector<float> log1p_table() {
  std::vector<float> table(std::size_t{1} << (8 * sizeof(T)));
  for (std::size_t bits = 0; bits < table.size(); ++bits) {
    table[bits] = static_cast<float>(std::log1p(static_cast<double>(static_cast<T>(bits))));
  }
  return table;
}

/// Calls `value_of` on every T in `from`. The bytes need not be aligned for a T: the copy
/// of one value compiles to a plain load.
template <class T, class ValueOf>
void decode_each(std::span<const std::byte> from, std::span<float> into, ValueOf value_of) {
  const std::byte* source = from.data();
  float* target = into.data();
  const std::size_t count = into.size();
  for (std::size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, source + i * sizeof(T), sizeof(T));
    target[i] = value_of(value);
  }
}

Error unknown(const char* what, std::string_view name, const char* known) {
  return {.kind = Error::Kind::invalid,
          .text = std::string(what) + " '" + std::string(name) + "' is not " + known};
}

}  // namespace

Result<Decoder> Decoder::make(std::string_view dtype, std::span<const std::string> stages) {
  if (stages.size() > 1 || (stages.size() == 1 && stages[0] != "log1p")) {
    return unknown("decode stage", stages.back(), "'log1p', once");
  }
  const bool log1p = !stages.empty();
  if (dtype == "int16") return Decoder(Dtype::int16, log1p);
  if (dtype == "uint8") return Decoder(Dtype::uint8, log1p);
  if (dtype == "float32") return Decoder(Dtype::float32, log1p);
  return unknown("sample type", dtype, "one of int16, uint8, float32");
}

Decoder::Decoder(Dtype dtype, bool log1p) : dtype_(dtype), log1p_(log1p), value_bytes_(0) {
  switch (dtype) {
    case Dtype::int16:
      value_bytes_ = 2;
      if (log1p) table_ = log1p_table<std::int16_t>();
      break;
    case Dtype::uint8:
      value_bytes_ = 1;
      if (log1p) table_ = log1p_table<std::uint8_t>();
      break;
    case Dtype::float32:
      value_bytes_ = 4;
      break;
  }
}

void Decoder::decode(std::span<const std::byte> from, std::span<float> into) const {
  const auto look_up = [table = table_.data()](auto bits) { return table[bits]; };
  const auto convert = [](auto value) { return static_cast<float>(value); };
  switch (dtype_) {
    case Dtype::int16:
      if (log1p_) {
        decode_each<std::uint16_t>(from, into, look_up);
      } else {
        decode_each<std::int16_t>(from, into, convert);
      }
      break;
    case Dtype::uint8:
      if (log1p_) {
        decode_each<std::uint8_t>(from, into, look_up);
      } else {
        decode_each<std::uint8_t>(from, into, convert);
      }
      break;
    case Dtype::float32:
      if (log1p_) {
        decode_each<float>(from, into, [](float value) { return std::log1p(value); });
      } else {
        std::memcpy(into.data(), from.data(), from.size());
      }
      break;
  }
}

}  // namespace augury
