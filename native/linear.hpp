// Products and factors of matrices. Each element is computed by the same additions in the same
// order whatever the blocks are: blocks only keep numbers in registers and caches.
#pragma once

#include <algorithm>
#include <cmath>

#include "margins.hpp"
#include "signals.hpp"

namespace linear {

constexpr Index TALL = 4, WIDE = 16;  // a tile of a matrix that is kept in registers

// As many numbers as the machine adds at once.
#if defined(__AVX512F__)
using Register = double __attribute__((vector_size(64), aligned(8), may_alias));
#elif defined(__AVX2__)
using Register = double __attribute__((vector_size(32), aligned(8), may_alias));
#else
using Register = double __attribute__((vector_size(16), aligned(8), may_alias));
#endif

// Set out = A x, each element with the additions of `dot`.
inline void times(Matrix<const double> A, Vector<const double> x, Floats out) {
  const Index n = A.size(), d = x.size();
  require(A.shape[1] == d && out.size() == n);
  for (Index i = 0; i < n; i += 4) {
    const double *rows[4];
    double found[4];
    for (Index k = 0; k < 4; k++) rows[k] = row(A, std::min(i + k, n - 1)).data;
    four_dots(x.data, rows, d, found);
    std::copy_n(found, std::min<Index>(4, n - i), out.data + i);
  }
}

// So many columns has a matrix that is divided into tiles: those behind its n columns are 0.
inline Index padded(Index n) { return (n + WIDE - 1) / WIDE * WIDE; }

// Numbers of a matrix: element (r, i) is data[r * down + i * along].
struct Strided {
  const double *data;
  Index down, along;
};

// Add sign·left[r, i]·right[r, j] to each element (i, j) of a TALL x WIDE tile, for each row r,
// first to last. Rows of `right` and `out` are contiguous and lie so far apart.
//
// The compiler keeps arrays of plain numbers in memory here, which takes ten times as long.
inline void add_tile(Strided left, const double *right, Index apart, Index count, double sign,
                     double *out, Index out_apart) {
  constexpr Index STEP = 2 * sizeof(Register) / sizeof(double);
  for (Index first = 0; first < WIDE; first += STEP) {
    Register sums[TALL][2];
    for (Index i = 0; i < TALL; i++)
      for (Index h = 0; h < 2; h++)
        sums[i][h] = reinterpret_cast<Register *>(out + i * out_apart + first)[h];
    for (Index r = 0; r < count; r++) {
      const auto *values = reinterpret_cast<const Register *>(right + r * apart + first);
      for (Index i = 0; i < TALL; i++) {
        const double factor = sign * left.data[r * left.down + i * left.along];
        for (Index h = 0; h < 2; h++) sums[i][h] += factor * values[h];
      }
    }
    for (Index i = 0; i < TALL; i++)
      for (Index h = 0; h < 2; h++)
        reinterpret_cast<Register *>(out + i * out_apart + first)[h] = sums[i][h];
  }
}

// Add sign·Z'Z to the upper half of out, one row of Z after the other; sign is 1 or -1.
//
// Both have `padded` columns. What `out` has below its diagonal is undefined then. Only columns
// from `first` on take part, a multiple of WIDE.
inline void add_squares(Matrix<const double> Z, double sign, Index first, Matrix<double> out) {
  const Index apart = Z.stride[0];
  for (Index j = first; j < out.shape[1]; j += WIDE) {
    did(Z.size() * WIDE * (j - first));
    for (Index i = first; i < j + WIDE; i += TALL)
      add_tile({Z.data + i, apart, 1}, Z.data + j, apart, Z.size(), sign, &out(i, j),
               out.stride[0]);
  }
}

// Replace the upper half of A (n, n), padded, by U with U'U = A; return false if A is not positive
// definite.
inline bool factorise(Matrix<double> A, Index n) {
  const Index width = A.shape[1];
  for (Index first = 0; first < n; first += WIDE) {
    const Index last = std::min(first + WIDE, n);
    for (Index k = first; k < last; k++) {
      double *__restrict pivot = row(A, k).data;
      if (!(pivot[k] > 0.0)) return false;
      const double root = pivot[k] = std::sqrt(pivot[k]);
      for (Index j = k + 1; j < width; j++) pivot[j] /= root;
      for (Index i = k + 1; i < last; i++) {
        double *__restrict below = row(A, i).data;
        const double factor = pivot[i];
        for (Index j = i; j < width; j++) below[j] -= factor * pivot[j];
      }
    }
    if (last < n) {
      const Matrix<const double> done{row(A, first).data, {WIDE, width}, {A.stride[0], 1}};
      add_squares(done, -1.0, last, A);
    }
  }
  return true;
}

}  // namespace linear
