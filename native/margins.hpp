// Margins in one fixed order: 32 sums run side by side, then are added up, first to last.
#pragma once

#include <algorithm>
#include <limits>

#include "registers.hpp"
#include "signals.hpp"

constexpr Index LANES = 32;
constexpr Index ROWS_AT_A_TIME = 32;
constexpr double INF = std::numeric_limits<double>::infinity();

// Set out[j] to the sum of product(j, f) over f < d, for N sums that hide each other's waiting
// times; wide_product(j, f) are those of f and the next ones, as many as a register holds.
template <int N, typename Product, typename WideProduct>
void add_products(Index d, Product product, WideProduct wide_product, double *out) {
  constexpr Index width = REGISTER / sizeof(double), wide = HAS_MANY_REGISTERS ? 4 : 8 / N;
  const Index whole = d - d % LANES;
  double lanes[N][LANES], totals[N] = {};
  // As many lanes at a time as there are registers for.
  for (Index lane = 0; lane < LANES && whole > 0; lane += wide * width) {
    DoubleRegister sums[N][wide] = {};
    for (Index start = lane; start < whole; start += LANES)
      for (Index k = 0; k < wide; k++)
        for (Index j = 0; j < N; j++) sums[j][k] += wide_product(j, start + k * width);
    for (Index j = 0; j < N; j++)
      for (Index k = 0; k < wide; k++) in_register(lanes[j] + lane + k * width) = sums[j][k];
  }
  for (Index k = 0; k < LANES && whole > 0; k++)  // otherwise they are all 0
    for (Index j = 0; j < N; j++) totals[j] += lanes[j][k];
  for (Index f = whole; f < d; f++)
    for (Index j = 0; j < N; j++) totals[j] += product(j, f);
  std::copy(totals, totals + N, out);
}

// Set out[j] = w·(x[j] - origin) for N rows.
template <int N>
void dots(const double *w, const double *const x[N], const double *origin, Index d, double *out) {
  auto product = [=](Index j, Index f) { return w[f] * (x[j][f] - origin[f]); };
  auto wide = [=](Index j, Index f) -> DoubleRegister {
    return in_register(w + f) * (in_register(x[j] + f) - in_register(origin + f));
  };
  add_products<N>(d, product, wide, out);
}

// w·(x - origin) in float64, for any dtype of x.
inline double dot(const double *w, const double *x, const double *origin, Index d) {
  double found;
  dots<1>(w, &x, origin, d, &found);
  return found;
}
template <typename Row>
double dot(const double *__restrict w, const Row *__restrict x, const double *__restrict origin,
           Index d) {
  const Index whole = d - d % LANES;
  double lanes[LANES] = {}, total = 0.0;
  for (Index i = 0; i < whole; i += LANES)
    for (Index k = 0; k < LANES; k++) lanes[k] += w[i + k] * (x[i + k] - origin[i + k]);
  for (Index k = 0; k < LANES && whole > 0; k++) total += lanes[k];
  for (Index i = whole; i < d; i++) total += w[i] * (x[i] - origin[i]);
  return total;
}

// Set out[j] = w[j]·z for N weight vectors, with the additions of `dot`.
template <int N>
void dots(const double *z, const double *const w[N], Index d, double *out) {
  auto product = [=](Index j, Index f) { return w[j][f] * z[f]; };
  auto wide = [=](Index j, Index f) -> DoubleRegister {
    return in_register(w[j] + f) * in_register(z + f);
  };
  add_products<N>(d, product, wide, out);
}

inline void four_dots(const double *z, const double *const w[4], Index d, double out[4]) {
  dots<4>(z, w, d, out);
}

// w·z, with the additions of `dot`.
inline double dot(const double *w, const double *z, Index d) {
  double found;
  dots<1>(z, &w, d, &found);
  return found;
}

// Set out = x - origin, the differences that `dot` multiplies.
template <typename Row>
void subtract(const Row *__restrict x, const double *__restrict origin, double *__restrict out,
              Index d) {
  for (Index k = 0; k < d; k++) out[k] = x[k] - origin[k];
}

// The number of the separator of two regions: see `region_margins`.
inline Index pair_number(Index a, Index c) {
  const Index high = std::max(a, c), low = std::min(a, c);
  return high * (high - 1) / 2 + low;
}

