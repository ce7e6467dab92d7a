// The random bits of a NumPy generator, from `rng.bit_generator`; hold its lock meanwhile.
#pragma once

#include <numpy/random/bitgen.h>

#include "view.hpp"

struct RandomBits {
  bitgen_t *bits = nullptr;

  // Draw from 0 … n - 1, with n < 2**32, as `rng.integers(n)` does: Lemire's method on 32 bits.
  Index below(Index n) const {
    if (n < 2) return 0;
    const auto limit = static_cast<std::uint32_t>(n);
    const std::uint32_t threshold = -limit % limit;  // 2**32 mod n, so that all are as likely
    std::uint64_t product;
    do product = std::uint64_t{bits->next_uint32(bits->state)} * limit;
    while (static_cast<std::uint32_t>(product) < threshold);
    return static_cast<Index>(product >> 32);
  }
};
