// Train one unit until its loss is small: the paper's steps, on activations that are updated.
//
// A step adds a multiple of a stored row to a neuron, so the neuron's activation at every row moves
// by the same multiple of an inner product that never changes:
//     W[j] += s·x_r and b[j] += s give a_j(x) += s·(x_r·x + 1).
// The loop asks the index of the appendix which stored rows a step can disturb, and updates it.
// `tests/oracle/training.py` is the same in plain NumPy, everything evaluated again at every step.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "random.hpp"
#include "signals.hpp"

enum Policy { NONE, RANDOM, RANDOM_ONCE, CONDITIONAL, CLOSED };

// One unit at every row: a (k, ≥ n), and the index, clipped (k, ≥ n) and counters (≥ n).
struct UnitTable {
  static constexpr bool is_record = true;
  Matrix<double> a;
  Matrix<bool> clipped;
  Ints counters;
  auto fields() { return std::tie(a, clipped, counters); }
};

// What to learn; the NamedTuple says what each field is.
struct Lesson {
  static constexpr bool is_record = true;
  Index new_row;
  Matrix<const double> products;
  Vector<const bool> positive;
  double learning_rate;
  bool mean;
  double stop_loss;
  Index max_steps;
  double threshold, grid;
  Index policy, budget;
  auto fields() {
    return std::tie(new_row, products, positive, learning_rate, mean, stop_loss, max_steps,
                    threshold, grid, policy, budget);
  }
};

struct TrainingLog {
  static constexpr bool is_record = true;
  Matrix<double> changes;
  Matrix<bool> sets;
  Ints sums;
  auto fields() { return std::tie(changes, sets, sums); }
};

class Training {
 public:
  Training(UnitTable unit, Lesson lesson, RandomBits random, TrainingLog log)
      : unit_(unit),
        lesson_(lesson),
        random_(random),
        log_(log),
        neurons_(unit.a.shape[0]),
        new_(checked(unit, lesson, log)),
        at_risk_(new_),
        exact_(new_),
        rehearsed_(new_, false),
        was_inside_(new_),
        added_(neurons_) {}

  std::tuple<Index, double> run() {
    for (Index steps = 0;; steps++) {
      did(neurons_ * (new_ + 1));
      const Index first = first_least();  // the neuron that the new row moves
      const double least = unit_.a(first, new_);
      if (!std::isfinite(least)) return {steps, std::numeric_limits<double>::quiet_NaN()};
      const double loss = cross_entropy(least, lesson_.positive[new_]);
      if (loss < lesson_.stop_loss || steps == lesson_.max_steps) return {steps, loss};
      moved_.assign(neurons_, false);
      moved_[first] = true;
      find_interfered(at_risk_);
      if (lesson_.policy != RANDOM_ONCE || steps == 0) choose(first);
      take_step(first);
      write_log();
    }
  }

 private:
  // Return the number of the new row if everything has room for it and the rows before.
  static Index checked(const UnitTable &unit, const Lesson &lesson, const TrainingLog &log) {
    const Index neurons = unit.a.shape[0], i = lesson.new_row;
    if (neurons < 1 || i < 0 || unit.a.shape[1] <= i || unit.clipped.shape[0] != neurons ||
        unit.clipped.shape[1] <= i || unit.counters.size() <= i || lesson.products.shape[0] <= i ||
        lesson.products.shape[1] <= i || lesson.positive.size() <= i ||
        log.changes.shape[0] != neurons || log.changes.shape[1] <= i || log.sets.shape[0] != 3 ||
        log.sets.shape[1] != i || log.sums.size() != 5)
      throw std::invalid_argument("The tables of a unit, its lesson and its log do not fit.");
    if (lesson.max_steps < 0) throw std::invalid_argument("max_steps must not be below 0.");
    return i;
  }

  // The neuron of the least activation at the new row; the first that is not a number, if any.
  Index first_least() const {
    Index first = 0;
    for (Index j = 0; j < neurons_; j++) {
      if (std::isnan(unit_.a(j, new_))) return j;
      if (unit_.a(j, new_) < unit_.a(first, new_)) first = j;
    }
    return first;
  }

