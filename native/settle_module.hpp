// `settle` for Python: arrays of NumPy go in and come out.
#pragma once

#include "casters.hpp"
#include "settle.hpp"

namespace settling {

template <typename T>
nanobind::object array_of(const T *values, Index n) {
  npy_intp size = n;
  PyObject *found = PyArray_SimpleNew(1, &size, nanobind::detail::type_number<T>());
  if (!found) throw nanobind::python_error();
  std::copy_n(values, n, static_cast<T *>(PyArray_DATA(reinterpret_cast<PyArrayObject *>(found))));
  return nanobind::steal(found);
}

template <typename T>
nanobind::object array_of(const std::vector<T> &values) {
  return array_of(values.data(), static_cast<Index>(values.size()));
}

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

// Return the places of new images, and these; and for each task its w, b, pool (places, signs, α,
// idle), start of the next solve (products, L, order, u), misfits, and the least margin above 0.
// Return None if a separator does not settle.
template <typename Row>
nanobind::object settle(const Shared<Row> &shared, const Limits &limits, nanobind::list given) {
  namespace nb = nanobind;
  std::vector<Task> tasks;
  for (nb::handle each : given) tasks.push_back(nb::cast<Task>(each));
  Settling<Row> settling(shared, limits);
  nb::list results;
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
      results.append(nb::make_tuple(array_of(job.w), job.b, array_of(own.places),
                                    array_of(own.signs), array_of(own.alpha), array_of(own.idle),
                                    array_of(own.products), array_of(own.L), array_of(own.order),
                                    array_of(job.u), array_of(job.misfits), job.least));
    }
  }
  const Images<Row> &images = settling.images();
  const Index n = static_cast<Index>(images.places().size()), d = shared.d();
  npy_intp shape[2] = {n, d};
  PyObject *pictures = PyArray_SimpleNew(2, shape, NPY_FLOAT64);
  if (!pictures) throw nb::python_error();
  auto *values = static_cast<double *>(PyArray_DATA(reinterpret_cast<PyArrayObject *>(pictures)));
  for (Index i = 0; i < n; i++) std::copy_n(images.at(i), d, values + i * d);
  return nb::make_tuple(array_of(images.places()), nb::steal(pictures), results);
}

// Return the inner products, the factor and its order that are left when only some members stay;
// nothing of the inner products if not those of all members are known.
inline nanobind::object kept_members(Vector<const double> products, Vector<const double> L,
                                     Vector<const std::int64_t> order, Vector<const bool> stays) {
  namespace nb = nanobind;
  const Index n = stays.size(), count = order.size();
  require(half(count) == L.size());
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
  return nb::make_tuple(array_of(G), array_of(lower), array_of(members));
}

}  // namespace settling
