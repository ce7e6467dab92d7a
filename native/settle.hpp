// Settle separators: solve a pool, check all examples of both classes, add the worst, until all
// pass. Many at once, in rounds; what comes out does not depend on the others or on the threads.
//
// The margins of a class in all its separators are bounded by one product in float32. The sum in
// the fixed order decides about those that the bounds leave in doubt.
#pragma once

#include <mutex>
#include <numeric>
#include <unordered_map>

#include "newton.hpp"
#include "parallel.hpp"
#include "primal.hpp"
#include "product.hpp"
#include "singles.hpp"

// What all separators share: rows, weights and digests by place; the origin and the metric K, which
// is a diagonal if it has one row; its inverse, likewise, or nothing; λ. Image i of the first
// `count` is that of the row at place[i]; slot[place] is i, if that is so; a diagonal needs none.
template <typename Row>
struct Shared {
  static constexpr bool is_record = true;
  Matrix<const Row> table;
  Vector<const double> weights;
  Matrix<const std::uint64_t> digests;
  Vector<const double> origin;
  Matrix<const double> K, precision;
  double lam;
  Matrix<const double> images;
  Vector<const std::int64_t> place, slot;
  auto fields() {
    return std::tie(table, weights, digests, origin, K, precision, lam, images, place, slot);
  }
  Index d() const { return origin.size(); }
  bool is_diagonal() const { return K.size() == 1 && d() != 1; }
  void check() const {
    const Index n = table.size();
    require(table.shape[1] == d() && weights.size() == n);
    require(digests.size() == n && digests.shape[1] == 2);
    require((K.size() == 1 || K.size() == d()) && K.shape[1] == d());
    require(precision.size() == 0 || (precision.size() == K.size() && precision.shape[1] == d()));
    require(images.size() >= place.size() && images.shape[1] == d());
  }
};

// The bound on margins; the tolerance for those of members; after how many solves with α = 0 a
// member leaves; how many multiplications make a pool cheap; how many bytes a cheap pool and
// another may keep.
struct Limits {
  static constexpr bool is_record = true;
  double bound, tolerance;
  std::int64_t idle;
  double cheap, small_room, large_room;
  std::int64_t enough;
  double worth_threads;
  auto fields() {
    return std::tie(bound, tolerance, idle, cheap, small_room, large_room, enough, worth_threads);
  }
};

namespace settling {

constexpr Index WORST = 24;  // so many examples, or half the pool, are added per round at most
constexpr Index FEW = 8;     // so many separators at a time stay in a cache
constexpr Index ROWS = 64;   // rows of a class are bounded so many at a time
constexpr double RESIDUAL = 1e-6;   // of a separator that is solved for w
constexpr double UNIT = 0x1p-24;    // the rounding of float32
constexpr double OVERFLOWS = 1e38;  // what is larger says nothing in float32
constexpr double TINY = 0x1p-50;    // more than numbers too small for float32 take from a length

// What one solve leaves for the next; without it results differ by rounding only. `products` and L
// are the lower halves, row by row, of the first members' inner products and of their factor, whose
// members are `order`: of rows times the square roots of their weights. u is empty unless the last
// solve was for w.
struct Start {
  std::vector<double> products, L;
  std::vector<std::int64_t> order;
  std::vector<double> u;
};

// The candidate support vectors of a separator: places of rows, their signs and α, and for how many
// solves α has been 0. A row's slack is λα divided by its weight. Only the start, which is shared,
// may be dropped; nothing else is ever changed.
struct Pool {
  std::vector<std::int64_t> places, idle;
  std::vector<double> signs, alpha;
  std::shared_ptr<const Start> start = std::make_shared<Start>();
  Index size() const { return static_cast<Index>(places.size()); }

