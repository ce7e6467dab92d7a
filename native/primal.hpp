// The optimum of one separator over a pool of more rows than there are dimensions.
//
// The same problem as in `newton`, in u = (w - w0, β - b0) with u'Pu for ‖u‖², P = (K⁻¹, 1):
// minimise ½u'Pu + 1/(2λ) Σ max(0, r_i - s_i z_i·u)², z_i = (x_i - origin, 1). Newton's step solves
// (λP + Σ_A s² z z') u = Σ_A s r z. The Cholesky factor of the left side and the sum on the right
// follow A row by row: a row that changes sides takes d² operations. If many do, they are computed
// anew. A row of weight ω has s = ±√ω, and r is √ω times its target.
//
// `maths/separator.py` specifies the optimum.
#pragma once

#include "linear.hpp"
#include "newton.hpp"

// U (d + 1, d + 1), upper, with U'U = λP + Σ_A s² z z', q = Σ_A s r z (d + 1,), inside (n,).
struct Sums {
  static constexpr bool is_record = true;
  Matrix<double> U;
  Floats q;
  Bools inside;
  auto fields() { return std::tie(U, q, inside); }
};

// The pool: its rows table[places], their signs and targets r.
template <typename Row>
struct Rows {
  static constexpr bool is_record = true;
  Matrix<const Row> table;
  Vector<const std::int64_t> places;
  Vector<const double> origin, signs, r;
  auto fields() { return std::tie(table, places, origin, signs, r); }

  const Row *at(Index i) const { return row(table, places[i]).data; }
};

