// Inner products x'K x between the members of a pool, from the images K(x - origin).
#pragma once

#include <algorithm>

#include "margins.hpp"
#include "view.hpp"

// Fill rows and columns `known` … n - 1 of out (≥ n, ≥ n) with s_i s_j (x_i'K x_j + 1).
//
// pictures[which[i]] is the image of row table[places[i]]. Each product has the additions of `dot`
// in its order. Some images at a time are multiplied by all rows, four by four, so that both stay
// in the processor's cache.
template <typename Row>
void gram(Matrix<const double> pictures, Vector<const std::int64_t> which, Matrix<const Row> table,
          Vector<const std::int64_t> places, Vector<const double> origin,
          Vector<const double> signs, Index known, Matrix<double> out) {
  const Index n = places.size(), d = origin.size(), IMAGES_AT_A_TIME = 32;
  require(which.size() == n && signs.size() == n && out.shape[0] >= n && out.shape[1] >= n);
  require(pictures.shape[1] == d && table.shape[1] == d && known >= 0);
  Buffer<double> Z(4 * d);
  const double *rows[4];
  for (Index i = 0; i < 4; i++) rows[i] = Z.data() + i * d;
  for (Index first = known; first < n; first += IMAGES_AT_A_TIME) {
    const Index last = std::min(first + IMAGES_AT_A_TIME, n);
    for (Index j = 0; j < last; j += 4) {
      for (Index i = 0; i < 4; i++)  // the last row fills up the four
        subtract(row(table, places[std::min(j + i, last - 1)]).data, origin.data, Z.data() + i * d,
                 d);
      for (Index i = std::max(first, j); i < last; i++) {
        double found[4];
        four_dots(row(pictures, which[i]).data, rows, d, found);
        for (Index k = 0; k < std::min<Index>(4, i + 1 - j); k++)
          out(i, j + k) = out(j + k, i) = signs[i] * signs[j + k] * (found[k] + 1.0);
      }
    }
  }
}

// Add amounts[i]·pictures[which[i]] to out, one i after the other.
inline void combine(Matrix<const double> pictures, Vector<const std::int64_t> which,
                    Vector<const double> amounts, Floats out) {
  const Index d = out.size();
  require(amounts.size() == which.size() && pictures.shape[1] == d);
  double *__restrict sum = out.data;
  for (Index i = 0; i < which.size(); i++) {
    const double *__restrict image = row(pictures, which[i]).data;
    const double amount = amounts[i];
    if (amount != 0.0)
      for (Index k = 0; k < d; k++) sum[k] += amount * image[k];
  }
}
