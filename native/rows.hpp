// Rows of any kind: inner products, digests, and rows from small whole numbers.
//
// What is computed of a row does not depend on the other rows, to the last bit.
#pragma once

#include <algorithm>
#include <cstring>

#include "signals.hpp"

// Set out[i] = rows[i]·x; rows (n, d), x (d,), out (n,).
//
// Each sum runs through the features in ascending order, so a row's product does not depend on
// the rows around it. Features that are 0 in x are skipped, which changes no sum; four sums run
// side by side, because one alone waits for its own last addition.
inline void products(Matrix<const double> rows, Vector<const double> x, Floats out) {
  require(rows.size() == out.size() && rows.shape[1] == x.size());
  Buffer<Index> features(x.size());
  Buffer<double> values(x.size());
  Index used = 0;
  for (Index f = 0; f < x.size(); f++)
    if (x[f] != 0.0) features[used] = f, values[used++] = x[f];
  const Index n = out.size(), fours = n - n % 4;
  for (Index i = 0; i < fours; i += 4) {
    did(4 * used);
    double sums[4] = {};
    for (Index k = 0; k < used; k++)
      for (Index j = 0; j < 4; j++) sums[j] += rows(i + j, features[k]) * values[k];
    std::copy(sums, sums + 4, out.data + i);
  }
  for (Index i = fours; i < n; i++) {
    double sum = 0.0;
    for (Index k = 0; k < used; k++) sum += rows(i, features[k]) * values[k];
    out[i] = sum;
  }
}

// Add amounts[i]·rows[picked[i]] to into[places[i]], one i after the other.
inline void add_multiples(Matrix<double> into, Vector<const std::int64_t> places,
                          Matrix<const double> rows, Vector<const std::int64_t> picked,
                          Vector<const double> amounts) {
  require(into.shape[1] == rows.shape[1]);
  require(picked.size() == places.size() && amounts.size() == places.size());
  check_inside(places, into.size(), "places");
  check_inside(picked, rows.size(), "picked");
  for (Index i = 0; i < places.size(); i++) {
    double *__restrict target = row(into, places[i]).data;
    const double *__restrict source = row(rows, picked[i]).data;
    for (Index f = 0; f < rows.shape[1]; f++) target[f] += amounts[i] * source[f];
  }
}

// Set out (2 n,) to two sums over the values of each row, mixed with their positions.
template <typename Value>
void add_up(Matrix<const Value> rows, Vector<std::uint64_t> out) {
  require(out.size() == 2 * rows.size());
  const Index d = rows.shape[1];
  Buffer<double> values(d);
  for (Index i = 0; i < rows.size(); i++) {
    did(8 * d);
    const Value *__restrict given = row(rows, i).data;
    double *__restrict value = values.data();
    for (Index j = 0; j < d; j++) value[j] = given[j];
    std::uint64_t first = 0x243F6A8885A308D3, second = 0x13198A2E03707344;
    for (Index j = 0; j < d; j++) {
      std::uint64_t bits;
      std::memcpy(&bits, value + j, sizeof bits);
      // All bits or none: what is chosen by a condition, gcc computes one by one.
      const std::uint64_t is_missing = -std::uint64_t(value[j] != value[j]);
      const std::uint64_t is_used = -std::uint64_t(value[j] != 0.0);
      const std::uint64_t number = (bits & ~is_missing) | (0x7FF8000000000000 & is_missing);
      const std::uint64_t place = std::uint64_t(j + 1) * 0x9E3779B97F4A7C15;
      std::uint64_t a = (number ^ place) * 0xBF58476D1CE4E5B9;
      a = (a ^ (a >> 32)) * 0x94D049BB133111EB;
      std::uint64_t b = (number + (place >> 1)) * 0xD6E8FEB86659FD93;
      b = (b ^ (b >> 29)) * 0xC2B2AE3D27D4EB4F;
      first += (a ^ (a >> 29)) & is_used;
      second += (b ^ (b >> 32)) & is_used;
    }
    out[2 * i] = first, out[2 * i + 1] = second;
  }
}

// Set out[i, j] to low[j] + k·step[j], k = numbers[i, j]; to high[j] if k is the last. Numbers
// beyond the columns of `out` are padding.
template <typename Row>
void decode_columns(Matrix<const std::uint8_t> numbers, Index last, Vector<const double> low,
                    Vector<const double> step, Vector<const double> high, Matrix<Row> out) {
  const Index d = out.shape[1];
  require(numbers.size() == out.size() && numbers.shape[1] >= d);
  require(low.size() == d && step.size() == d && high.size() == d);
  for (Index i = 0; i < out.size(); i++) {
    did(d);
    const std::uint8_t *__restrict number = row(numbers, i).data;
    Row *__restrict target = row(out, i).data;
    for (Index j = 0; j < d; j++)
      target[j] = static_cast<Row>(number[j] == last ? high[j] : low[j] + number[j] * step[j]);
  }
}

// Set out[i, j] = levels[codes[i, j]]·scale[i].
template <typename Row>
void decode_levels(Matrix<const std::uint8_t> codes, Vector<const double> levels,
                   Vector<const double> scale, Matrix<Row> out) {
  require(codes.size() == out.size() && codes.shape[1] == out.shape[1]);
  require(levels.size() >= 256 && scale.size() == out.size());
  const volatile double *level = levels.data;  // volatile: gcc must not gather, which is slower
  for (Index i = 0; i < out.size(); i++) {
    did(out.shape[1]);
    const std::uint8_t *__restrict code = row(codes, i).data;
    Row *__restrict target = row(out, i).data;
    const double factor = scale[i];
    for (Index j = 0; j < out.shape[1]; j++) target[j] = static_cast<Row>(level[code[j]] * factor);
  }
}