namespace primal {

constexpr Index TOGETHER = 32;  // so many rows change the factor together: they stay in the cache
constexpr Index BLOCK = 128;    // so many rows are multiplied together for a new factor
constexpr double LOST = 1e-8;   // a row that leaves less of a squared pivot leaves too few digits

using Values = Vector<const double>;

// Set out (n,) to s z·u.
template <typename Row>
void margins(const Rows<Row> &rows, Values u, Floats out) {
  const Index d = rows.origin.size();
  const double *origin = rows.origin.data;
  for (Index i = 0; i < out.size(); i++) {
    did(d);
    const Row *x = rows.at(i);
    double total = u[d];
    if (d < 2 * LANES)  // one sum is faster
      for (Index k = 0; k < d; k++) total += u[k] * (x[k] - origin[k]);
    else
      total += dot(u.data, x, origin, d);
    out[i] = rows.signs[i] * total;
  }
}

// A row within rounding of its target is on neither side: it may keep the side it has.
inline bool agrees(Vector<const bool> wanted, Values r, Values reached) {
  for (Index i = 0; i < wanted.size(); i++) {
    const double short_by = r[i] - reached[i];
    if (wanted[i] != (short_by > 0.0) && std::abs(short_by) > 1e-9) return false;
  }
  return true;
}

// Write s z to z, and add r times it to q, `times` 1 or -1.
template <typename Row>
void add(const Rows<Row> &rows, Index i, double times, Floats q, double *__restrict z) {
  const Index d = rows.origin.size();
  const double sign = rows.signs[i], amount = times * rows.r[i];
  const Row *__restrict x = rows.at(i);
  double *__restrict sum = q.data;
  for (Index k = 0; k < d; k++) z[k] = sign * (x[k] - rows.origin[k]);
  z[d] = sign;
  for (Index k = 0; k <= d; k++) sum[k] += amount * z[k];
}

// Rotate z into a row of U, from its first element on, which is then 0 in z.
inline bool rotate_in(double *__restrict row, double *__restrict z, Index n) {
  const double length = std::hypot(row[0], z[0]);
  if (!(length > 0.0)) return false;
  const double cosine = row[0] / length, sine = z[0] / length;
  for (Index j = 0; j < n; j++) {
    const double a = row[j], b = z[j];
    row[j] = cosine * a + sine * b;
    z[j] = cosine * b - sine * a;
  }
  return true;
}

// Rotate z out of a row of U.
inline bool rotate_out(double *__restrict row, double *__restrict z, Index n) {
  if (!(row[0] > 0.0)) return false;
  const double sine = z[0] / row[0], left = (1.0 - sine) * (1.0 + sine);
  if (!(left > LOST)) return false;
  const double cosine = std::sqrt(left), stretch = 1.0 / cosine;
  for (Index j = 0; j < n; j++) {
    const double a = stretch * (row[j] - sine * z[j]);
    row[j] = a;
    z[j] = cosine * z[j] - sine * a;
  }
  return true;
}

// Each row of Z is rotated into the rows of U, first to last, or out of them; it is 0 in the end.
// False if too few digits are left: the factor is then computed anew.
inline bool rotate(Matrix<double> U, Matrix<double> Z, Index count, bool enters) {
  for (Index k = 0; k < U.size(); k++) {
    did(count * U.size());
    for (Index i = 0; i < count; i++) {
      double *row = &U(k, k), *z = &Z(i, k);
      const Index n = U.shape[1] - k;
      if (!(enters ? rotate_in(row, z, n) : rotate_out(row, z, n))) return false;
    }
  }
  return true;
}

// Let all rows enter that should, or leave; return false if too few digits of U are left.
template <typename Row>
bool move(const Rows<Row> &rows, Sums &sums, Vector<const bool> wanted, bool enters) {
  const Index n = wanted.size(), size = sums.q.size();
  Buffer<double> buffer(TOGETHER * size);
  const Matrix<double> Z = buffer.as_matrix(size);
  Index count = 0;
  for (Index i = 0; i < n; i++) {
    if (wanted[i] == enters && sums.inside[i] != enters) {
      add(rows, i, enters ? 1.0 : -1.0, sums.q, row(Z, count).data);
      sums.inside[i] = enters;
      count++;
    }
    if (count == TOGETHER || (count > 0 && i == n - 1)) {
      if (!rotate(sums.U, Z, count, enters)) return false;
      count = 0;
    }
  }
  return true;
}

// False if the factor must be computed anew: there is none, that is faster, or digits were lost.
template <typename Row>
bool has_followed(const Rows<Row> &rows, Sums &sums, Vector<const bool> wanted) {
  const Index size = sums.q.size();
  Index changed = 0, inside = 0;
  for (Index i = 0; i < wanted.size(); i++) {
    changed += wanted[i] != sums.inside[i];
    inside += wanted[i];
  }
  // To change the factor by a row takes as long as to add 3 + 300/d rows to a new one (measured).
  if ((3 + 300 / size) * changed > inside + size / 2) return false;
  for (Index k = 0; k < size; k++)
    if (!(sums.U(k, k) > 0.0)) return false;
  return move(rows, sums, wanted, true) && move(rows, sums, wanted, false);
}

// Compute the sums from the rows that are wanted; return false if U does not exist.
template <typename Row>
bool factor_anew(const Rows<Row> &rows, Matrix<const double> P, double lam, Sums &sums,
                 Vector<const bool> wanted) {
  const Index n = wanted.size(), size = sums.q.size();
  const Index width = linear::padded(size);
  Buffer<double> buffer(BLOCK * width, 0.0), sum(width * width, 0.0);
  const Matrix<double> Z = buffer.as_matrix(width), curved = sum.as_matrix(width);
  std::fill_n(sums.q.data, size, 0.0);
  for (Index j = 0; j < size; j++)
    for (Index k = 0; k < size; k++) curved(j, k) = lam * P(j, k);
  for (Index i = 0, count = 0; i < n; i++) {
    sums.inside[i] = wanted[i];
    if (wanted[i]) add(rows, i, 1.0, sums.q, row(Z, count++).data);
    if (count == BLOCK || (count > 0 && i == n - 1)) {
      linear::add_squares(matrix<const double>(Z.data, count, width), 1.0, 0, curved);
      count = 0;
    }
  }
  if (!linear::factorise(curved, size)) return false;
  for (Index j = 0; j < size; j++) std::copy_n(&curved(j, j), size - j, &sums.U(j, j));
  return true;
}

// Set out to the solution of U'U out = q.
inline void solve(const Sums &sums, Floats result) {
  const Index size = sums.q.size();
  double *__restrict out = result.data;
  std::copy_n(sums.q.data, size, out);
  for (Index k = 0; k < size; k++) {
    const double *__restrict known = row(sums.U, k).data;
    const double amount = out[k] /= known[k];
    for (Index j = k + 1; j < size; j++) out[j] -= amount * known[j];
  }
  for (Index k = size - 1; k >= 0; k--) {
    const double *known = row(sums.U, k).data + k;
    out[k] = (out[k] - inner(known + 1, out + k + 1, size - k - 1)) / known[0];
  }
}

// How far λPu is from Σ s (r - margin) z, relative to its size.
template <typename Row>
double residual(const Rows<Row> &rows, Matrix<const double> P, Values u, Values alpha) {
  const Index d = rows.origin.size();
  Buffer<double> gradient(d + 1), size(d + 1);
  linear::times(P, u, gradient.all());
  // |(Pu)_k| is at most √P_kk times this.
  const double length = std::sqrt(dot(u.data, gradient.data(), d + 1));
  for (Index k = 0; k <= d; k++) size[k] = std::abs(gradient[k]);
  for (Index i = 0; i < alpha.size(); i++) {
    if (!(alpha[i] > 0.0)) continue;
    const Row *x = rows.at(i);
    const double amount = rows.signs[i] * alpha[i];
    for (Index k = 0; k < d; k++) {
      const double part = amount * (x[k] - rows.origin[k]);
      gradient[k] -= part;
      size[k] += std::abs(part);
    }
    gradient[d] -= amount;
    size[d] += std::abs(amount);
  }
  double worst = 0.0;
  for (Index k = 0; k <= d; k++) {
    const double whole = size[k] + std::sqrt(P(k, k)) * length;
    if (!(whole < INF)) return INF;
    if (whole > 0.0) worst = std::max(worst, std::abs(gradient[k]) / whole);
  }
  return worst;
}

}  // namespace primal

