// Products in float32, for bounds with an allowance for rounding: 16 sums run side by side.
#pragma once

#include <algorithm>
#include <cmath>

#include "registers.hpp"

constexpr Index SIDE_BY_SIDE = 16;
constexpr Index TALL = HAS_MANY_REGISTERS ? 4 : 2;  // rows at a time

// The sum, in pairs.
inline float added_up(const float sums[SIDE_BY_SIDE]) {
  using Four = float __attribute__((vector_size(16)));
  Four q[4];
  std::memcpy(q, sums, sizeof q);
  const Four each = (q[0] + q[2]) + (q[1] + q[3]);
  return (each[0] + each[2]) + (each[1] + each[3]);
}

// Rows in float32, followed by zeros up to whole registers, and by rows of zeros up to fours.
class Singles {
 public:
  Singles(Index rows, Index d)
      : d_(d),
        width_((d + SIDE_BY_SIDE - 1) / SIDE_BY_SIDE * SIDE_BY_SIDE),
        values_((rows + 3) / 4 * 4 * width_, 0.0f) {}

  Index width() const { return width_; }
  const float *row(Index i) const { return values_.data() + i * width_; }

  // Set row i to value(0) … value(d - 1), rounded; return the length of the vector.
  template <typename Function>
  double set(Index i, Function value) {
    float *__restrict out = values_.data() + i * width_;
    const Index whole = d_ - d_ % SIDE_BY_SIDE;
    double squares[SIDE_BY_SIDE] = {};
    for (Index start = 0; start < whole; start += SIDE_BY_SIDE)
      for (Index k = 0; k < SIDE_BY_SIDE; k++) {
        const double number = value(start + k);
        squares[k] += number * number;
        out[start + k] = static_cast<float>(number);
      }
    for (Index k = whole; k < d_; k++) {
      const double number = value(k);
      squares[k - whole] += number * number;
      out[k] = static_cast<float>(number);
    }
    double square = 0.0;
    for (double each : squares) square += each;
    return std::sqrt(square);
  }

 private:
  Index d_, width_;
  Buffer<float> values_;
};

// Set out[i, j] = x_i·y_j for i < rows, j < columns, of TALL rows and four: they stay in registers.
inline void singles_tile(const float *x, const float *y, Index width, Index rows, Index columns,
                         float *out, Index stride) {
  float sums[TALL][4][SIDE_BY_SIDE];
  for (Index lane = 0; lane < SIDE_BY_SIDE; lane += REGISTER / sizeof(float)) {
    SingleRegister totals[TALL][4] = {};
    for (Index k = lane; k < width; k += SIDE_BY_SIDE)
      for (Index i = 0; i < TALL; i++)
        for (Index j = 0; j < 4; j++)
          totals[i][j] += in_register(x + i * width + k) * in_register(y + j * width + k);
    for (Index i = 0; i < TALL; i++)
      for (Index j = 0; j < 4; j++) in_register(sums[i][j] + lane) = totals[i][j];
  }
  for (Index i = 0; i < rows; i++)
    for (Index j = 0; j < columns; j++) out[i * stride + j] = added_up(sums[i][j]);
}

// Set out[i, j] = x_i·y_j for the first n rows of X and the first m of Y.
inline void singles_product(const Singles &X, Index n, const Singles &Y, Index m, float *out,
                            Index stride) {
  for (Index j = 0; j < m; j += 4)
    for (Index i = 0; i < n; i += TALL)
      singles_tile(X.row(i), Y.row(j), X.width(), std::min(TALL, n - i), std::min<Index>(4, m - j),
                   out + i * stride + j, stride);
}

// x·y
inline float singles_dot(const float *__restrict x, const float *__restrict y, Index d) {
  const Index whole = d - d % SIDE_BY_SIDE;
  float sums[SIDE_BY_SIDE] = {}, rest = 0.0f;
  for (Index start = 0; start < whole; start += SIDE_BY_SIDE)
    for (Index k = 0; k < SIDE_BY_SIDE; k++) sums[k] += x[start + k] * y[start + k];
  for (Index k = whole; k < d; k++) rest += x[k] * y[k];
  return added_up(sums) + rest;
}
