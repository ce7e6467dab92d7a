// Clusters of rows by k-means from fixed starts, as `maths/clusters.py` specifies them.
//
// Sums over columns and over rows run first to last, so every machine finds the same clusters.
#pragma once

#include <algorithm>

#include "linear.hpp"

namespace clusters {

constexpr Index BLOCKS = 4, CANDIDATES = 32, ROUNDS = 50;
using linear::TALL, linear::WIDE;

inline double square(Vector<const double> z) {
  double sum = 0.0;
  for (Index k = 0; k < z.size(); k++) sum += z[k] * z[k];
  return sum;
}

// Rows Z (n, d), also in panels of WIDE: their products with other rows are found in tiles.
class Panels {
 public:
  explicit Panels(Matrix<const double> Z)
      : Z_(Z), width_(linear::padded(Z.size())), own_(width_, 0.0), panels_(width_ * d(), 0.0) {
    for (Index i = 0; i < n(); i++) {
      own_[i] = square(row(Z, i));
      double *panel = panels_.data() + i / WIDE * WIDE * d() + i % WIDE;
      for (Index k = 0; k < d(); k++) panel[k * WIDE] = Z(i, k);
    }
  }

  Index n() const { return Z_.size(); }
  Index d() const { return Z_.shape[1]; }
  const Matrix<const double> &rows() const { return Z_; }

  // Set out (TALL, width) to the products with rows first … first + 3 of some others; the last one
  // is taken again where there are fewer.
  void multiply(Matrix<const double> others, Index first, Matrix<double> out) const {
    Buffer<double> four(TALL * d());
    for (Index i = 0; i < TALL; i++)
      std::copy_n(row(others, std::min(first + i, others.size() - 1)).data, d(),
                  four.data() + i * d());
    std::fill_n(out.data, TALL * width_, 0.0);
    for (Index j = 0; j < width_; j += WIDE)
      linear::add_tile({four.data(), 1, d()}, panels_.data() + j * d(), WIDE, d(), 1.0,
                       out.data + j, width_);
  }

  // Call use(c, products of all rows with row c of some others), one c after the other.
  template <typename Use>
  void each_product(Matrix<const double> others, Use use) const {
    Buffer<double> found(TALL * width_);
    for (Index c = 0; c < others.size(); c++) {
      if (c % TALL == 0) multiply(others, c, found.as_matrix(width_));
      use(c, found.data() + c % TALL * width_);
    }
  }

  // Set found to the nearest of some centres, the first of equally near ones.
  void nearest(Matrix<const double> centres, Ints found) const {
    Buffer<double> least(n());
    each_product(centres, [&](Index c, const double *__restrict products) {
      const double theirs = square(row(centres, c));
      double *__restrict lowest = least.data();
      std::int64_t *__restrict out = found.data;
      for (Index i = 0; i < n(); i++) {
        const double value = theirs - 2.0 * products[i];
        const bool is_nearer = c == 0 || value < lowest[i];
        lowest[i] = is_nearer ? value : lowest[i];
        out[i] = is_nearer ? c : out[i];
      }
    });
  }

  // Call use(c, i, squared distance of row i from row c of some others).
  template <typename Use>
  void each_square(Matrix<const double> others, Use use) const {
    each_product(others, [&](Index c, const double *products) {
      const double theirs = square(row(others, c));
      for (Index i = 0; i < n(); i++)
        use(c, i, std::max(own_[i] - 2.0 * products[i] + theirs, 0.0));
    });
  }

