// Separators of all pairs of regions, solved on some rows, and their scores of other rows.
#pragma once

#include "primal.hpp"

// The priors of all pairs of regions a, b: see `ClassPriors` in Python.
struct ClassPriors {
  static constexpr bool is_record = true;
  Matrix<const double> inside, outside, middle, scale;
  auto fields() { return std::tie(inside, outside, middle, scale); }
};

// The regions of some rows: those of c are rows[start[c]] … rows[start[c + 1] - 1].
struct Divided {
  static constexpr bool is_record = true;
  Vector<const std::int64_t> rows, start, owner;
  Vector<const double> weights;
  auto fields() { return std::tie(rows, start, owner, weights); }
};

// Rows to find separators on, and others: coordinates Z (n, d) and others (h, d), or products.
struct Products {
  static constexpr bool is_record = true;
  Matrix<const double> Z, others, inside, outside;
  auto fields() { return std::tie(Z, others, inside, outside); }
};

namespace pairs {

constexpr double TOLERANCE = 1e-6;  // the largest residual of a separator that is solved

// The problem of one pair: the rows of both regions, the first ones' with sign 1.
struct Pair {
  Index a, b, n;
  double middle, scale;
  Buffer<std::int64_t> pool;
  Buffer<double> signs, r;

  Pair(const Divided &regions, const ClassPriors &priors, Index a, Index b)
      : a(a),
        b(b),
        n(regions.start[a + 1] - regions.start[a] + regions.start[b + 1] - regions.start[b]),
        middle(priors.middle(a, b)),
        scale(priors.scale(a, b)),
        pool(n),
        signs(n),
        r(n) {
    const Index positives = regions.start[a + 1] - regions.start[a];
    for (Index i = 0; i < n; i++) {
      const bool is_first = i < positives;
      pool[i] = regions.rows[is_first ? regions.start[a] + i : regions.start[b] + i - positives];
      const double root = std::sqrt(regions.weights[pool[i]]), side = is_first ? 1.0 : -1.0;
      signs[i] = root * side;
      const double apart = priors.inside(a, pool[i]) - priors.inside(b, pool[i]);
      r[i] = root * (1.0 - side * scale * (apart - middle));
    }
  }
};

// Set out (n, n) to s_i s_j (z_i'z_j + 1).
inline void gram(const Products &products, const Pair &pair, Matrix<double> out) {
  const Index n = pair.n, d = products.Z.shape[1], width = linear::padded(n);
  Buffer<double> columns(d * width, 0.0), sum(d > 0 ? width * width : 0, 0.0);
  const Matrix<double> Z = columns.as_matrix(width), upper = sum.as_matrix(width);
  for (Index i = 0; i < n; i++)
    for (Index k = 0; k < d; k++) Z(k, i) = products.Z(pair.pool[i], k);
  if (d > 0) linear::add_squares(Z, 1.0, 0, upper);
  for (Index i = 0; i < n; i++)
    for (Index j = 0; j < n; j++) {
      const double product = d > 0 ? upper(std::min(i, j), std::max(i, j))
                                   : products.inside(pair.pool[i], pair.pool[j]);
      out(i, j) = pair.signs[i] * pair.signs[j] * (product + 1.0);
    }
}

// Add Σ_j s_j α_j (z_j·z_i + 1) to f[i].
inline void add_margins(const Products &products, const Pair &pair, Vector<const double> alpha,
                        Floats f) {
  const Index d = products.Z.shape[1], held = f.size();
  const Matrix<const double> &known = d > 0 ? products.Z : products.outside;
  Buffer<double> sum(d > 0 ? d : held, 0.0), margins(held);
  double bias = 0.0;
  for (Index j = 0; j < pair.n; j++) {
    if (!(alpha[j] > 0.0)) continue;
    did(sum.size());
    const double amount = pair.signs[j] * alpha[j];
    const double *__restrict z = row(known, pair.pool[j]).data;
    double *__restrict to = sum.data();
    bias += amount;
    for (Index k = 0; k < sum.size(); k++) to[k] += amount * z[k];
  }
  if (d > 0) linear::times(products.others, sum.all(), margins.all());
  for (Index i = 0; i < held; i++) f[i] += bias + (d > 0 ? margins[i] : sum[i]);
}

// Lower out[p, i, a] and out[p, i, b] to the margins of the other rows, at lams[p].
inline bool add_scores(const Products &products, const ClassPriors &priors, Pair &pair,
                       Vector<const double> lams, Block<double> out) {
  const Index n = pair.n, d = products.Z.shape[1], a = pair.a, b = pair.b;
  const bool by_w = d > 0 && 5 * (d + 1) < 4 * n;
  const Index size = by_w ? 0 : n, side = by_w ? d + 1 : 0;
  Buffer<double> G(size * size), L(size * size), U(side * side), P(side * side, 0.0);
  Buffer<double> alpha(n, 0.0), u(side, 0.0), q(side), origin(d, 0.0), f(out.shape[1]);
  Buffer<std::int64_t> order(size), count(1);
  Buffer<bool> inside(n, false);
  const Factor factor{L.as_matrix(size), order.all(), count.all()};
  const Sums sums{U.as_matrix(side), q.all(), inside.all()};
  const Rows<double> rows{products.Z, pair.pool.all(), origin.all(), pair.signs.all(),
                          pair.r.all()};
  for (Index k = 0; k < side; k++) P[k * side + k] = 1.0;
  if (!by_w) gram(products, pair, G.as_matrix(size));
  for (Index p = 0; p < lams.size(); p++) {
    if (by_w) {
      std::fill_n(U.data(), U.size(), 0.0);
      const Matrix<const double> metric = P.as_matrix(side);
      if (!(newton_primal(rows, metric, lams[p], u.all(), sums, alpha.all()) < TOLERANCE))
        return false;
    } else {
      count[0] = 0;
      if (!newton(G.as_matrix(size), pair.r.all(), lams[p], alpha.all(), factor)) return false;
    }
    for (Index i = 0; i < f.size(); i++)
      f[i] = pair.scale * (priors.outside(a, i) - priors.outside(b, i) - pair.middle);
    add_margins(products, pair, alpha.all(), f.all());
    for (Index i = 0; i < f.size(); i++) {
      out(p, i, a) = std::min(out(p, i, a), f[i]);
      out(p, i, b) = std::min(out(p, i, b), -f[i]);
    }
  }
  return true;
}

}  // namespace pairs

