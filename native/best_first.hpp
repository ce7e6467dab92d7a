// The label with the highest score, without computing every separator: best first, and exact.
//
// A region's score is the least of its margins, and a margin against another region is minus that
// region's margin against it. So each separator that is computed is an upper bound on the scores of
// both its regions. A region whose separators have all been computed wins as soon as no other
// region has a higher bound, and its label as soon as its score is positive: then every region of
// another label has a negative one. Regions of one label have no separator between them.
//
// Rows that are first compared with the same region are multiplied by its separators together, in
// float32. With an allowance for rounding this bounds scores, too. What it does not decide is
// computed in the fixed order of `margins`.
#pragma once

#include <cmath>

#include "margins.hpp"
#include "signals.hpp"
#include "singles.hpp"

constexpr Index WORTH_A_PRODUCT = 2;  // from so many rows on, they are compared in float32
constexpr Index AT_A_TIME = 256;      // so many separators at a time are converted to float32

// The label of each region, and the rank of each: of equal scores, the lowest rank wins.
struct Order {
  static constexpr bool is_record = true;
  Vector<const std::int64_t> rank, owner;
  auto fields() { return std::tie(rank, owner); }
};

// The separators of a model: at[number] is the row of W of a separator.
struct Separators {
  Matrix<const double> W;
  Vector<const double> b;
  Vector<const std::int32_t> at;

  Index slot(Index c, Index o) const { return inside(at[pair_number(c, o)], W.size(), "at"); }
};

// A region, its score or a lower bound of it, and how many separators were computed.
struct Best {
  Index region;
  double score;
  Index computed;
};

// Return the region with the highest bound of those that may still win; -1 if there is none.
//
// Once the best score is positive, other regions of its label would not change the label.
inline Index next_region(const double *bounds, const bool *done, const Order &order, double best,
                         Index found) {
  const auto &[rank, owner] = order;
  Index highest = -1;
  for (Index c = 0; c < rank.size(); c++) {
    const bool may_win = bounds[c] > best || (bounds[c] == best && rank[c] < rank[found]);
    if (!may_win || done[c] || c == found) continue;
    if (best > 0.0 && owner[c] == owner[found]) continue;
    if (highest < 0 || bounds[c] > bounds[highest]) highest = c;
  }
  return highest;
}

// The search for the winner of one row z = x - origin, with upper bounds of its scores.
class Search {
 public:
  Search(const Separators &separators, const Order &order, Index d)
      : z(d),
        bounds(order.rank.size()),
        done(order.rank.size()),
        separators_(separators),
        order_(order),
        others_(order.rank.size()) {}

  Buffer<double> z, bounds;
  Buffer<bool> done;

  // The region with the highest score, given one and its score or a lower bound of it.
  Best from(Index found, double best) {
    Index computed = 0;
    for (Index c; (c = next_region(bounds.data(), done.data(), order_, best, found)) >= 0;) {
      computed += compute(c, best);
      done[c] = bounds[c] >= best;
      const bool is_first = order_.rank[c] < order_.rank[found];
      if (bounds[c] > best || (bounds[c] == best && is_first)) found = c, best = bounds[c];
    }
    return {found, best, computed};
  }

  // Lower the bounds by the separators of c that have not been computed, until c can no longer
  // win. Return how many separators were computed.
  Index compute(Index c, double best) {
    const Index left = list_others(c), d = z.size();
    Index k = 0;
    for (; k + 4 <= left; k += 4) {
      const double *weights[4];
      double found[4];
      for (Index j = 0; j < 4; j++)
        weights[j] = row(separators_.W, separators_.slot(c, others_[k + j])).data;
      four_dots(z.data(), weights, d, found);
      for (Index j = 0; j < 4; j++)
        lower(c, others_[k + j], found[j] + separators_.b[separators_.slot(c, others_[k + j])]);
      if (bounds[c] < best) return k + 4;
    }
    for (; k < left; k++) {
      const Index at = separators_.slot(c, others_[k]);
      lower(c, others_[k], dot(row(separators_.W, at).data, z.data(), d) + separators_.b[at]);
      if (bounds[c] < best) return k + 1;
    }
    return left;
  }

