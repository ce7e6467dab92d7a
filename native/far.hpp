// Margins with very many classes, most of whose pairs have no separator of their own.
//
// A far pair of classes a < b starts from the difference of two class scores, g_c = V_c·z - half_c,
// z = x - origin, and has a few corrections: f(x) = scale·(g_a - g_b) + Σ coef·(image·z + 1). Every
// sum is taken in one fixed order. A near pair has weights, as all pairs of a few classes have. If
// these would take too much room, it is like a far pair whose scale is 0.
#pragma once

#include "best_first.hpp"
#include "margins.hpp"

// A model with far pairs: `Far` in records.py describes it.
struct Far {
  static constexpr bool is_record = true;
  Matrix<const double> V;
  Vector<const double> half;
  Vector<const std::int64_t> owner;
  Vector<const double> scale;
  Vector<const std::int32_t> at;
  Vector<const std::int64_t> start, size;
  Matrix<const double> bounds;
  Vector<const double> coef;
  Vector<const std::int64_t> places;
  Matrix<const double> images;
  Vector<const std::int64_t> slot;
  Matrix<const double> W;
  Vector<const double> b;
  Matrix<const double> products;
  auto fields() {
    return std::tie(V, half, owner, scale, at, start, size, bounds, coef, places, images, slot, W,
                    b, products);
  }
};

// Set out[i] to the value of one far pair at table[places[i]].
//
// a, b (d,) and half (2,) are the scores of its classes; images[which] and coef its corrections.
template <typename Row>
void pair_values(Vector<const double> a, Vector<const double> b, Vector<const double> half,
                 double scale, Matrix<const double> images, Vector<const std::int64_t> which,
                 Vector<const double> coef, Matrix<const Row> table,
                 Vector<const std::int64_t> places, Vector<const double> origin, Floats out) {
  const Index d = origin.size();
  require(a.size() == d && b.size() == d && half.size() == 2 && table.shape[1] == d);
  require(images.shape[1] == d && which.size() == coef.size() && out.size() == places.size());
  check_inside(which, images.size(), "which");
  check_inside(places, table.size(), "places");
  Buffer<double> z(d);
  for (Index i = 0; i < places.size(); i++) {
    subtract(row(table, places[i]).data, origin.data, z.data(), d);
    const double of_a = dot(a.data, z.data(), d) - half[0];
    const double of_b = dot(b.data, z.data(), d) - half[1];
    double value = scale * (of_a - of_b);
    did((coef.size() + 2) * d);
    for (Index k = 0; k < coef.size(); k++)
      value += coef[k] * (dot(row(images, which[k]).data, z.data(), d) + 1.0);
    out[i] = value;
  }
}

// Set out[i] to the margin of table[places[i]], of class own[i], against other[i].
//
// For far pairs without corrections; scale[i] is that of the pair.
template <typename Row>
void discriminant_margins(Matrix<const double> V, Vector<const double> half,
                          Vector<const double> scale, Matrix<const Row> table,
                          Vector<const std::int64_t> places, Vector<const std::int64_t> own,
                          Vector<const std::int64_t> other, Vector<const double> origin,
                          Floats out) {
  const Index d = origin.size(), n = places.size();
  require(V.shape[1] == d && half.size() == V.size() && table.shape[1] == d);
  require(scale.size() == n && own.size() == n && other.size() == n && out.size() == n);
  check_inside(places, table.size(), "places");
  check_inside(own, V.size(), "own");
  check_inside(other, V.size(), "other");
  Buffer<double> z(d);
  for (Index i = 0; i < n; i++) {
    did(2 * d);
    subtract(row(table, places[i]).data, origin.data, z.data(), d);
    const double mine = dot(row(V, own[i]).data, z.data(), d) - half[own[i]];
    const double theirs = dot(row(V, other[i]).data, z.data(), d) - half[other[i]];
    out[i] = scale[i] * (mine - theirs);
  }
}

// One row z = x - origin, its score g (m,) in each class, and its length in the norm of the metric,
// or more.
class FarRow {
 public:
  FarRow(const Far &far, Index m, Vector<const double> origin)
      : g(m), far_(far), origin_(origin), z_(origin.size()) {
    const Index d = origin.size(), pairs = m * (m - 1) / 2;
    require(far.V.size() == m && far.V.shape[1] == d && far.W.shape[1] == d &&
            far.images.shape[1] == d);
    require(far.half.size() == m && far.owner.size() == m && far.b.size() >= far.W.size());
    require(far.scale.size() >= pairs && far.at.size() >= pairs && far.bounds.shape[1] == 3);
    require(far.start.size() == far.size.size() && far.bounds.size() == far.size.size());
    require(far.coef.size() == far.places.size());
  }

  Buffer<double> g;

  // Set it to row i; `one` is what is added to the product with each support vector.
  template <typename Row>
  void set(Index i, const Row *x, double length, double one = 1.0) {
    const Index m = g.size(), d = z_.size();
    did(m * d);
    subtract(x, origin_.data, z_.data(), d);
    length_ = length, one_ = one, row_ = i;
    if (far_.products.size() > 0) inside(i, far_.products.size(), "products");
    Index c = 0;
    for (; c + 4 <= m; c += 4) {
      const double *weights[4];
      for (Index k = 0; k < 4; k++) weights[k] = row(far_.V, c + k).data;
      four_dots(z_.data(), weights, d, g.data() + c);
    }
    for (; c < m; c++) g[c] = dot(row(far_.V, c).data, z_.data(), d);
    for (c = 0; c < m; c++) g[c] -= far_.half[c];
  }