// Set out[i] = w·(table[places[i]] - origin) + b.
template <typename Row>
void activations(Vector<const double> w, double b, Matrix<const Row> table,
                 Vector<const std::int64_t> places, Vector<const double> origin, Floats out) {
  require(out.size() == places.size() && origin.size() == w.size() && table.shape[1] == w.size());
  check_inside(places, table.size(), "places");
  const Index n = places.size(), d = w.size();
  Index i = 0;
  if constexpr (std::is_same_v<Row, double>)
    for (; i + 4 <= n; i += 4) {
      did(4 * d);
      const double *x[4];
      for (Index k = 0; k < 4; k++) x[k] = row(table, places[i + k]).data;
      dots<4>(w.data, x, origin.data, d, out.data + i);
    }
  for (; i < n; i++) out[i] = dot(w.data, row(table, places[i]).data, origin.data, d);
  for (i = 0; i < n; i++) out[i] += b;
}

// Set out[o] to the margin of x, in a region, against each region o; return the least.
//
// The separator of regions o < c has the number c(c - 1)/2 + o and is positive on the side of o;
// at[number] is its row of W. owner[c] is the label of region c; regions of one label have no
// separator, and what `out` holds for them does not change. As soon as a margin is below `enough`,
// it is returned.
template <typename Row>
double region_margins(Matrix<const double> W, Vector<const double> b, Vector<const std::int32_t> at,
                      Vector<const Row> x, Vector<const double> origin,
                      Vector<const std::int64_t> owner, Index region, double enough, Floats out) {
  const Index regions = out.size(), d = x.size();
  require(W.shape[1] == d && origin.size() == d && b.size() >= W.size());
  require(owner.size() == regions && at.size() >= regions * (regions - 1) / 2);
  inside(region, regions, "region");
  double least = INF;
  for (Index other = 0; other < regions; other++) {
    if (owner[other] == owner[region]) continue;
    const Index slot = inside(at[pair_number(region, other)], W.size(), "at");
    const double a = dot(row(W, slot).data, x.data, origin.data, d) + b[slot];
    out[other] = region < other ? a : -a;
    least = std::min(least, out[other]);
    if (least < enough) break;
  }
  return least;
}

// Set out[i, c] to the least margin that row i of X would have in region c, of label owner[c].
//
// Four separators at a time are applied to some rows, so that both stay in the processor's cache.
template <typename Row>
void scores(Matrix<const double> W, Vector<const double> b, Vector<const std::int32_t> at,
            Matrix<const Row> X, Vector<const double> origin, Vector<const std::int64_t> owner,
            Matrix<double> out) {
  const Index n = X.size(), d = X.shape[1], regions = out.shape[1];
  const Index pairs = regions * (regions - 1) / 2;
  require(W.shape[1] == d && origin.size() == d && b.size() >= W.size());
  require(out.size() == n && owner.size() == regions && at.size() >= pairs);
  Buffer<double> Z(std::min(n, ROWS_AT_A_TIME) * d);
  for (Index i = 0; i < n; i++)
    for (Index c = 0; c < regions; c++) out(i, c) = INF;
  for (Index start = 0; start < n; start += ROWS_AT_A_TIME) {
    const Index rows = std::min(ROWS_AT_A_TIME, n - start);
    for (Index i = 0; i < rows; i++)
      subtract(row(X, start + i).data, origin.data, Z.data() + i * d, d);
    for (Index pair = 0, low = 0, high = 1; pair < pairs; pair += 4) {
      const Index four = std::min<Index>(4, pairs - pair);
      did(rows * four * d);
      const double *weights[4];
      double biases[4], found[4];
      Index lows[4], highs[4];
      for (Index k = 0; k < 4; k++) {
        const Index slot = inside(at[pair + std::min(k, four - 1)], W.size(), "at");
        weights[k] = row(W, slot).data, biases[k] = b[slot];
        lows[k] = low, highs[k] = high;
        if (++low == high) low = 0, high++;
      }
      for (Index i = 0; i < rows; i++) {
        const Floats own = row(out, start + i);
        four_dots(Z.data() + i * d, weights, d, found);
        for (Index k = 0; k < four; k++) {
          if (owner[lows[k]] == owner[highs[k]]) continue;
          const double a = found[k] + biases[k];
          own[lows[k]] = std::min(own[lows[k]], a);
          own[highs[k]] = std::min(own[highs[k]], -a);
        }
      }
    }
  }
}