 private:
  // List the regions that c has not been compared with; those with the four highest bounds come
  // first, because they are the most likely to beat c. Return how many.
  Index list_others(Index c) {
    Index n = 0;
    for (Index o = 0; o < bounds.size(); o++)
      if (order_.owner[o] != order_.owner[c] && !done[o]) others_[n++] = o;
    if (bounds[c] < INF)
      for (Index k = 0; k < std::min<Index>(n, 4); k++)
        for (Index j = k + 1; j < n; j++)
          if (bounds[others_[j]] > bounds[others_[k]]) std::swap(others_[k], others_[j]);
    return n;
  }

  // Lower the bounds of c and o, given the value of their separator. As in `scores`, a value that
  // is NaN (the sum of huge numbers) lowers nothing.
  void lower(Index c, Index o, double a) {
    const double margin = c < o ? a : -a;
    bounds[c] = std::min(bounds[c], margin);
    bounds[o] = std::min(bounds[o], -margin);
  }

  const Separators &separators_;
  const Order &order_;
  Buffer<Index> others_;
};

// Some rows with the same first region, in float32, and its separators.
//
// The margin of row j against region o is about margin(j, o). `sizes` are the largest
// ‖w‖‖z‖ + |b|; rounding errors are a small multiple of it.
class Group {
 public:
  Group(Index n, Index regions, Index d)
      : d_(d),
        regions_(regions),
        Z_(n, d),
        weights_(n < WORTH_A_PRODUCT ? 0 : std::min(regions, AT_A_TIME), d),
        margins_(n < WORTH_A_PRODUCT ? 0 : n * regions),
        offsets_(regions),
        sizes_(n),
        slots_(regions) {}

  // Set the margins of some rows of X in region c, and the sizes. Return false if numbers are too
  // large for float32.
  template <typename Row>
  bool multiply(const Separators &separators, Matrix<const Row> X, Vector<const double> origin,
                Vector<const std::int64_t> rows, Index c, const Order &order) {
    const Index n = rows.size();
    double longest = 0.0, highest = 0.0;
    for (Index j = 0; j < n; j++) {
      const Row *x = row(X, rows[j]).data;
      sizes_[j] = Z_.set(j, [=](Index k) { return x[k] - origin.data[k]; }) + SMALLEST;
      if (!(sizes_[j] < LARGEST)) return false;
    }
    for (Index o = 0; o < regions_; o++)  // apart from what follows, which is slower otherwise
      slots_[o] = order.owner[o] == order.owner[c] ? -1 : separators.slot(c, o);
    for (Index begin = 0; begin < regions_; begin += AT_A_TIME) {
      const Index end = std::min(begin + AT_A_TIME, regions_);
      for (Index o = begin; o < end; o++) {
        const Index slot = slots_[o];
        if (slot < 0) {
          weights_.set(o - begin, [](Index) { return 0.0; });
          offsets_[o] = INF;
          continue;
        }
        const double sign = c < o ? 1.0 : -1.0, *w = row(separators.W, slot).data;
        const double length = weights_.set(o - begin, [=](Index k) { return sign * w[k]; });
        longest = std::max(longest, length + SMALLEST);
        highest = std::max(highest, std::abs(separators.b[slot]));
        offsets_[o] = sign * separators.b[slot];
      }
      singles_product(Z_, n, weights_, end - begin, margins_.data() + begin, regions_);
    }
    for (Index j = 0; j < n; j++) sizes_[j] = longest * sizes_[j] + highest;
    return longest < LARGEST;
  }

  double margin(Index j, Index o) const { return margins_[j * regions_ + o] + offsets_[o]; }

  double least(Index j) const {
    double least = INF;
    for (Index o = 0; o < regions_; o++) least = std::min(least, margin(j, o));
    return least;
  }

  // How far a margin computed roughly may be from the one computed in the fixed order. Rounding d
  // products and their factors to float32 and adding them up, in any order, changes a sum by at
  // most (d + 3)·2⁻²⁴ of ‖w‖‖z‖ and terms of higher order; float64 by much less.
  double slack(Index j) const {
    return sizes_[j] < LARGEST ? (d_ + 8) * 0x1p-23 * sizes_[j] + LEAST : INF;
  }