  void add(std::int64_t place, double sign, double its_alpha, std::int64_t its_idle) {
    places.push_back(place);
    signs.push_back(sign);
    alpha.push_back(its_alpha);
    idle.push_back(its_idle);
  }
  void reserve(Index n) { places.reserve(n), idle.reserve(n), signs.reserve(n), alpha.reserve(n); }
};

template <typename T>
Vector<const T> seen(const std::vector<T> &of) {
  return vector(of.data(), static_cast<Index>(of.size()));
}

// Lower halves of symmetric or triangular matrices, row by row.
inline Index half(Index n) { return n * (n + 1) / 2; }
inline Index rows_of_half(Index size) {
  Index n = static_cast<Index>(std::sqrt(2.0 * static_cast<double>(size)));
  while (half(n) > size) n--;
  while (half(n + 1) <= size) n++;
  return n;
}

// A separator to settle: its number, its classes, its prior, its pool, the rows of its classes.
struct Task {
  static constexpr bool is_record = true;
  std::int64_t pair, low, high;
  Vector<const double> w;
  double b;
  const Pool *pool;
  Vector<const std::int64_t> sides[2];
  auto fields() { return std::tie(pair, low, high, w, b, pool, sides[0], sides[1]); }
  Index rows() const { return sides[0].size() + sides[1].size(); }
  void check(Index d, Index stored) const {
    const Index u = static_cast<Index>(pool->start->u.size());
    require(w.size() == d && (u == 0 || u == d + 1));
    check_inside(seen(pool->places), stored, "places");
    for (const auto &side : sides) check_inside(side, stored, "sides");
  }
};

// A square matrix that can grow.
class Square {
 public:
  Matrix<double> all() { return matrix(values_.data(), side_, side_); }
  Index side() const { return side_; }
  // Make room for n rows; the first `known` stay.
  void grow(Index n, Index known) {
    if (n <= side_) return;
    const Index side = n + n / 4 + 8;
    std::vector<double> values(static_cast<std::size_t>(side * side));
    for (Index i = 0; i < known; i++)
      std::copy_n(values_.data() + i * side_, known, values.data() + i * side);
    values_.swap(values);
    side_ = side;
  }

 private:
  std::vector<double> values_;
  Index side_ = 0;
};

// Images K(x - origin) of rows: those that are known, and new ones.
template <typename Row>
class Images {
 public:
  explicit Images(const Shared<Row> &shared) : shared_(shared) {}
  const std::vector<std::int64_t> &places() const { return places_; }
  const double *at(Index number) const { return blocks_[number].get(); }

  // The image of a row, or nullptr.
  const double *find(std::int64_t place) const {
    const auto &[slot, known, images] = std::tie(shared_.slot, shared_.place, shared_.images);
    if (place < slot.size()) {
      const std::int64_t i = slot[place];
      if (i >= 0 && i < known.size() && known[i] == place) return row(images, i).data;
    }
    const auto found = number_.find(place);
    return found == number_.end() ? nullptr : blocks_[found->second].get();
  }

  // Note that a row needs an image.
  void want(std::int64_t place) {
    if (find(place)) return;
    number_[place] = static_cast<Index>(places_.size());
    places_.push_back(place);
    blocks_.emplace_back(new double[static_cast<std::size_t>(shared_.d())]);
  }

  // Compute the images that are wanted.
  void compute(double worth_threads) {
    const Index first = computed_, n = static_cast<Index>(places_.size()) - first, d = shared_.d();
    if (n == 0) return;
    computed_ += n;
    constexpr Index SOME = 256, COLUMNS = 128;
    for (Index start = 0; start < n; start += SOME) {
      const Index some = std::min(SOME, n - start);
      Buffer<double> z(some * d), out(some * d);
      const Matrix<double> Z = z.as_matrix(d), images = out.as_matrix(d);
      for (Index i = 0; i < some; i++)
        subtract(row(shared_.table, places_[first + start + i]).data, shared_.origin.data,
                 row(Z, i).data, d);
      const Index parts = (d + COLUMNS - 1) / COLUMNS;
      in_parallel(parts, static_cast<double>(some * d * d), worth_threads, [&](Index p) {
        multiply<double>(Z, shared_.K, images, p * COLUMNS, std::min(d, (p + 1) * COLUMNS));
      });
      for (Index i = 0; i < some; i++)
        std::copy_n(row(images, i).data, d, blocks_[first + start + i].get());
    }
  }

 private:
  const Shared<Row> &shared_;
  std::unordered_map<std::int64_t, Index> number_;
  std::vector<std::int64_t> places_;
  std::vector<std::unique_ptr<double[]>> blocks_;
  Index computed_ = 0;
};

// A separator on its way: the pool, what is known of its problem, and what the last check found.
struct Job : Pool {
  Task task;
  std::vector<std::int64_t> misfits;
  std::vector<double> targets, roots, w, u;
  std::vector<const double *> images;
  Square products, L;
  std::vector<std::int64_t> order;
  Index known = 0, in_factor = 0;
  double b = 0.0, least = INF, norm = 0.0;
  // For each example of both classes an estimate of its margin; by class, whether it is exact, and
  // otherwise by how much it may be off, relative to the length of the row.
  std::vector<double> margins, lengths[2];
  bool is_exact[2] = {false, false};
  bool is_settled = false;