// Set out[p, i, c] to the least margin of the other row i in region c, at lams[p].
//
// Where coordinates are known, a separator of more than 1.25 (d + 1) rows is found in these. lams
// descend: each is solved from where the last one ended. Return false if one is not solved.
inline bool pair_scores(Products products, Divided regions, ClassPriors priors,
                        Vector<const double> lams, Block<double> out) {
  const Index classes = regions.start.size() - 1, held = out.shape[1], n = regions.weights.size();
  const bool has_columns = products.Z.shape[1] > 0;
  require(out.shape[0] == lams.size() && out.shape[2] == classes);
  require(regions.owner.size() == classes && regions.rows.size() == n);
  check_starts(regions.start, classes, n);
  check_inside(regions.rows, n, "rows");
  require(priors.inside.shape[0] == classes && priors.inside.shape[1] == n);
  require(priors.outside.shape[0] == classes && priors.outside.shape[1] == held);
  for (const auto &each : {priors.middle, priors.scale})
    require(each.shape[0] == classes && each.shape[1] == classes);
  if (has_columns)
    require(products.Z.shape[0] == n && products.others.shape[0] == held &&
            products.others.shape[1] == products.Z.shape[1]);
  else
    require(products.inside.shape[0] == n && products.inside.shape[1] == n &&
            products.outside.shape[0] == n && products.outside.shape[1] == held);
  for (Index p = 0; p < out.shape[0]; p++, did(held * classes))
    for (Index i = 0; i < held; i++)
      for (Index c = 0; c < classes; c++) out(p, i, c) = INF;
  for (Index a = 0; a < classes; a++)
    for (Index b = a + 1; b < classes; b++) {
      if (regions.owner[a] == regions.owner[b]) continue;
      pairs::Pair pair(regions, priors, a, b);
      if (!pairs::add_scores(products, priors, pair, lams, out)) return false;
    }
  return true;
}
