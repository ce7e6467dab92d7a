// The registers of this build, for sums that must stay in them.
#pragma once

#include <cstring>

#include "view.hpp"

#if defined(__AVX512F__)
constexpr Index REGISTER = 64;  // bytes
#elif defined(__AVX__)
constexpr Index REGISTER = 32;
#else
constexpr Index REGISTER = 16;
#endif
constexpr bool HAS_MANY_REGISTERS = REGISTER == 64;  // 32, not 16

// They may be read and written anywhere in an array.
using DoubleRegister = double __attribute__((vector_size(REGISTER), aligned(8), may_alias));
using SingleRegister = float __attribute__((vector_size(REGISTER), aligned(4), may_alias));

inline DoubleRegister &in_register(double *numbers) {
  return *reinterpret_cast<DoubleRegister *>(numbers);
}
inline SingleRegister &in_register(float *numbers) {
  return *reinterpret_cast<SingleRegister *>(numbers);
}
template <typename T>
const auto &in_register(const T *numbers) {
  return in_register(const_cast<T *>(numbers));
}