  explicit Job(const Task &given) : Pool(*given.pool), task(given), u(start->u) {}
  std::int64_t place(Index example) const {
    const Index first = task.sides[0].size();
    return example < first ? task.sides[0][example] : task.sides[1][example - first];
  }
  double sign(Index example) const { return example < task.sides[0].size() ? 1.0 : -1.0; }
  Index most() const { return std::max(WORST, size() / 2); }

  // Take the lower halves of an earlier solve.
  void unpack() {
    known = rows_of_half(static_cast<Index>(start->products.size()));
    products.grow(size(), 0);
    const Matrix<double> G = products.all();
    for (Index i = 0, at = 0; i < known; i++)
      for (Index j = 0; j <= i; j++) G(i, j) = G(j, i) = start->products[at++];
    order = start->order;
    in_factor = static_cast<Index>(order.size());
    L.grow(size(), 0);
    const Matrix<double> lower = L.all();
    for (Index i = 0, at = 0; i < in_factor; i++)
      for (Index j = 0; j <= i; j++) lower(i, j) = start->L[at++];
  }
};

// Return what stays of a settled job: the members that were not idle for too long, and the start of
// the next solve, except what would take more bytes than the limits allow.
inline Pool result_of(Job &job, const Limits &limits) {
  Pool left;
  auto start = std::make_shared<Start>();
  start->u = std::move(job.u);
  std::vector<Index> stays;
  std::vector<std::int64_t> number(job.places.size(), -1);
  left.reserve(job.size());
  for (Index i = 0; i < job.size(); i++) {
    if (job.idle[i] > limits.idle) continue;
    number[i] = left.size();
    stays.push_back(i);
    left.add(job.places[i], job.signs[i], job.alpha[i], job.idle[i]);
  }
  left.start = start;
  const double n = static_cast<double>(job.size()),
               bytes = 8.0 * static_cast<double>(half(left.size()));
  const bool is_cheap = n * n * static_cast<double>(job.w.size()) < limits.cheap;
  if (job.known < job.size() ||
      bytes * (is_cheap ? 1 : 2) > (is_cheap ? limits.small_room : limits.large_room))
    return left;
  const Matrix<double> G = job.products.all(), L = job.L.all();
  start->products.reserve(half(left.size()));
  for (Index i : stays)
    for (Index j : stays) {
      if (j > i) break;
      start->products.push_back(G(i, j));
    }
  if (is_cheap) return left;
  for (Index i = 0; i < job.in_factor; i++) start->order.push_back(number[job.order[i]]);
  if (std::count(start->order.begin(), start->order.end(), -1) > 0) {
    start->order.clear();
    return left;
  }
  start->L.reserve(half(job.in_factor));
  for (Index i = 0; i < job.in_factor; i++)
    for (Index j = 0; j <= i; j++) start->L.push_back(L(i, j));
  return left;
}

template <typename Row>
class Settling {
 public:
  Settling(const Shared<Row> &shared, const Limits &limits)
      : shared_(shared), limits_(limits), images_(shared) {}

  const Images<Row> &images() const { return images_; }

  // Settle some jobs; return false if one does not settle.
  bool settle(std::vector<Job *> jobs) {
    Index rows = 0;
    for (Job *job : jobs) rows += job->task.rows();
    for (Index round = 0; round < rows + 2; round++) {  // each but the last adds an example
      if (jobs.empty()) return true;
      for (Job *job : jobs) want_images(*job);
      images_.compute(limits_.worth_threads);
      std::atomic<bool> is_solved{true};
      each(jobs, work_of_solving(jobs), [&](Job &job) {
        if (!solve(job, false)) is_solved = false;
      });
      if (!is_solved) return false;
      bound_margins(jobs);
      each(jobs, static_cast<double>(rows), [&](Job &job) {
        if (!check(job) && !check_again(job)) is_solved = false;
      });
      if (!is_solved) return false;
      jobs.erase(std::remove_if(jobs.begin(), jobs.end(), [](Job *job) { return job->is_settled; }),
                 jobs.end());
    }
    return false;
  }

