// Products of matrices in one fixed order: each sum runs through the inner axis in ascending order,
// whatever the sizes of the blocks, the number of rows or the width of the processor's registers.
#pragma once

#include <algorithm>

#include "registers.hpp"
#include "signals.hpp"

constexpr Index TILE_ROWS = 4;
constexpr Index TILE_REGISTERS = HAS_MANY_REGISTERS ? 4 : 2;
constexpr Index DEPTH = 256;  // so much of the inner axis at a time: a panel stays in the cache

template <typename T>
struct Wide;
template <>
struct Wide<double> {
  using type = DoubleRegister;
};
template <>
struct Wide<float> {
  using type = SingleRegister;
};

template <typename T>
constexpr Index tile_columns() {
  return TILE_REGISTERS * REGISTER / static_cast<Index>(sizeof(T));
}

// Add to 4 × tile_columns sums the products of 4 rows of A and a panel (depth, tile_columns) of B.
template <typename T>
void add_tile(const T *const a[TILE_ROWS], const T *panel, Index depth, T *const out[TILE_ROWS]) {
  using Register = typename Wide<T>::type;
  constexpr Index width = REGISTER / sizeof(T);
  Register sums[TILE_ROWS][TILE_REGISTERS], b[TILE_REGISTERS];
#pragma GCC unroll 4
  for (Index i = 0; i < TILE_ROWS; i++)
#pragma GCC unroll 4
    for (Index v = 0; v < TILE_REGISTERS; v++) sums[i][v] = in_register(out[i] + v * width);
  for (Index k = 0; k < depth; k++) {
#pragma GCC unroll 4
    for (Index v = 0; v < TILE_REGISTERS; v++)
      b[v] = in_register(panel + (k * TILE_REGISTERS + v) * width);
#pragma GCC unroll 4
    for (Index i = 0; i < TILE_ROWS; i++)
#pragma GCC unroll 4
      for (Index v = 0; v < TILE_REGISTERS; v++) sums[i][v] += a[i][k] * b[v];
  }
#pragma GCC unroll 4
  for (Index i = 0; i < TILE_ROWS; i++)
#pragma GCC unroll 4
    for (Index v = 0; v < TILE_REGISTERS; v++) in_register(out[i] + v * width) = sums[i][v];
}

// The same for a few rows: what counts then is to read B only once.
template <typename T>
void multiply_few(Matrix<const T> A, Matrix<const T> B, Matrix<T> out, Index first, Index last) {
  const Index n = A.shape[0], depth = A.shape[1];
  for (Index i = 0; i < n; i++) std::fill(&out(i, first), &out(i, first) + (last - first), T(0));
  for (Index k = 0; k < depth; k++) {
    did(n * (last - first));
    const T *__restrict b = &B(k, 0);
    for (Index i = 0; i < n; i++) {
      const T a = A(i, k);
      T *__restrict sums = &out(i, 0);
      for (Index j = first; j < last; j++) sums[j] += a * b[j];
    }
  }
}

// Set columns first … last - 1 of out = A·B, for A (n, depth), B (depth, m) and out (n, m).
template <typename T>
void multiply(Matrix<const T> A, Matrix<const T> B, Matrix<T> out, Index first, Index last) {
  constexpr Index width = tile_columns<T>();
  const Index n = A.shape[0], depth = A.shape[1];
  require(B.shape[0] == depth && out.shape[0] == n && out.shape[1] == B.shape[1]);
  require(0 <= first && first <= last && last <= B.shape[1]);
  if (first == last) return;
  if (n < TILE_ROWS) return multiply_few(A, B, out, first, last);
  Buffer<T> panel(DEPTH * width), nothing(DEPTH, T(0)), spare(TILE_ROWS * width, T(0));
  Buffer<T> sums(n * width);
  for (Index column = first; column < last; column += width) {
    const Index columns = std::min(width, last - column);
    std::fill_n(sums.data(), n * width, T(0));
    for (Index start = 0; start < depth; start += DEPTH) {
      const Index some = std::min(DEPTH, depth - start);
      did(n * width * some);
      for (Index k = 0; k < some; k++) {
        std::fill_n(panel.data() + k * width, width, T(0));
        std::copy_n(&B(start + k, column), columns, panel.data() + k * width);
      }
      for (Index i = 0; i < n; i += TILE_ROWS) {
        const T *a[TILE_ROWS];
        T *into[TILE_ROWS];
        for (Index j = 0; j < TILE_ROWS; j++) {
          a[j] = i + j < n ? &A(i + j, start) : nothing.data();
          into[j] = i + j < n ? sums.data() + (i + j) * width : spare.data() + j * width;
        }
        add_tile(a, panel.data(), some, into);
      }
    }
    for (Index i = 0; i < n; i++) std::copy_n(sums.data() + i * width, columns, &out(i, column));
  }
}
