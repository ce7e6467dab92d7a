// `settle` for Python: arrays of NumPy go in and come out.
#pragma once

#include "casters.hpp"
#include "settle.hpp"

namespace settling {

// A new array, and where its numbers are.
template <typename T>
std::pair<nanobind::object, T *> new_array(std::initializer_list<npy_intp> shape) {
  PyObject *found =
      PyArray_SimpleNew(static_cast<int>(shape.size()), const_cast<npy_intp *>(shape.begin()),
                        nanobind::detail::type_number<T>());
  if (!found) throw nanobind::python_error();
  return {nanobind::steal(found),
          static_cast<T *>(PyArray_DATA(reinterpret_cast<PyArrayObject *>(found)))};
}

// Copies vectors to arrays; those that are empty share one.
class Arrays {
 public:
  nanobind::object operator()(const std::vector<double> &values) { return of(values, floats_); }
  nanobind::object operator()(const std::vector<std::int64_t> &values) { return of(values, ints_); }

 private:
  template <typename T>
  static nanobind::object of(const std::vector<T> &values, const nanobind::object &empty) {
    if (values.empty()) return empty;
    auto [array, into] = new_array<T>({static_cast<npy_intp>(values.size())});
    std::copy(values.begin(), values.end(), into);
    return array;
  }
  nanobind::object floats_ = new_array<double>({0}).first;
  nanobind::object ints_ = new_array<std::int64_t>({0}).first;
};

// How many jobs from `first` on are held in memory together: at least one.
inline Index together(const std::vector<Task> &tasks, Index first) {
  constexpr double ROOM = 256e6;
  double bytes = 0.0;
  Index last = first;
  for (; last < static_cast<Index>(tasks.size()); last++) {
    const double n = 1.25 * static_cast<double>(tasks[last].places.size()) + 8.0;
    bytes += 16.0 * n * n + 24.0 * static_cast<double>(tasks[last].rows());
    if (bytes > ROOM && last > first) break;
  }
  return last;
}

// Return the places of new images, and these; the weights of all separators; and for each its b,
// pool (places, signs, α, idle), start of the next solve (products, L, order, u), misfits, and the
// least margin above 0. Return None if a separator does not settle.
template <typename Row>
nanobind::object settle(const Shared<Row> &shared, const Limits &limits, nanobind::list given) {
  namespace nb = nanobind;
  std::vector<Task> tasks;
  const nb::tuple held(given);  // whatever another thread does with the list
  for (nb::handle each : held) {
    tasks.emplace_back();
    if (!nb::try_cast(each, tasks.back())) throw nb::type_error("A task has incompatible fields.");
  }
  shared.check();
  for (const Task &task : tasks) task.check(shared.d(), shared.table.size());
  Settling<Row> settling(shared, limits);
  nb::list results;
  Arrays array;
  const npy_intp d = shared.d();
  auto [W, weights] = new_array<double>({static_cast<npy_intp>(tasks.size()), d});
  for (Index first = 0, last; first < static_cast<Index>(tasks.size()); first = last) {
    last = together(tasks, first);
    std::vector<std::unique_ptr<Job>> jobs;
    std::vector<Job *> open;
    std::vector<Result> left;
    bool is_settled = false;
    {
      nb::gil_scoped_release unlocked;
      for (Index i = first; i < last; i++) {
        jobs.emplace_back(new Job(tasks[i]));
        open.push_back(jobs.back().get());
      }
      is_settled = settling.settle(open);
      if (is_settled)
        for (auto &job : jobs) left.push_back(result_of(*job, limits));
    }
    if (!is_settled) return nb::none();
    for (std::size_t i = 0; i < jobs.size(); i++) {
      const Job &job = *jobs[i];
      const Result &own = left[i];
      weights = std::copy(job.w.begin(), job.w.end(), weights);
      results.append(nb::make_tuple(
          job.b, array(own.places), array(own.signs), array(own.alpha), array(own.idle),
          nb::make_tuple(array(own.products), array(own.L), array(own.order), array(job.u)),
          array(job.misfits), job.least));
    }
  }
  const Images<Row> &images = settling.images();
  auto [pictures, into] = new_array<double>({static_cast<npy_intp>(images.places().size()), d});
  for (Index i = 0; i < static_cast<Index>(images.places().size()); i++)
    into = std::copy_n(images.at(i), d, into);
  return nb::make_tuple(array(images.places()), pictures, W, results);
}

// Return the inner products, the factor and its order that are left when only some members stay;
// nothing of the inner products if not those of all members are known.
inline nanobind::object kept_members(Vector<const double> products, Vector<const double> L,
                                     Vector<const std::int64_t> order, Vector<const bool> stays) {
  namespace nb = nanobind;
  const Index n = stays.size(), count = order.size();
  require(half(count) == L.size() && count <= n);
  std::vector<double> G, lower;
  std::vector<std::int64_t> members(static_cast<std::size_t>(n)), number(members);
  if (half(n) == products.size()) {
    Buffer<bool> leaves(n);
    Buffer<double> square(n * n);
    std::int64_t next = 0, size = count;
    for (Index i = 0; i < n; i++) {
      leaves[i] = !stays[i];
      number[i] = stays[i] ? next++ : -1;
      for (Index j = 0; j <= i && stays[i]; j++)
        if (stays[j]) G.push_back(products[half(i) + j]);
    }
    std::copy_n(order.data, count, members.data());
    for (Index i = 0, at = 0; i < count; i++)
      for (Index j = 0; j <= i; j++) square[i * n + j] = L[at++];
    const Matrix<double> factor = square.as_matrix(n);
    drop_members(Factor{factor, vector(members.data(), n), vector(&size, 1)}, leaves.all());
    members.resize(static_cast<std::size_t>(size));
    for (std::int64_t &each : members) each = number[each];
    for (Index i = 0; i < size; i++)
      for (Index j = 0; j <= i; j++) lower.push_back(factor(i, j));
  } else {
    members.clear();
  }
  Arrays array;
  return nb::make_tuple(array(G), array(lower), array(members));
}

}  // namespace settling