 private:
  template <typename Function>
  void each(const std::vector<Job *> &jobs, double multiplications, Function work) {
    in_parallel(static_cast<Index>(jobs.size()), multiplications, limits_.worth_threads,
                [&](Index i) { work(*jobs[i]); });
  }

  double work_of_solving(const std::vector<Job *> &jobs) const {
    double total = 0.0;
    for (const Job *job : jobs) {
      const double n = static_cast<double>(job->size());
      total += n * (static_cast<double>(job->size() - job->known) * shared_.d() + n * n);
    }
    return total;
  }

  bool may_go_by_w() const { return shared_.precision.size() > 0; }
  bool goes_by_alpha(const Job &job) const {
    const Index most = std::max<Index>(shared_.d() + 1, 64);
    return job.size() <= most || !may_go_by_w();
  }

  // With a diagonal metric an image is as cheap as reading it.
  void want_images(Job &job) {
    if (goes_by_alpha(job) && !shared_.is_diagonal())
      for (std::int64_t place : job.places) images_.want(place);
  }

  // The image of a member, perhaps in the buffer (d,).
  const double *image(const Job &job, Index i, double *__restrict buffer) const {
    if (!shared_.is_diagonal()) return job.images[i];
    const Index d = shared_.d();
    subtract(row(shared_.table, job.places[i]).data, shared_.origin.data, buffer, d);
    const double *__restrict K = shared_.K.data;
    for (Index k = 0; k < d; k++) buffer[k] *= K[k];
    return buffer;
  }

  // Move α to the optimum over the members, and w and b with it.
  bool solve(Job &job, bool by_w) {
    const Index n = job.size();
    const Index first = static_cast<Index>(job.targets.size());
    Buffer<double> priors(n - first);
    activations(job.task.w, job.task.b, shared_.table, part(seen(job.places), first, n),
                shared_.origin, priors.all());
    for (Index i = first; i < n; i++) {
      job.roots.push_back(std::sqrt(shared_.weights[job.places[i]]));
      job.targets.push_back(job.roots[i] * (1.0 - job.signs[i] * priors[i - first]));
    }
    for (Index i = 0; i < n; i++) job.alpha[i] /= job.roots[i];
    bool is_solved = false;
    if (!by_w) is_solved = goes_by_alpha(job) ? solve_by_alpha(job) : solve_by_w(job);
    if (!is_solved && may_go_by_w()) {  // slower, but it stands weights that contradict each other
      job.u.clear();
      is_solved = solve_by_w(job);
    }
    for (Index i = 0; i < n; i++) {
      job.alpha[i] *= job.roots[i];
      job.idle[i] = job.alpha[i] > 0.0 ? 0 : job.idle[i] + 1;
    }
    if (is_solved) set_weights(job);
    return is_solved;
  }

  bool solve_by_alpha(Job &job) {
    const Index n = job.size();
    job.u.clear();
    if (job.known == 0 && job.start->products.size() > 0 && job.products.side() == 0) job.unpack();
    job.products.grow(n, job.known);
    job.L.grow(n, job.in_factor);
    job.order.resize(static_cast<std::size_t>(n));
    job.images.resize(static_cast<std::size_t>(n));
    for (Index i = 0; i < n && !shared_.is_diagonal(); i++)
      job.images[i] = images_.find(job.places[i]);
    add_products(job);
    std::int64_t count = job.in_factor;
    const Factor factor{job.L.all(), vector(job.order.data(), n), vector(&count, 1)};
    const bool is_solved = newton(job.products.all(), seen(job.targets), shared_.lam,
                                  vector(job.alpha.data(), n), factor);
    job.in_factor = count;
    return is_solved;
  }

