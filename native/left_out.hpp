// Values of one separator at rows, without these rows: `maths/leave_one_out.py`, from α.
//
// If a row of F would turn round without those that leave, or one outside of F would fall short,
// the separator is solved again for all candidates.
#pragma once

#include "newton.hpp"

// The m rows that may be support vectors without others: see `Candidates` in Python.
struct Candidates {
  static constexpr bool is_record = true;
  Matrix<const double> products;
  Vector<const double> signs, weights, alpha;
  Vector<const std::int64_t> groups;
  Matrix<const double> inverse;
  auto fields() { return std::tie(products, signs, weights, alpha, groups, inverse); }
};

// Rows that leave, and what their leaving changes: see `Leaving` in Python.
struct Leaving {
  static constexpr bool is_record = true;
  Matrix<const std::int64_t> groups;
  Matrix<const double> H, h;
  Vector<const double> qz, gain;
  Matrix<const double> prior;
  Vector<const double> own;
  Matrix<const double> solved, turned;
  auto fields() { return std::tie(groups, H, h, qz, gain, prior, own, solved, turned); }
};

namespace left_out {

inline double value(const Leaving &leaving, Index i, Vector<const double> c) {
  double total = leaving.own[i];
  for (Index j = 0; j < c.size(); j++) {
    if (c[j] == 0.0) continue;
    const double more = leaving.gain[i] * leaving.qz[i] * leaving.h(i, j);
    total += c[j] * (leaving.H(i, j) + more + 1.0);
  }
  return total;
}

inline bool leaves(const Candidates &candidates, const Leaving &leaving, Index i, Index j) {
  const std::int64_t group = candidates.groups[j];
  return group == leaving.groups(i, 0) || group == leaving.groups(i, 1);
}

// Set c to that on F without the rows that leave. `columns` (f, f) and `removed` (f,) are buffers:
// columns of the inverse, as others leave, and which they are.
inline void without(const Candidates &candidates, const Leaving &leaving, Index i, Floats c,
                    Matrix<double> columns, Ints removed) {
  const Matrix<const double> &inverse = candidates.inverse;
  const Index f = inverse.size();
  const double *h = row(leaving.h, i).data, *turned = row(leaving.turned, i).data;
  const double *solved = row(leaving.solved, i).data;
  double hh = 0.0, hr = 0.0;
  for (Index j = 0; j < f; j++) {
    hh += h[j] * turned[j];
    hr += h[j] * solved[j];
  }
  const double k = leaving.gain[i] / (1.0 + leaving.gain[i] * hh);
  for (Index j = 0; j < c.size(); j++) c[j] = j < f ? solved[j] - k * hr * turned[j] : 0.0;
  Index count = 0;
  for (Index j = 0; j < f; j++) {
    if (!leaves(candidates, leaving, i, j)) continue;
    double *__restrict column = row(columns, count).data;
    for (Index p = 0; p < f; p++) column[p] = inverse(p, j) - k * turned[p] * turned[j];
    for (Index before = 0; before < count; before++) {
      const double *__restrict earlier = row(columns, before).data;
      const double share = earlier[j] / earlier[removed[before]];
      for (Index p = 0; p < f; p++) column[p] -= share * earlier[p];
    }
    const double share = c[j] / column[j];
    for (Index p = 0; p < f; p++) c[p] -= share * column[p];
    removed[count++] = j;
  }
  for (Index before = 0; before < count; before++) c[removed[before]] = 0.0;
}

// Whether no row of F has turned round, and none outside of F falls short.
inline bool holds(const Candidates &candidates, const Leaving &leaving, Index i,
                  Vector<const double> c) {
  const Index f = candidates.inverse.size();
  for (Index j = 0; j < c.size(); j++) {
    if (leaves(candidates, leaving, i, j)) continue;
    const double sign = candidates.signs[j];
    if (j < f) {
      if (sign * c[j] < 0.0) return false;
      continue;
    }
    const double more = leaving.gain[i] * leaving.h(i, j);
    double total = leaving.prior(i, j);
    for (Index p = 0; p < f; p++)
      total += c[p] * (candidates.products(j, p) + more * leaving.h(i, p) + 1.0);
    if (sign * total < 1.0 - 1e-9) return false;
  }
  return true;
}

// Write the problem of the candidates that stay, as `newton` takes it; return how many they are.
inline Index gather(const Candidates &candidates, const Leaving &leaving, Index i, Matrix<double> G,
                    Floats r, Floats alpha, Ints order) {
  Index n = 0;
  for (Index j = 0; j < candidates.signs.size(); j++)
    if (!leaves(candidates, leaving, i, j)) order[n++] = j;
  Buffer<double> roots(n);
  for (Index a = 0; a < n; a++)
    roots[a] = candidates.signs[order[a]] * std::sqrt(candidates.weights[order[a]]);
  for (Index a = 0; a < n; a++) {
    const Index p = order[a];
    const double more = leaving.gain[i] * leaving.h(i, p);
    for (Index b = 0; b < n; b++) {
      const double inner = candidates.products(p, order[b]) + more * leaving.h(i, order[b]) + 1.0;
      G(a, b) = roots[a] * roots[b] * inner;
    }
    r[a] = std::sqrt(candidates.weights[p]) - roots[a] * leaving.prior(i, p);
    alpha[a] = candidates.alpha[p] / std::sqrt(candidates.weights[p]);
  }
  return n;
}

inline void check_shapes(const Candidates &candidates, const Leaving &leaving, Floats out) {
  const Index n = out.size(), m = candidates.signs.size(), f = candidates.inverse.size();
  const Index known = candidates.products.size();
  require(candidates.weights.size() == m && candidates.alpha.size() == m);
  require(candidates.groups.size() == m && candidates.inverse.shape[1] == f && f <= m);
  require(known == 0 || (known == m && candidates.products.shape[1] == m));
  require(leaving.groups.size() == n && leaving.groups.shape[1] == 2);
  require(leaving.qz.size() == n && leaving.gain.size() == n && leaving.own.size() == n);
  for (const auto &each : {leaving.H, leaving.h, leaving.prior})
    require(each.shape[0] == n && each.shape[1] == m);
  for (const auto &each : {leaving.solved, leaving.turned})
    require(each.shape[0] == n && each.shape[1] == f);
}

}  // namespace left_out

