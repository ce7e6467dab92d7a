// The optimum of one separator over a pool of rows, from their inner products.
//
// With G_ij = s_i s_j (x_i'K x_j + 1) and r_i = 1 - s_i f0(x_i), the separator is u = Σ α_i s_i
// z_i, z = (x, 1), and minimises ½‖u‖² + 1/(2λ) Σ max(0, r_i - (Gα)_i)². Newton's step solves (G_AA
// + λI) α_A = r_A for the rows A that fall short; a line search along it that is exact makes the
// method end after finitely many rounds. The Cholesky factor of G_AA + λI follows A row by row. For
// a row of weight ω, s and r are √ω times as large, and α is 1/√ω of its dual coefficient.
//
// Where λ is at the edge of what rounding leaves of G, the rounds on the way may pass through α so
// large that the line search sees noise. Then the same optimum is found one row at a time, with
// α ≥ 0 all the way (Lawson and Hanson's method): slower, and hardly ever needed.
//
// `maths/separator.py` specifies the optimum.
#pragma once

#include <algorithm>
#include <cmath>

#include "linear.hpp"
#include "margins.hpp"
#include "signals.hpp"

namespace newton_ {

constexpr Index ROUNDS = 200;
constexpr double NOTHING = 1e-12;  // an α that moves its own row's margin by less counts as 0
constexpr Index TOGETHER = linear::WIDE;  // so many rows join the factor together,
constexpr Index WORTH_GATHERING = 4;      // if there are at least so many
constexpr double WRONG = 1e-9;            // a row of A further from its target: L does not match G
constexpr double ROUNDING = 1e-14;  // of a sum of products, relative to that of their absolutes

using Values = Vector<const double>;
using Square = Matrix<const double>;

}  // namespace newton_

// L (cap, cap), lower, with L L' = G_AA + λI, and `order`, the pool's members in A. size (1,) says
// how many there are.
struct Factor {
  static constexpr bool is_record = true;
  Matrix<double> L;
  Ints order, size;
  auto fields() { return std::tie(L, order, size); }

  Index count() const { return size[0]; }
  // Refuse a factor that has no room for n members, or others than some of these, each once.
  void check(Index n) const {
    require(L.shape[0] >= n && L.shape[1] >= n && order.size() >= n && size.size() == 1);
    inside(size[0], n + 1, "size");
    Buffer<bool> is_there(n, false);
    for (Index i = 0; i < count(); i++) {
      bool &known = is_there[inside(order[i], n, "order")];
      if (known) throw std::invalid_argument("A member is twice in order.");
      known = true;
    }
  }
};