  // Set out[o] for o of other labels than c, and return the least. A margin with corrections is
  // computed only if it may be below `bound` or the least; otherwise out[o] is a lower bound of it.
  // If one is below `enough`, the rest of them stays at their lower bounds.
  double margins(Index c, double bound, double enough, double *out) const {
    const Index m = g.size(), d = z_.size();
    double least = INF;
    did(m);
    for (Index o = 0; o < m; o++) {
      if (far_.owner[o] == far_.owner[c]) continue;
      const Index pair = pair_number(c, o), at = far_.at[pair];
      inside(std::abs(at), at > 0 ? far_.W.size() : far_.size.size(), "at");
      if (at > 0) {
        const double a = dot(row(far_.W, at).data, z_.data(), d) + far_.b[at];
        out[o] = c < o ? a : -a;
      } else {
        out[o] = far_.scale[pair] * (g[c] - g[o]);
      }
      if (at < 0)
        out[o] += floor_of(-at, c < o);
      else
        least = std::min(least, out[o]);
    }
    for (Index o = 0; o < m; o++) {
      if (least < enough) return least;
      if (far_.owner[o] == far_.owner[c]) continue;
      const Index pair = pair_number(c, o);
      if (far_.at[pair] >= 0 || out[o] >= std::max(bound, least)) continue;
      const double value = corrected(pair, std::min(c, o), std::max(c, o));
      out[o] = c < o ? value : -value;
      least = std::min(least, out[o]);
    }
    return least;
  }

 private:
  // A lower bound of correction k, or of minus it.
  double floor_of(Index k, bool is_first) const {
    const double sum = is_first ? far_.bounds(k, 0) : -far_.bounds(k, 1);
    return sum - far_.bounds(k, 2) * length_;
  }

  double corrected(Index pair, Index low, Index high) const {
    const Index number = -far_.at[pair], first = far_.start[number], size = far_.size[number];
    inside(first, far_.coef.size() + 1, "start");
    inside(size, far_.coef.size() + 1 - first, "size");
    double value = far_.scale[pair] * (g[low] - g[high]);
    did(size);
    for (Index k = first; k < first + size; k++)
      value += far_.coef[k] * (product(far_.places[k]) + one_);
    return value;
  }

  // The product with a support vector.
  double product(Index place) const {
    if (far_.products.size() > 0)
      return far_.products(row_, inside(place, far_.products.shape[1], "places"));
    inside(place, far_.slot.size(), "places");
    const Index slot = inside(far_.slot[place], far_.images.size(), "slot");
    did(z_.size());
    return dot(row(far_.images, slot).data, z_.data(), z_.size());
  }

  const Far &far_;
  Vector<const double> origin_;
  Buffer<double> z_;
  double length_ = 0.0, one_ = 1.0;
  Index row_ = 0;
};

// Set out[o] to the margin of x, of class `label`, against each class o; return the least.
//
// length is ‖x - origin‖ in the norm of the metric, or more. A margin that is neither the least
// nor below the bound may be set to a lower bound of it. out[label] does not change.
template <typename Row>
double far_margins(Far far, Vector<const Row> x, Vector<const double> origin, double length,
                   Index label, double bound, Floats out) {
  FarRow of(far, out.size(), origin);
  require(x.size() == origin.size());
  inside(label, out.size(), "label");
  of.set(0, x.data, length);
  return of.margins(label, bound, -INF, out.data);
}

// Set out[i, c] to the least margin that row i of X would have as an example of class c. Biases of
// corrections are multiplied by ones[i].
template <typename Row>
void far_scores(Far far, Matrix<const Row> X, Vector<const double> origin,
                Vector<const double> lengths, Vector<const double> ones, Matrix<double> out) {
  const Index m = out.shape[1];
  FarRow of(far, m, origin);
  require(X.shape[1] == origin.size() && lengths.size() == X.size() && out.size() == X.size());
  require(ones.size() == X.size());
  Buffer<double> margins(m);
  for (Index i = 0; i < X.size(); i++) {
    of.set(i, row(X, i).data, lengths[i], ones[i]);
    for (Index c = 0; c < m; c++) out(i, c) = of.margins(c, -INF, -INF, margins.data());
  }
}

// Set winner[i] and score[i] for the rows of X, as `best_first` does; return classes tried.
template <typename Row>
Index far_winners(Far far, Matrix<const Row> X, Vector<const double> origin,
                  Vector<const double> lengths, Order order, Ints winner, Floats score) {
  const Index n = X.size(), m = order.rank.size();
  FarRow of(far, m, origin);
  require(X.shape[1] == origin.size() && lengths.size() == n && order.owner.size() == m && m > 0);
  require(winner.size() == n && score.size() == n);
  Buffer<double> margins(m), bounds(m);
  Buffer<bool> done(m);
  Index tried = 0;
  for (Index i = 0; i < n; i++) {
    of.set(i, row(X, i).data, lengths[i]);
    Index own = -1, c = std::max_element(of.g.data(), of.g.data() + m) - of.g.data();
    double best = -INF;
    for (Index o = 0; o < m; o++) bounds[o] = INF, done[o] = false;
    while (c >= 0) {
      const double least = of.margins(c, -INF, best, margins.data());
      tried++;
      for (Index o = 0; o < m; o++)
        if (order.owner[o] != order.owner[c]) bounds[o] = std::min(bounds[o], -margins[o]);
      bounds[c] = least, done[c] = true;
      const bool is_first = own >= 0 && least == best && order.rank[c] < order.rank[own];
      if (own < 0 || least > best || is_first) own = c, best = least;
      c = next_region(bounds.data(), done.data(), order, best, own);
    }
    winner[i] = own, score[i] = best;
  }
  return tried;
}