  // Fill rows and columns known … n - 1 of the inner products s_i s_j (x_i'K x_j + 1).
  void add_products(Job &job) {
    constexpr Index SOME = 32;
    const Index n = job.size(), d = shared_.d();
    const Matrix<double> G = job.products.all();
    Buffer<double> z(4 * d), pictures(shared_.is_diagonal() ? SOME * d : 0);
    const double *rows[4], *images[SOME];
    for (Index k = 0; k < 4; k++) rows[k] = z.data() + k * d;
    for (Index first = job.known; first < n; first += SOME) {
      const Index last = std::min(first + SOME, n);
      for (Index i = first; i < last; i++)
        images[i - first] = image(job, i, pictures.data() + (i - first) * d);
      for (Index j = 0; j < last; j += 4) {
        did(4 * SOME * d);
        for (Index k = 0; k < 4; k++)  // the last row fills up the four
          subtract(row(shared_.table, job.places[std::min(j + k, last - 1)]).data,
                   shared_.origin.data, z.data() + k * d, d);
        for (Index i = std::max(first, j); i < last; i++) {
          double found[4];
          four_dots(images[i - first], rows, d, found);
          for (Index k = 0; k < std::min<Index>(4, i + 1 - j); k++) {
            const double signs =
                job.signs[i] * job.roots[i] * (job.signs[j + k] * job.roots[j + k]);
            G(i, j + k) = G(j + k, i) = signs * (found[k] + 1.0);
          }
        }
      }
    }
    job.known = n;
  }

  bool solve_by_w(Job &job) {
    const Index n = job.size(), size = shared_.d() + 1;
    std::vector<double> signs(job.signs);
    for (Index i = 0; i < n; i++) signs[i] *= job.roots[i];
    if (job.u.empty()) job.u.assign(static_cast<std::size_t>(size), 0.0);
    Buffer<double> U(size * size, 0.0), q(size, 0.0);
    Buffer<bool> inside(n, false);
    const Sums sums{U.as_matrix(size), q.all(), inside.all()};
    const Rows<Row> rows{shared_.table, seen(job.places), shared_.origin, seen(signs),
                         seen(job.targets)};
    job.known = job.in_factor = 0;
    std::call_once(has_P_, [&] { set_P(); });
    return newton_primal(rows, matrix<const double>(P_.data(), size, size), shared_.lam,
                         vector(job.u.data(), size), sums, vector(job.alpha.data(), n)) <= RESIDUAL;
  }

  // The inverse of the metric, with 1 for the bias.
  void set_P() {
    const Index d = shared_.d();
    P_.assign(static_cast<std::size_t>((d + 1) * (d + 1)), 0.0);
    const Matrix<double> P = matrix(P_.data(), d + 1, d + 1);
    const bool is_diagonal = shared_.precision.size() == 1 && d != 1;
    for (Index j = 0; j < d; j++)
      for (Index k = 0; k < d; k++) {
        if (is_diagonal && j != k) continue;
        P(j, k) = shared_.precision(is_diagonal ? 0 : j, k);
      }
    P(d, d) = 1.0;
  }

  void set_weights(Job &job) {
    const Index d = shared_.d();
    job.w.assign(job.task.w.data, job.task.w.data + d);
    job.b = job.task.b;
    double *__restrict w = job.w.data();
    if (!job.u.empty()) {
      for (Index k = 0; k < d; k++) w[k] += job.u[k];
      job.b += job.u[d];
    } else {
      double total = 0.0;
      Buffer<double> buffer(shared_.is_diagonal() ? d : 0);
      for (Index i = 0; i < job.size(); i++) {
        const double amount = job.signs[i] * job.alpha[i];
        total += amount;
        if (amount == 0.0) continue;
        const double *__restrict of_row = image(job, i, buffer.data());
        for (Index k = 0; k < d; k++) w[k] += amount * of_row[k];
      }
      job.b += total;
    }
    job.norm = std::sqrt(dot(w, w, d));
  }