// Set out (n,) to the values at the rows that leave.
//
// Where the separator cannot be solved again in double precision, the closed form stays.
inline void values_left_out(Candidates candidates, Leaving leaving, double lam, Floats out) {
  left_out::check_shapes(candidates, leaving, out);
  const Index f = candidates.inverse.size(), m = candidates.signs.size();
  const Index most = candidates.products.size();
  Buffer<double> c(m), columns(f * f), G(most * most), L(most * most), r(most), alpha(most);
  Buffer<std::int64_t> removed(f), order(most), places(most), count(1);
  const Factor factor{L.as_matrix(most), order.all(), count.all()};
  for (Index i = 0; i < out.size(); i++) {
    did(m * (f + 1));
    left_out::without(candidates, leaving, i, c.all(), columns.as_matrix(f), removed.all());
    out[i] = left_out::value(leaving, i, c.all());
    if (most == 0 || left_out::holds(candidates, leaving, i, c.all())) continue;
    const Index n = left_out::gather(candidates, leaving, i, G.as_matrix(most), r.all(),
                                     alpha.all(), places.all());
    count[0] = 0;
    const Floats solved = part(alpha.all(), 0, n);
    if (!newton(G.as_matrix(most), part(r.all(), 0, n), lam, solved, factor)) continue;
    std::fill_n(c.data(), m, 0.0);
    for (Index j = 0; j < n; j++) {
      const Index p = places[j];
      c[p] = candidates.signs[p] * std::sqrt(candidates.weights[p]) * alpha[j];
    }
    out[i] = left_out::value(leaving, i, c.all());
  }
}