  static double cross_entropy(double a, bool positive) {
    const double z = positive ? -a : a;
    return std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z)));
  }

  // Find which stored rows a change of the neurons in `moved_` can disturb: clipped(x) ⊆ moved.
  void find_interfered(Buffer<bool> &found) {
    const Index n = new_;  // a local: a store of bytes might change a member, for all gcc knows
    auto *__restrict out = reinterpret_cast<std::uint8_t *>(found.data());
    std::fill(out, out + n, 1);
    for (Index j = 0; j < neurons_; j++) {
      if (moved_[j]) continue;
      const auto *__restrict clipped = reinterpret_cast<const std::uint8_t *>(&unit_.clipped(j, 0));
      for (Index i = 0; i < n; i++) out[i] &= clipped[i] ^ 1;
    }
  }

  // Choose the stored rows to rehearse; "closed" adds to the neurons that move.
  void choose(Index first) {
    const bool is_random = lesson_.policy == RANDOM || lesson_.policy == RANDOM_ONCE;
    if (is_random) {
      std::fill(rehearsed_.data(), rehearsed_.data() + new_, true);
      draw();
    } else if (lesson_.policy == CONDITIONAL) {
      std::copy(at_risk_.data(), at_risk_.data() + new_, rehearsed_.data());
      if (lesson_.budget >= 0) draw();
    } else if (lesson_.policy == CLOSED) {
      for (Index size = 0, now = 1; size < now;) {
        size = now;
        find_interfered(rehearsed_);
        list_rehearsed();
        find_winners(first);
        for (Index winner : winners_) moved_[winner] = true;
        now = std::count(moved_.begin(), moved_.end(), true);
      }
    }
  }

  // Keep as many of `rehearsed_` as the budget allows, drawn as by rng.choice without repetition
  // (Floyd's algorithm).
  void draw() {
    list_rehearsed();
    const Index n = rows_.size();
    if (lesson_.policy == CONDITIONAL && n <= lesson_.budget) return;
    std::fill(rehearsed_.data(), rehearsed_.data() + new_, false);
    for (Index last = std::max<Index>(n - std::max<Index>(lesson_.budget, 0), 0); last < n;
         last++) {
      const Index drawn = rows_[random_.below(last + 1)];
      rehearsed_[rehearsed_[drawn] ? rows_[last] : drawn] = true;
    }
  }

  void list_rehearsed() {
    rows_.clear();
    for (Index i = 0; i < new_; i++)
      if (rehearsed_[i]) rows_.push_back(i);
  }

  // Find the neuron of the least activation at each of `rows_`, the lowest of equals.
  //
  // Where `first` alone is clipped it is the least; a first activation that is not a number wins.
  void find_winners(Index first) {
    const Index n = rows_.size();
    winners_.assign(n, 0);
    least_.resize(n);
    searched_.clear();
    for (Index i = 0; i < n; i++) {
      const Index r = rows_[i];
      least_[i] = unit_.a(0, r);
      if (unit_.counters[r] != 1 || !unit_.clipped(first, r) || std::isnan(least_[i])) {
        searched_.push_back(i);
      } else {
        winners_[i] = first;
        least_[i] = unit_.a(first, r);
      }
    }
    for (Index j = 1; j < neurons_; j++)  // a row of `a` lies together in memory
      for (Index i : searched_) {
        const double value = unit_.a(j, rows_[i]);
        const bool is_less = value < least_[i];
        least_[i] = is_less ? value : least_[i];
        winners_[i] = is_less ? j : winners_[i];
      }
  }

  // Find how far each of `rows_` moves its winner; the new row is the last.
  void find_pushes() {
    const double rehearsals = static_cast<double>(rows_.size() - 1);
    pushes_.resize(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); i++) {
      const double weight = lesson_.mean && rows_[i] != new_ ? 1.0 / rehearsals : 1.0;
      const double e = std::exp(-std::abs(least_[i]));
      const double sigmoid = (least_[i] >= 0.0 ? 1.0 : e) / (1.0 + e);
      const double slope = sigmoid - (lesson_.positive[rows_[i]] ? 1.0 : 0.0);
      pushes_[i] = std::rint(-lesson_.learning_rate * weight * slope * lesson_.grid) / lesson_.grid;
    }
  }

  void take_step(Index first) {
    list_rehearsed();
    rows_.push_back(new_);
    find_winners(first);
    find_pushes();
    moved_.assign(neurons_, false);
    for (auto &each : added_) each.clear();
    for (std::size_t i = 0; i < rows_.size(); i++)
      if (pushes_[i] != 0.0) {
        moved_[winners_[i]] = true;
        added_[winners_[i]].emplace_back(pushes_[i], &lesson_.products(rows_[i], 0));
        log_.changes(winners_[i], rows_[i]) += pushes_[i];
      }
    find_interfered(exact_);
    for (Index i = 0; i < new_; i++) was_inside_[i] = unit_.counters[i] == 0;
    for (Index j = 0; j < neurons_; j++)
      if (moved_[j]) move(j);
  }

  // Add the pushes of neuron j to its activations, one row after the other, and update the index.
  //
  // Several rows are added at a time, so that a sum is read and written once for all of them.
  void move(Index j) {
    const auto *added = added_[j].data();
    double *a = &unit_.a(j, 0);
    Index left = added_[j].size();
    for (; left >= 8; left -= 8, added += 8) add<8>(a, added);
    if (left >= 4) add<4>(a, added), added += 4, left -= 4;
    if (left == 3) add<3>(a, added);
    if (left == 2) add<2>(a, added);
    if (left == 1) add<1>(a, added);
    follow(j);
  }

  template <int COUNT>
  void add(double *__restrict a, const std::pair<double, const double *> *added) const {
    double by[COUNT];
    const double *rows[COUNT];
    for (int each = 0; each < COUNT; each++) std::tie(by[each], rows[each]) = added[each];
#pragma GCC ivdep
    for (Index c = 0; c <= new_; c++) {
      double sum = a[c];
      for (int each = 0; each < COUNT; each++) sum += by[each] * rows[each][c];
      a[c] = sum;
    }
  }

  // Update the index after the activations of neuron j changed; most stay on their side.
  void follow(Index j) {
    constexpr Index AT_A_TIME = 64;
    const double *__restrict a = &unit_.a(j, 0);
    auto *__restrict clipped = reinterpret_cast<std::uint8_t *>(&unit_.clipped(j, 0));
    for (Index start = 0; start <= new_; start += AT_A_TIME) {
      const Index end = std::min(start + AT_A_TIME, new_ + 1);
      std::int64_t has_changed = 0;
      for (Index c = start; c < end; c++)
        has_changed |= static_cast<std::int64_t>(a[c] <= lesson_.threshold) ^ clipped[c];
      if (!has_changed) continue;
      for (Index c = start; c < end; c++) {
        const std::uint8_t now = a[c] <= lesson_.threshold;
        auto &counter = reinterpret_cast<std::uint64_t &>(unit_.counters[c]);  // any: it wraps
        counter += now;
        counter -= clipped[c];
        clipped[c] = now;
      }
    }
  }

  void write_log() {
    std::int64_t sums[4] = {};
    bool has_leaked = false;
    for (Index i = 0; i < new_; i++) {
      log_.sets(0, i) |= at_risk_[i];
      log_.sets(1, i) |= exact_[i];
      log_.sets(2, i) |= rehearsed_[i];
      sums[0] += at_risk_[i];
      sums[1] += exact_[i];
      sums[2] += rehearsed_[i];
      sums[3] += exact_[i] & !rehearsed_[i];
      has_leaked |= (was_inside_[i] != (unit_.counters[i] == 0)) & !rehearsed_[i];
    }
    for (int each = 0; each < 4; each++) add(log_.sums[each], sums[each]);
    add(log_.sums[4], has_leaked);
  }

  // Sums may be any numbers before.
  static void add(std::int64_t &sum, std::int64_t more) {
    sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) +
                                    static_cast<std::uint64_t>(more));
  }

  const UnitTable unit_;
  const Lesson lesson_;
  const RandomBits random_;
  const TrainingLog log_;
  const Index neurons_, new_;
  Buffer<bool> at_risk_, exact_, rehearsed_, was_inside_;
  std::vector<char> moved_;
  std::vector<Index> rows_, winners_, searched_;
  std::vector<double> least_, pushes_;
  std::vector<std::vector<std::pair<double, const double *>>> added_;
};

// Take steps in place; return how many, and the last loss (NaN if the steps overflowed).
inline std::tuple<Index, double> train_unit(UnitTable unit, Lesson lesson, RandomBits random,
                                            TrainingLog log) {
  return Training(unit, lesson, random, log).run();
}
