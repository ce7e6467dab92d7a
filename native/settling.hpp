// Many small pools in one call: inner products, optimum, weights, and both classes' margins.
//
// Each number is what `gram`, `newton`, `combine` and `activations` make of it, to the last bit;
// here nothing is kept from one solve to the next, and no time is lost between them.
#pragma once

#include "grams.hpp"
#include "newton.hpp"

// The problem of all pools: rows (n, d), their weights (n,) and origin, images (m, d), λ.
template <typename Row>
struct Problem {
  static constexpr bool is_record = true;
  Matrix<const Row> table;
  Vector<const double> weights, origin;
  Matrix<const double> images;
  double lam;
  auto fields() { return std::tie(table, weights, origin, images, lam); }
};

// The members of many pools, concatenated: see `Pools` in Python.
struct Pools {
  static constexpr bool is_record = true;
  Vector<const std::int64_t> start;
  Ints places;
  Vector<const std::int64_t> which;
  Floats signs, alpha;
  Ints idle;
  Vector<const std::int64_t> product_start;
  Floats products;
  Vector<const std::int64_t> known;
  Ints staying;
  auto fields() {
    return std::tie(start, places, which, signs, alpha, idle, product_start, products, known,
                    staying);
  }
};

// All examples of each pool's classes, concatenated, and a buffer for their margins.
struct Sides {
  static constexpr bool is_record = true;
  Vector<const std::int64_t> start, places;
  Vector<const double> signs;
  Floats margins;
  auto fields() { return std::tie(start, places, signs, margins); }
};

// The bound on margins, the tolerance, and the idle solves after which rows leave.
struct Limits {
  static constexpr bool is_record = true;
  double bound, tolerance;
  Index idle;
  auto fields() { return std::tie(bound, tolerance, idle); }
};

namespace settling {

constexpr Index SETTLED = 0, IN_DOUBT = 1, UNSOLVED = 2;

// The members of one pool.
struct Members {
  Ints places;
  Vector<const std::int64_t> which;
  Floats signs, alpha;
  Ints idle;
};

// The memory of a solve of up to `most` members.
struct Space {
  Buffer<double> G, L, targets, roots, scaled;
  Buffer<std::int64_t> order, count;
  Index most;

  explicit Space(Index most)
      : G(most * most),
        L(most * most),
        targets(most),
        roots(most),
        scaled(most),
        order(most),
        count(1, 0),
        most(most) {}
  Matrix<double> gram() { return G.as_matrix(most); }
};

// Move α, w and b of a pool to the optimum; w and b hold the prior. Return false if that fails.
//
// The first `known` rows of the inner products are in space.gram() already, all are afterwards.
template <typename Row>
bool solve(const Problem<Row> &problem, const Members &members, Index known, Floats w, double &b,
           Space &space) {
  const Index n = members.places.size();
  const Floats signs = members.signs, alpha = members.alpha, r = part(space.targets.all(), 0, n);
  const Floats scaled = part(space.scaled.all(), 0, n);
  activations<Row>(w, b, problem.table, members.places, problem.origin, r);
  for (Index i = 0; i < n; i++) {
    const double root = space.roots[i] = std::sqrt(problem.weights[members.places[i]]);
    r[i] = root * (1.0 - signs[i] * r[i]);
    scaled[i] = signs[i] * root;
    alpha[i] /= root;
  }
  gram<Row>(problem.images, members.which, problem.table, members.places, problem.origin, scaled,
            known, space.gram());
  space.count[0] = 0;
  const Factor factor{space.L.as_matrix(space.most), space.order.all(), space.count.all()};
  if (!newton(space.gram(), r, problem.lam, alpha, factor)) return false;
  double total = 0.0;
  for (Index i = 0; i < n; i++) {
    alpha[i] *= space.roots[i];
    r[i] = signs[i] * alpha[i];
    total += r[i];
    members.idle[i] = alpha[i] > 0.0 ? 0 : members.idle[i] + 1;
  }
  combine(problem.images, members.which, r, w);
  b += total;
  return true;
}

// Set the margins of some rows, and return the least.
template <typename Row>
double margins(const Problem<Row> &problem, Vector<const double> w, double b,
               Vector<const std::int64_t> places, Vector<const double> signs, Floats out) {
  activations<Row>(w, b, problem.table, places, problem.origin, out);
  double least = INF;
  for (Index i = 0; i < out.size(); i++) {
    out[i] *= signs[i];
    least = std::min(least, out[i]);
  }
  return least;
}

template <typename Row>
Index verdict(const Problem<Row> &problem, const Members &members,
              Vector<const std::int64_t> everybody, Vector<const double> margins,
              const Limits &limits) {
  for (Index i = 0; i < everybody.size(); i++) {
    if (margins[i] >= limits.bound) continue;
    bool is_made_up_for = false;
    for (Index j = 0; j < members.places.size(); j++) {
      if (members.places[j] != everybody[i]) continue;
      const double slack = problem.lam * members.alpha[j] / problem.weights[members.places[j]];
      is_made_up_for = limits.bound - margins[i] - slack <= limits.tolerance;
    }
    if (!is_made_up_for || !(margins[i] > 0.0)) return IN_DOUBT;
  }
  return SETTLED;
}

// Move the members that stay to the front; set `which` to their indices, and return their number.
inline Index without_idle(const Members &members, Index longest, Ints which) {
  Index k = 0;
  for (Index i = 0; i < members.places.size(); i++) {
    if (members.idle[i] > longest) continue;
    members.places[k] = members.places[i];
    members.signs[k] = members.signs[i];
    members.alpha[k] = members.alpha[i];
    members.idle[k] = members.idle[i];
    which[k++] = i;
  }
  return k;
}

// Fill the first rows and columns of G from the lower half, row by row.
inline void spread(Vector<const double> products, Index known, Matrix<double> G) {
  for (Index i = 0, at = 0; i < known; i++)
    for (Index j = 0; j <= i; j++) G(i, j) = G(j, i) = products[at++];
}

// Write the lower half of some rows and columns of G, row by row.
inline void gather(Matrix<const double> G, Vector<const std::int64_t> which, Index count,
                   Floats products) {
  for (Index i = 0, at = 0; i < count; i++)
    for (Index j = 0; j <= i; j++) products[at++] = G(which[i], which[j]);
}

}  // namespace settling