 private:
  // Vectors up to this length, and their products, do not overflow in float32.
  static constexpr double LARGEST = 1e30;
  static constexpr double SMALLEST = 1e-25;  // added to lengths, for numbers that underflow there …
  static constexpr double LEAST = 1e-30;     // … and to the rounding error, for products that do

  Index d_, regions_;
  Singles Z_, weights_;
  Buffer<float> margins_;
  Buffer<double> offsets_, sizes_;
  Buffer<Index> slots_;
};

// Set winner[i] and clipped[i] for some rows of X; return how many separators were computed.
//
// at[number] is the row of W of a separator. The winner is a region of the label that has the
// region with the highest score; of equal ones, that of the lowest rank. It is clipped if that
// score is 0 or less. start[i] is the region that is tried first; it changes the cost only. Rows
// that follow each other and have the same are compared with it together, up to so many at a time.
template <typename Row>
Index best_first(Matrix<const double> W, Vector<const double> b, Vector<const std::int32_t> at,
                 Matrix<const Row> X, Vector<const double> origin, Vector<const std::int64_t> rows,
                 Vector<const std::int64_t> start, Order order, Index together, Ints winner,
                 Bools clipped) {
  const Index d = X.shape[1], n = X.size(), regions = order.rank.size();
  require(W.shape[1] == d && origin.size() == d && b.size() >= W.size());
  require(at.size() >= regions * (regions - 1) / 2 && order.owner.size() == regions);
  require(start.size() == n && winner.size() == n && clipped.size() == n);
  check_inside(rows, n, "rows");
  inside(together, std::numeric_limits<Index>::max(), "together");
  for (Index i = 0; i < rows.size(); i++) inside(start[rows[i]], regions, "start");
  const Separators separators{W, b, at};
  Group group(std::min(rows.size(), together), regions, d);
  Search search(separators, order, d);
  Index computed = 0;
  for (Index begin = 0, end; begin < rows.size(); begin = end) {
    const Index first = start[rows[begin]];
    end = begin + 1;
    while (end - begin < together && end < rows.size() && start[rows[end]] == first) end++;
    const auto some = part(rows, begin, end);
    const bool is_product =
        some.size() >= WORTH_A_PRODUCT && group.multiply(separators, X, origin, some, first, order);
    for (Index j = 0; j < some.size(); j++) {
      const Index i = some[j];
      did(d * regions);
      const double slack = is_product ? group.slack(j) : INF;
      double best = is_product ? group.least(j) : 0.0;
      if (is_product) computed += regions - 1;
      if (best > slack) {
        winner[i] = first, clipped[i] = false;
        continue;
      }
      subtract(row(X, i).data, origin.data, search.z.data(), d);
      for (Index o = 0; o < regions; o++) search.bounds[o] = INF, search.done[o] = false;
      if (best < -slack) {
        for (Index o = 0; o < regions; o++)
          if (order.owner[o] != order.owner[first]) search.bounds[o] = slack - group.margin(j, o);
        search.bounds[first] = best + slack, best -= slack;
      } else {
        computed += search.compute(first, -INF);
        best = search.bounds[first], search.done[first] = true;
      }
      const Best found = search.from(first, best);
      computed += found.computed;
      winner[i] = found.region, clipped[i] = found.score <= 0.0;
    }
  }
  return computed;
}

// Set out[i] to the region c with the highest V[c]·(x - origin) + v[c] for row X[i], in float32.
template <typename Row>
void proposals(Matrix<const float> V, Vector<const float> v, Matrix<const Row> X,
               Vector<const double> origin, Ints out) {
  const Index d = X.shape[1];
  require(V.shape[1] == d && origin.size() == d && V.size() == v.size() && out.size() == X.size());
  Buffer<float> z(d);
  for (Index i = 0; i < X.size(); i++) {
    did(d * (v.size() + 1));
    for (Index k = 0; k < d; k++) z[k] = static_cast<float>(X(i, k) - origin[k]);
    out[i] = 0;
    float highest = -INFINITY;
    for (Index c = 0; c < v.size(); c++) {
      const float value = singles_dot(row(V, c).data, z.data(), d) + v[c];
      if (value > highest) out[i] = c, highest = value;
    }
  }
}