// Move u (d + 1,) to the optimum, and the sums with it; set alpha (n,) and return the residual.
//
// The residual is how far λPu is from Σ s (r - margin) z, relative to its size; it is infinite if
// the optimum was not reached. It grows if the sums were updated too often.
template <typename Row>
double newton_primal(Rows<Row> rows, Matrix<const double> P, double lam, Floats u, Sums sums,
                     Floats alpha) {
  const Index n = rows.r.size(), size = u.size(), d = rows.origin.size();
  require(rows.places.size() == n && rows.signs.size() == n && alpha.size() == n);
  require(rows.table.shape[1] == d && size == d + 1 && P.shape[0] == size && P.shape[1] == size);
  require(sums.U.shape[0] == size && sums.U.shape[1] == size && sums.q.size() == size);
  require(sums.inside.size() == n);
  check_inside(rows.places, rows.table.size(), "places");
  Buffer<double> margins(n), change(n), short_by(n), step(size), weighted(size);
  Buffer<bool> wanted(n);
  primal::margins(rows, u, margins.all());
  for (Index i = 0; i < n; i++) wanted[i] = rows.r[i] - margins[i] > 0.0;
  for (Index round = 0; round < newton_::ROUNDS; round++) {
    if (!primal::has_followed<Row>(rows, sums, wanted.all()) &&
        !primal::factor_anew<Row>(rows, P, lam, sums, wanted.all()))
      return INF;
    primal::solve(sums, step.all());
    for (Index k = 0; k < size; k++)
      if (!(std::abs(step[k]) < INF)) return INF;
    primal::margins(rows, step.all(), change.all());
    if (primal::agrees(wanted.all(), rows.r, change.all())) {
      std::copy_n(step.data(), size, u.data);
      for (Index i = 0; i < n; i++) alpha[i] = std::max(rows.r[i] - change[i], 0.0) / lam;
      return primal::residual<Row>(rows, P, u, alpha);
    }
    for (Index k = 0; k < size; k++) step[k] -= u[k];
    for (Index i = 0; i < n; i++) {
      change[i] -= margins[i];
      short_by[i] = rows.r[i] - margins[i];
    }
    linear::times(P, step.all(), weighted.all());
    const double base = dot(u.data, weighted.data(), size);
    const double curve = dot(step.data(), weighted.data(), size);
    const double t = best_step(short_by.all(), change.all(), base, curve, lam);
    for (Index k = 0; k < size; k++) u[k] += t * step[k];
    for (Index i = 0; i < n; i++) {
      margins[i] += t * change[i];
      wanted[i] = rows.r[i] - margins[i] > 0.0;
    }
  }
  return INF;
}
