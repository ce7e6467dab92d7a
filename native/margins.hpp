// Margins in one fixed order: 32 sums run side by side, then are added up, first to last.
#pragma once

#include <algorithm>
#include <limits>

#include "view.hpp"

constexpr Index LANES = 32;
constexpr Index ROWS_AT_A_TIME = 32;
constexpr double INF = std::numeric_limits<double>::infinity();

// w·(x - origin) in float64, for any dtype of x.
template <typename Row>
double dot(const double *__restrict w, const Row *__restrict x, const double *__restrict origin,
           Index d) {
  const Index whole = d - d % LANES;
  double lanes[LANES] = {};
  for (Index i = 0; i < whole; i += LANES)
    for (Index k = 0; k < LANES; k++) lanes[k] += w[i + k] * (x[i + k] - origin[i + k]);
  double total = 0.0;
  for (Index k = 0; k < LANES; k++) total += lanes[k];
  for (Index i = whole; i < d; i++) total += w[i] * (x[i] - origin[i]);
  return total;
}

// w·z, with the additions of `dot`.
inline double dot(const double *__restrict w, const double *__restrict z, Index d) {
  const Index whole = d - d % LANES;
  double lanes[LANES] = {};
  for (Index i = 0; i < whole; i += LANES)
    for (Index k = 0; k < LANES; k++) lanes[k] += w[i + k] * z[i + k];
  double total = 0.0;
  for (Index k = 0; k < LANES; k++) total += lanes[k];
  for (Index i = whole; i < d; i++) total += w[i] * z[i];
  return total;
}

// Set out = x - origin, the differences that `dot` multiplies.
template <typename Row>
void subtract(const Row *__restrict x, const double *__restrict origin, double *__restrict out,
              Index d) {
  for (Index k = 0; k < d; k++) out[k] = x[k] - origin[k];
}

// Set out[j] = w[j]·z for four w, each with the additions of `dot`: the four hide each other's
// waiting times.
inline void four_dots(const double *__restrict z, const double *const w[4], Index d,
                      double out[4]) {
  const Index whole = d - d % LANES;
  double lanes[4][LANES] = {};
  for (Index start = 0; start < whole; start += LANES)
    for (Index j = 0; j < 4; j++)
      for (Index k = 0; k < LANES; k++) lanes[j][k] += w[j][start + k] * z[start + k];
  for (Index j = 0; j < 4; j++) {
    out[j] = 0.0;
    for (Index k = 0; k < LANES; k++) out[j] += lanes[j][k];
    for (Index f = whole; f < d; f++) out[j] += w[j][f] * z[f];
  }
}

// Set out[i] = w·(table[places[i]] - origin) + b.
template <typename Row>
void activations(Vector<const double> w, double b, Matrix<const Row> table,
                 Vector<const std::int64_t> places, Vector<const double> origin, Floats out) {
  for (Index i = 0; i < places.size(); i++)
    out[i] = dot(w.data, row(table, places[i]).data, origin.data, w.size()) + b;
}