  // Estimate the margins of all examples of the jobs' classes.
  void bound_margins(const std::vector<Job *> &jobs) {
    const Index d = shared_.d();
    Singles weights(static_cast<Index>(jobs.size()), d);
    std::unordered_map<std::int64_t, std::vector<std::pair<Index, int>>> users;
    std::vector<std::int64_t> classes;
    double multiplications = 0.0;
    for (Index n = 0; n < static_cast<Index>(jobs.size()); n++) {
      Job &job = *jobs[n];
      weights.set(n, [&](Index k) { return job.w[k]; });
      job.margins.resize(static_cast<std::size_t>(job.task.rows()));
      multiplications += static_cast<double>(job.task.rows() * d);
      for (int side = 0; side < 2; side++) {
        const std::int64_t c = side == 0 ? job.task.low : job.task.high;
        if (users[c].empty()) classes.push_back(c);
        users[c].emplace_back(n, side);
      }
    }
    struct Piece {
      std::int64_t c;
      Index first, last;
    };
    std::vector<Piece> pieces;
    for (std::int64_t c : classes) {
      const auto [n, side] = users[c][0];
      const Index rows = jobs[n]->task.sides[side].size();
      const Index step = ROWS * std::max<Index>(1, 16'384 / (ROWS * std::max<Index>(d, 1)));
      for (auto [user, its_side] : users[c]) {
        Job &job = *jobs[user];
        require(job.task.sides[its_side].size() == rows);
        job.is_exact[its_side] = static_cast<std::int64_t>(users[c].size()) < limits_.enough;
        if (!job.is_exact[its_side]) job.lengths[its_side].resize(static_cast<std::size_t>(rows));
      }
      for (Index first = 0; first < rows; first += step)
        pieces.push_back({c, first, std::min(first + step, rows)});
    }
    in_parallel(static_cast<Index>(pieces.size()), multiplications, limits_.worth_threads,
                [&](Index p) {
                  const auto &[c, first, last] = pieces[p];
                  if (static_cast<std::int64_t>(users[c].size()) < limits_.enough)
                    for (auto [n, side] : users[c]) exact_margins(*jobs[n], side, first, last);
                  else
                    rough_margins(jobs, users[c], weights, first, last);
                });
  }

  void exact_margins(Job &job, int side, Index first, Index last) {
    const Index offset = side ? job.task.sides[0].size() : 0;
    const Floats out = vector(job.margins.data() + offset + first, last - first);
    did(out.size() * shared_.d());
    activations(seen(job.w), job.b, shared_.table, part(job.task.sides[side], first, last),
                shared_.origin, out);
    for (Index i = 0; side == 1 && i < out.size(); i++) out[i] = -out[i];
  }

  void rough_margins(const std::vector<Job *> &jobs,
                     const std::vector<std::pair<Index, int>> &users, const Singles &weights,
                     Index first, Index last) {
    const Index d = shared_.d(), count = static_cast<Index>(users.size());
    const auto places = jobs[users[0].first]->task.sides[users[0].second];
    Singles W(count, d), Z(ROWS, d);
    for (Index n = 0; n < count; n++) W.copy(n, weights.row(users[n].first));
    Buffer<float> values(ROWS * (count + 3));
    const Index stride = count + 3;
    for (Index start = first; start < last; start += ROWS) {
      did(ROWS * d * count);
      const Index some = std::min(ROWS, last - start);
      double lengths[ROWS];
      for (Index i = 0; i < some; i++) {
        const Row *x = row(shared_.table, places[start + i]).data;
        lengths[i] = Z.set(i, [&](Index k) { return x[k] - shared_.origin[k]; });
      }
      singles_product(Z, some, W, count, values.data(), stride);
      for (Index n = 0; n < count; n++) {
        const auto [user, side] = users[n];
        Job &job = *jobs[user];
        const Index offset = (side ? job.task.sides[0].size() : 0) + start;
        for (Index i = 0; i < some; i++) {
          const double value = static_cast<double>(values[i * stride + n]) + job.b;
          job.margins[offset + i] = side ? -value : value;
          job.lengths[side][start + i] = lengths[i];
        }
      }
    }
  }

  // By how much an estimate is off at most. The product of w and z, rounded to float32, over d
  // terms in any order, is off by d·u/(1 - d·u)·|w||z|, u = 2⁻²⁴; rounding w and z before adds
  // 2u|w||z|, double precision less than u|w||z| and 2⁻⁵¹|b|.
  double slack(const Job &job, Index example) const {
    const Index first = job.task.sides[0].size();
    const int side = example < first ? 0 : 1;
    if (job.is_exact[side]) return 0.0;
    const double terms = static_cast<double>(shared_.d() + 8) * UNIT;
    const double length = job.lengths[side][side ? example - first : example];
    if (!(std::max({length, job.norm, length * job.norm}) < OVERFLOWS)) return INF;
    return terms / (1.0 - terms) * (length + TINY) * (job.norm + TINY) + 0x1p-50 * std::abs(job.b);
  }

  // Compare the margins with the bound, and add the worst examples to the pool. Return false if a
  // member's slack does not cover what its margin lacks: then the pool was not solved.
  bool check(Job &job) {
    const Index rows = job.task.rows();
    std::vector<std::pair<std::int64_t, Index>> members(job.places.size());
    for (Index i = 0; i < job.size(); i++) members[i] = {job.places[i], i};
    std::sort(members.begin(), members.end());
    auto member = [&](Index example) {
      const std::int64_t place = job.place(example);
      const auto at = std::lower_bound(members.begin(), members.end(),
                                       std::pair<std::int64_t, Index>{place, -1});
      return at != members.end() && at->first == place ? at->second : Index(-1);
    };
    std::vector<Index> doubtful, others;
    std::vector<double> uppers;
    double least_upper = INF;
    for (Index i = 0; i < rows; i++) {
      const double off = slack(job, i), lower = job.margins[i] - off, upper = job.margins[i] + off;
      if (lower > 0.0) least_upper = std::min(least_upper, upper);
      if (lower >= limits_.bound) continue;  // false for NaN
      if (member(i) >= 0) {
        doubtful.push_back(i);
      } else {
        others.push_back(i);
        uppers.push_back(upper == upper ? upper : INF);
      }
    }
    double enough = INF;
    if (static_cast<Index>(others.size()) > job.most()) {
      const auto middle = uppers.begin() + (job.most() - 1);
      std::nth_element(uppers.begin(), middle, uppers.end());
      enough = *middle;
    }
    for (Index i : others)
      if (!(job.margins[i] - slack(job, i) > enough)) doubtful.push_back(i);
    for (Index i = 0; i < rows; i++) {  // those that may be the least above 0
      const double lower = job.margins[i] - slack(job, i);
      if (lower >= limits_.bound && lower <= least_upper) doubtful.push_back(i);
    }
    std::sort(doubtful.begin(), doubtful.end());
    return judge(job, doubtful, member);
  }

  template <typename Function>
  bool judge(Job &job, const std::vector<Index> &doubtful, Function member) {
    const Index d = shared_.d();
    std::vector<std::pair<double, Index>> below;
    job.misfits.clear();
    job.least = INF;
    for (Index i : doubtful) {
      const Row *x = row(shared_.table, job.place(i)).data;
      double margin = job.margins[i];
      if (!job.is_exact[i < job.task.sides[0].size() ? 0 : 1])
        margin = job.sign(i) * (dot(job.w.data(), x, shared_.origin.data, d) + job.b);
      if (margin > 0.0)
        job.least = std::min(job.least, margin);
      else
        job.misfits.push_back(job.place(i));
      if (!(margin < limits_.bound)) continue;
      const Index m = member(i);
      if (m < 0)
        below.emplace_back(margin, i);
      else if (!has_slack(job, m, x, margin))
        return false;
    }
    std::sort(below.begin(), below.end(), [&](const auto &one, const auto &other) {
      if (one.first != other.first) return one.first < other.first;
      const int order = compare_digests(job.place(one.second), job.place(other.second));
      return order != 0 ? order < 0 : one.second < other.second;
    });
    below.resize(std::min(below.size(), static_cast<std::size_t>(job.most())));
    for (auto [margin, i] : below) {
      job.add(job.place(i), job.sign(i), 0.0, 0);
    }
    job.is_settled = below.empty();
    return true;
  }

  int compare_digests(std::int64_t one, std::int64_t other) const {
    return std::memcmp(&shared_.digests(one, 0), &shared_.digests(other, 0), 16);
  }

  bool has_slack(const Job &job, Index m, const Row *x, double margin) const {
    const double slack = shared_.lam * job.alpha[m] / shared_.weights[job.places[m]];
    const double lacks = limits_.bound - margin - slack;
    if (!(lacks > limits_.tolerance)) return true;
    double size = std::abs(job.b);
    for (Index k = 0; k < shared_.d(); k++)
      size += std::abs(x[k] - shared_.origin[k]) * std::abs(job.w[k]);
    const double rounding = static_cast<double>(shared_.d() + 4) * 0x1p-52 * size;
    return !(lacks > limits_.tolerance + rounding);
  }

  // Solve for w, and compare all margins.
  bool check_again(Job &job) {
    if (!may_go_by_w() || !solve(job, true)) return false;
    for (int side = 0; side < 2; side++) {
      job.is_exact[side] = true;
      exact_margins(job, side, 0, job.task.sides[side].size());
    }
    return check(job);
  }

  const Shared<Row> &shared_;
  Limits limits_;
  Images<Row> images_;
  std::once_flag has_P_;
  std::vector<double> P_;
};

}  // namespace settling
