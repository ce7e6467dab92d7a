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

using DoubleRegister = double __attribute__((vector_size(REGISTER)));
using SingleRegister = float __attribute__((vector_size(REGISTER)));