// Return the sum of the first n products.
//
// Eight sums run side by side: one alone waits for its own last addition.
inline double inner(const double *__restrict a, const double *__restrict b, Index n) {
  const Index whole = n - n % 8;
  double s[8] = {};
  for (Index k = 0; k < whole; k += 8)
    for (Index m = 0; m < 8; m++) s[m] += a[k + m] * b[k + m];
  for (Index k = whole; k < n; k++) s[0] += a[k] * b[k];
  return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

// Find the t ≥ 0 that minimises base·t + ½ curve·t² + 1/(2λ) Σ max(0, short - t·change)².
//
// Its slope is increasing and made of straight pieces: Newton on the slope, kept between a point
// below and one above, ends on the piece that crosses 0.
inline double best_step(Vector<const double> short_by, Vector<const double> change, double base,
                        double curve, double lam) {
  require(short_by.size() == change.size());
  double low = 0.0, high = INF, t = 1.0;
  for (int round = 0; round < 100; round++) {
    double slope = base + t * curve, bend = curve;
    for (Index i = 0; i < short_by.size(); i++) {
      const double gap = short_by[i] - t * change[i];
      if (gap > 0.0) {
        slope -= gap * change[i] / lam;
        bend += change[i] * change[i] / lam;
      }
    }
    (slope > 0.0 ? high : low) = t;
    if (bend == 0.0) return t;
    double following = t - slope / bend;
    if (!(low < following && following < high))
      following = high < INF ? 0.5 * (low + high) : 2.0 * t;
    if (std::abs(following - t) <= 1e-14 * t || (high < INF && high - low <= 1e-14 * high))
      return following;
    t = following;
  }
  return t;
}

namespace newton_ {

// Set out = G α, for the first len(α) rows of a symmetric G.
inline void times(Square G, Values alpha, Floats result) {
  const Index n = alpha.size();
  did(n * n);
  double *__restrict out = result.data;
  std::fill(out, out + n, 0.0);
  for (Index j = 0; j < n; j++) {
    const double *__restrict column = row(G, j).data;
    const double amount = alpha[j];
    if (amount != 0.0)
      for (Index i = 0; i < n; i++) out[i] += column[i] * amount;
  }
}

inline double sizes(Square G, Values alpha, Index i) {
  double total = 0.0;
  for (Index j = 0; j < alpha.size(); j++) total += std::abs(G(i, j) * alpha[j]);
  return total;
}

// How far from its target a row may be by rounding alone.
inline double blur(Square G, Values alpha, Index i, double lam) {
  return std::max(1e-12 * (1.0 + lam), std::min(ROUNDING * sizes(G, alpha, i), 1e-9));
}

// Whether a step leaves each row on its side. A row within rounding of its target is on neither
// side: it may keep the side it has.
inline bool same(Vector<const bool> wanted, Values reached, Square G, Values r, Values alpha,
                 double lam) {
  for (Index i = 0; i < wanted.size(); i++) {
    if (wanted[i]) {
      if (alpha[i] * (G(i, i) + lam) < -NOTHING * (1.0 + std::abs(r[i]))) return false;
    } else {
      const double short_by = r[i] - reached[i];
      if (short_by > 0.0 && short_by > blur(G, alpha, i, lam)) return false;
    }
  }
  return true;
}

// Write the present columns of the rows that some members will have in L.
//
// Rows of L come four at a time, so that sums stay in registers; the additions are those of one row
// after the other.
inline void gather(Factor factor, Square G, const Index *members, Index count) {
  const Index n = factor.count(), whole = n - n % linear::TALL, apart = factor.L.stride[0];
  Buffer<double> columns(n * TOGETHER);
  const Matrix<double> B = columns.as_matrix(TOGETHER);
  for (Index i = 0; i < n; i++) {
    for (Index m = 0; m < TOGETHER; m++)
      B(i, m) = G(members[std::min(m, count - 1)], factor.order[i]);
  }
  for (Index i = 0; i < n; i++) {
    did(i * TOGETHER);
    const bool in_four = i < whole;
    const Index done = in_four ? i - i % linear::TALL : 0;
    const double *known = row(factor.L, i).data;
    double *__restrict sums = row(B, i).data;
    if (in_four && i == done)
      linear::add_tile({known, 1, apart}, B.data, TOGETHER, i, -1.0, sums, TOGETHER);
    for (Index k = done; k < i; k++)
      for (Index m = 0; m < TOGETHER; m++) sums[m] -= known[k] * B(k, m);
    for (Index m = 0; m < TOGETHER; m++) sums[m] /= known[i];
  }
  for (Index m = 0; m < count; m++)
    for (Index i = 0; i < n; i++) factor.L(n + m, i) = B(i, m);
}

// Add the row of a member to L; its first columns may be there already.
inline void append(Factor factor, Square G, double lam, Index member, Index known) {
  const Index n = factor.count();
  did(n * n);
  double *added = row(factor.L, n).data;
  for (Index i = known; i < n; i++) {
    const double *before = row(factor.L, i).data;
    added[i] = (G(member, factor.order[i]) - inner(before, added, i)) / before[i];
  }
  double square = G(member, member) + lam;
  for (Index i = 0; i < n; i++) square -= added[i] * added[i];
  added[n] = std::sqrt(std::max(square, 0.5 * lam));
  factor.order[n] = member;
  factor.size[0] = n + 1;
}

// Take a member out. Without its row, the lower part has one column too many: rotations push it
// into the others. The column that is being pushed is `extra`, apart from L: next to each other,
// the two lines of a rotation become one fused multiply-add with alternating signs in gcc 12.
inline void remove(Factor factor, Index place) {
  const Matrix<double> &L = factor.L;
  const Index n = factor.count();
  did(n * n);
  Buffer<double> extra(n);
  for (Index j = place + 1; j < n; j++) extra[j] = L(j, place);
  for (Index i = place; i < n - 1; i++) {
    factor.order[i] = factor.order[i + 1];
    const double a = extra[i + 1], b = L(i + 1, i + 1), length = std::hypot(a, b);
    const double cosine = a / length, sine = b / length;
    std::copy_n(row(L, i + 1).data, i, row(L, i).data);
    L(i, i) = length;
    for (Index j = i + 2; j < n; j++) {
      const double left = extra[j], right = L(j, i + 1);
      L(j, i) = cosine * left + sine * right;
      extra[j] = cosine * right - sine * left;
    }
  }
  factor.size[0] = n - 1;
}

// Take all members out of a factor that are not wanted, and add those that are.
inline void follow(Factor factor, Square G, double lam, Vector<const bool> wanted) {
  const Index n = wanted.size();
  Buffer<bool> inside(n, false);
  Index kept = 0;
  for (Index i = 0; i < factor.count(); i++) kept += wanted[factor.order[i]];
  if (2 * kept < factor.count()) factor.size[0] = 0;  // cheaper to begin again
  for (Index place = 0; place < factor.count();) {
    const Index member = factor.order[place];
    if (wanted[member]) {
      inside[member] = true;
      place++;
    } else {
      remove(factor, place);
    }
  }
  Index members[TOGETHER], count = 0;
  for (Index i = 0; i < n; i++) {
    if (wanted[i] && !inside[i]) members[count++] = i;
    if (count == TOGETHER || (count > 0 && i == n - 1)) {
      const bool is_worth_it = count >= WORTH_GATHERING;
      const Index known = is_worth_it ? factor.count() : 0;
      if (is_worth_it) gather(factor, G, members, count);
      for (Index m = 0; m < count; m++) append(factor, G, lam, members[m], known);
      count = 0;
    }
  }
}

// Set alpha to the solution of (G_AA + λI) α_A = r_A, and 0 outside of A.
inline void solve(Factor factor, Values r, Floats alpha) {
  const Index n = factor.count();
  did(n * n);
  Buffer<double> solution(n);
  double *__restrict z = solution.data();
  for (Index i = 0; i < n; i++) {
    const double *known = row(factor.L, i).data;
    z[i] = (r[factor.order[i]] - inner(known, z, i)) / known[i];
  }
  for (Index i = n - 1; i >= 0; i--) {
    const double *__restrict known = row(factor.L, i).data;
    const double amount = z[i] /= known[i];
    for (Index k = 0; k < i; k++) z[k] -= known[k] * amount;
  }
  std::fill(alpha.data, alpha.data + alpha.size(), 0.0);
  for (Index i = 0; i < n; i++) alpha[factor.order[i]] = z[i];
}

// Newton's method from `alpha` on; margins (n,) are then those of the optimum.
inline bool in_leaps(Square G, Values r, double lam, Floats alpha, Factor factor, Floats margins) {
  const Index n = r.size();
  Buffer<double> short_by(n), step(n), change(n);
  Buffer<bool> wanted(n);
  times(G, alpha, margins);
  bool none_wanted = true;
  for (Index i = 0; i < n; i++) {
    wanted[i] = r[i] - margins[i] > 0.0;
    none_wanted = none_wanted && !wanted[i];
  }
  if (none_wanted) {
    for (Index i = 0; i < n; i++) {
      alpha[i] = margins[i] = 0.0;
      wanted[i] = r[i] > 0.0;
    }
  }
  for (Index round = 0; round < ROUNDS; round++) {
    follow(factor, G, lam, wanted.all());
    solve(factor, r, step.all());
    times(G, step.all(), change.all());
    if (same(wanted.all(), change.all(), G, r, step.all(), lam)) {
      std::copy_n(step.data(), n, alpha.data);
      std::copy_n(change.data(), n, margins.data);
      return true;
    }
    double base = 0.0, curve = 0.0;
    for (Index i = 0; i < n; i++) {
      short_by[i] = r[i] - margins[i];
      step[i] -= alpha[i];
      change[i] -= margins[i];
      base += margins[i] * step[i];
      curve += change[i] * step[i];
    }
    if (!(curve >= 0.0)) return false;  // G has no such direction: what is seen here is rounding
    const double t = best_step(short_by.all(), change.all(), base, curve, lam);
    for (Index i = 0; i < n; i++) {
      alpha[i] += t * step[i];
      margins[i] += t * change[i];
      wanted[i] = r[i] - margins[i] > 0.0;
    }
  }
  return false;
}

// Lawson and Hanson's method, from α = 0.
inline bool row_by_row(Square G, Values r, double lam, Floats alpha, Factor factor) {
  const Index n = r.size();
  factor.size[0] = 0;
  Buffer<bool> inside(n, false), refused(n, false);  // refused: came in and found nothing to do
  Buffer<double> target(n), margins(n);
  std::fill_n(alpha.data, n, 0.0);
  for (Index round = 0; round < 10 * n + 100; round++) {
    times(G, alpha, margins.all());
    Index newest = n;
    double furthest = 0.0;
    for (Index i = 0; i < n; i++) {
      const double short_by = r[i] - margins[i];
      if (!inside[i] && !refused[i] && (newest == n || short_by > furthest))
        newest = i, furthest = short_by;
    }
    if (newest == n || !(furthest > blur(G, alpha, newest, lam))) return true;
    inside[newest] = true;
    while (true) {
      follow(factor, G, lam, inside.all());
      solve(factor, r, target.all());
      double t = 1.0;
      Index first = n;
      for (Index i = 0; i < n; i++) {
        if (inside[i] && target[i] <= 0.0 && alpha[i] <= t * (alpha[i] - target[i])) {
          t = alpha[i] > 0.0 ? alpha[i] / (alpha[i] - target[i]) : 0.0;
          first = i;
        }
      }
      for (Index i = 0; i < n; i++) alpha[i] += t * (target[i] - alpha[i]);
      if (first == n) {
        if (inside[newest]) std::fill_n(refused.data(), n, false);
        break;
      }
      alpha[first] = 0.0;
      inside[first] = false;
      if (first == newest) refused[first] = true;
    }
  }
  return false;
}

}  // namespace newton_

// Move alpha (n,) to the optimum for G (≥ n, ≥ n) and r (n,); return false if that fails.
//
// alpha ≥ 0 may start anywhere; the factor must be empty or that of an earlier call with the same G
// and lam. At the end alpha > 0 only in A.
inline bool newton(Matrix<const double> G, Vector<const double> r, double lam, Floats alpha,
                   Factor factor) {
  const Index n = r.size();
  require(G.shape[0] >= n && G.shape[1] >= n && alpha.size() == n);
  factor.check(n);
  Buffer<double> margins(n);
  if (!newton_::in_leaps(G, r, lam, alpha, factor, margins.all())) {
    if (!newton_::row_by_row(G, r, lam, alpha, factor)) return false;
    newton_::times(G, alpha, margins.all());
  }
  for (Index i = 0; i < n; i++) {
    if (alpha[i] * (G(i, i) + lam) <= newton_::NOTHING * (1.0 + std::abs(r[i]))) {
      alpha[i] = 0.0;
      continue;
    }
    const double off = std::abs(r[i] - margins[i] - lam * alpha[i]);
    const double wrong = newton_::WRONG;
    if (!(off <= wrong) && !(off <= wrong * (1.0 + newton_::sizes(G, alpha, i)))) return false;
  }
  return true;
}

// Take members out of a factor: those for which leaving (n,) is true.
inline void drop_members(Factor factor, Vector<const bool> leaving) {
  for (Index place = 0; place < factor.count();) {
    if (leaving[factor.order[place]])
      newton_::remove(factor, place);
    else
      place++;
  }
}