// Solve pools first … last - 1 and check all examples; W and b hold priors, then weights.
//
// verdicts[p] is SETTLED if all margins are above 0, and all are at or above the bound except
// those of members whose slack covers the difference; least[p] is then the smallest margin, and
// members that were idle too long are removed. IN_DOUBT means that the margins must be checked
// further. UNSOLVED means that the optimum was not found; the pool's arrays are then undefined.
template <typename Row>
void settle_pools(Index first, Index last, Problem<Row> problem, Pools pools, Matrix<double> W,
                  Floats b, Sides sides, Limits limits, Ints verdicts, Floats least) {
  const Index d = problem.origin.size();
  require(problem.table.shape[1] == d && problem.images.shape[1] == d && W.shape[1] == d);
  require(0 <= first && last <= W.size() && b.size() == W.size());
  require(pools.start.size() > last && pools.product_start.size() > last);
  require(pools.known.size() >= last && pools.staying.size() >= last && sides.start.size() > last);
  require(verdicts.size() >= last && least.size() >= last);
  require(pools.which.size() == pools.places.size() && pools.signs.size() == pools.places.size());
  require(pools.alpha.size() == pools.places.size() && pools.idle.size() == pools.places.size());
  require(sides.signs.size() == sides.places.size() && sides.margins.size() == sides.places.size());
  Index most = 0;
  for (Index p = first; p < last; p++)
    most = std::max<Index>(most, pools.start[p + 1] - pools.start[p]);
  settling::Space space(most);
  for (Index p = first; p < last; p++) {
    const Index from = pools.start[p], to = pools.start[p + 1], n = to - from;
    const settling::Members members{part(pools.places, from, to), part(pools.which, from, to),
                                    part(pools.signs, from, to), part(pools.alpha, from, to),
                                    part(pools.idle, from, to)};
    const Floats products =
        part(pools.products, pools.product_start[p], pools.product_start[p + 1]);
    pools.staying[p] = n;
    settling::spread(products, pools.known[p], space.gram());
    if (!settling::solve(problem, members, pools.known[p], row(W, p), b[p], space)) {
      verdicts[p] = settling::UNSOLVED;
      continue;
    }
    const Index side = sides.start[p], end = sides.start[p + 1];
    const auto everybody = part(sides.places, side, end);
    const Floats margins = part(sides.margins, side, end);
    least[p] = settling::margins(problem, row(W, p), b[p], everybody, part(sides.signs, side, end),
                                 margins);
    verdicts[p] = settling::verdict(problem, members, everybody, margins, limits);
    const Ints order = space.order.all();
    if (verdicts[p] == settling::SETTLED)
      pools.staying[p] = settling::without_idle(members, limits.idle, order);
    else
      for (Index i = 0; i < n; i++) order[i] = i;
    settling::gather(space.gram(), order, pools.staying[p], products);
  }
}