 private:
  Matrix<const double> Z_;
  Index width_;
  Buffer<double> own_, panels_;
};

// Set out (1, d) to the weighted mean of the rows.
inline void mean(const Matrix<const double> &Z, Vector<const double> weights, Matrix<double> out) {
  double total = 0.0;
  std::fill_n(out.data, Z.shape[1], 0.0);
  for (Index i = 0; i < Z.size(); i++) {
    total += weights[i];
    for (Index k = 0; k < Z.shape[1]; k++) out(0, k) += weights[i] * Z(i, k);
  }
  for (Index k = 0; k < Z.shape[1]; k++) out(0, k) /= total;
}

inline void take(const Matrix<const double> &Z, Index i, Matrix<double> out, Index c) {
  std::copy_n(row(Z, i).data, Z.shape[1], row(out, c).data);
}

// Set out (k, d) to rows that are far from each other: the one furthest from the mean, then always
// the one furthest from those taken.
inline void far_apart(const Panels &rows, Vector<const double> weights, Matrix<double> out) {
  const Index n = rows.n();
  Buffer<double> lowest(n, INF), centre(rows.d());
  const auto furthest = [&] {
    return std::max_element(lowest.data(), lowest.data() + n) - lowest.data();
  };
  const auto lower = [&](Index, Index i, double apart) { lowest[i] = std::min(lowest[i], apart); };
  mean(rows.rows(), weights, centre.as_matrix(rows.d()));
  rows.each_square(centre.as_matrix(rows.d()), lower);
  take(rows.rows(), furthest(), out, 0);
  std::fill_n(lowest.data(), n, INF);
  for (Index c = 1; c < out.size(); c++) {
    rows.each_square(matrix(row(out, c - 1).data, 1, rows.d()), lower);
    take(rows.rows(), furthest(), out, c);
  }
}

// Set out (k, d) to those of a block of candidates that bring the rows closest to their centres,
// one after the other.
inline void closest(const Panels &rows, Vector<const double> weights, Index block,
                    Matrix<double> out) {
  const Index n = rows.n(), size = std::max(CANDIDATES, 4 * out.size()), m = std::min(size, n);
  Buffer<double> candidates(m * rows.d()), apart(n * m), lowest(n, INF), totals(m);
  const Matrix<double> some = candidates.as_matrix(rows.d());
  for (Index j = 0; j < m; j++) take(rows.rows(), (j + block * size) % n, some, j);
  rows.each_square(some, [&](Index j, Index i, double square) { apart[i * m + j] = square; });
  for (Index c = 0; c < out.size(); c++) {
    std::fill_n(totals.data(), m, 0.0);
    for (Index i = 0; i < n; i++) {
      const double *__restrict squares = apart.data() + i * m;
      double *__restrict sums = totals.data();
      const double least = lowest[i], weight = weights[i];
      for (Index j = 0; j < m; j++) sums[j] += weight * std::min(squares[j], least);
    }
    const Index best = std::min_element(totals.data(), totals.data() + m) - totals.data();
    for (Index i = 0; i < n; i++) lowest[i] = std::min(lowest[i], apart[i * m + best]);
    take(some, best, out, c);
  }
}

// Lloyd's rounds: the nearest centre of each row, then the mean of the rows of each centre. Centres
// without rows are dropped. Return how many stay, and the sum of squared distances.
inline std::pair<Index, double> improve(const Panels &rows, Vector<const double> weights,
                                        Matrix<double> means) {
  const Index n = rows.n(), d = rows.d();
  Index count = means.size();
  Buffer<std::int64_t> found(n, 0), before(n, -1);
  Buffer<double> totals(count), lowest(n, INF);
  const auto some = [&] { return matrix(means.data, count, d); };
  for (Index round = 0; round < ROUNDS; round++) {
    rows.nearest(some(), found.all());
    if (std::equal(found.data(), found.data() + n, before.data())) break;
    std::fill_n(totals.data(), count, 0.0);
    std::fill_n(means.data, count * d, 0.0);
    for (Index i = 0; i < n; i++) {
      double *__restrict sums = means.data + found[i] * d;
      const double *__restrict z = row(rows.rows(), i).data;
      totals[found[i]] += weights[i];
      for (Index k = 0; k < d; k++) sums[k] += weights[i] * z[k];
    }
    Index kept = 0;
    for (Index c = 0; c < count; c++) {
      if (totals[c] == 0.0) continue;
      for (Index k = 0; k < d; k++) means.data[kept * d + k] = means.data[c * d + k] / totals[c];
      kept++;
    }
    if (kept == count)
      std::copy_n(found.data(), n, before.data());
    else
      std::fill_n(before.data(), n, -1);  // they are renumbered
    count = kept;
  }
  rows.each_square(some(),
                   [&](Index, Index i, double apart) { lowest[i] = std::min(lowest[i], apart); });
  double sum = 0.0;
  for (Index i = 0; i < n; i++) sum += weights[i] * lowest[i];
  return {count, sum};
}

}  // namespace clusters

// Set the first rows of out (k, d) to the centres of at most k clusters of the rows of Z (n, d);
// return how many there are.
inline Index centres(Matrix<const double> Z, Vector<const double> weights, Matrix<double> out) {
  const Index n = Z.size(), d = Z.shape[1], k = out.size();
  require(n > 0 && k > 0 && weights.size() == n && out.shape[1] == d && out.stride[0] == d);
  if (k == 1) return clusters::mean(Z, weights, out), 1;
  const clusters::Panels rows(Z);
  const Index size = std::max(clusters::CANDIDATES, 4 * k);
  const Index blocks = n > size ? clusters::BLOCKS : 1;
  Buffer<double> means(k * d);
  Index count = 0;
  double least = INF;
  for (Index start = 0; start <= blocks; start++) {
    const Matrix<double> some = means.as_matrix(d);
    if (start == 0)
      clusters::far_apart(rows, weights, some);
    else
      clusters::closest(rows, weights, start - 1, some);
    const auto [found, squares] = clusters::improve(rows, weights, some);
    if (count > 0 && !(squares < least)) continue;
    count = found, least = squares;
    std::copy_n(means.data(), count * d, out.data);
  }
  return count;
}

// Set out (n,) to the number of the nearest centre of each row; of equally near ones, the first.
inline void nearest(Matrix<const double> Z, Matrix<const double> centres, Ints out) {
  require(out.size() == Z.size() && centres.size() > 0 && centres.shape[1] == Z.shape[1]);
  clusters::Panels(Z).nearest(centres, out);
}
