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

// A copy of some values.
template <typename T>
nanobind::object array_of(const std::vector<T> &values) {
  auto [array, into] = new_array<T>({static_cast<npy_intp>(values.size())});
  std::copy(values.begin(), values.end(), into);
  return array;
}

// How many jobs from `first` on are held in memory together: at least one.
inline Index together(const std::vector<Task> &tasks, Index first) {
  constexpr double ROOM = 256e6;
  double bytes = 0.0;
  Index last = first;
  for (; last < static_cast<Index>(tasks.size()); last++) {
    const double n = 1.25 * static_cast<double>(tasks[last].pool->size()) + 8.0;
    bytes += 16.0 * n * n + 24.0 * static_cast<double>(tasks[last].rows());
    if (bytes > ROOM && last > first) break;
  }
  return last;
}

// Return the places of new images, and these; the weights of all separators; and for each its b,
// its pool, its misfits, and the least margin above 0. Return None if a separator does not settle.
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
  double multiplications = 0.0;
  for (const Task &task : tasks) {
    task.check(shared.d(), shared.table.size());
    multiplications += static_cast<double>(task.rows() * shared.d());
  }
  // What threads do not divide is done few at a time: caches keep it from one round to the next.
  const Index most =
      multiplications < limits.worth_threads ? FEW : static_cast<Index>(tasks.size());
  Settling<Row> settling(shared, limits);
  nb::list results;
  const nb::object none = array_of(std::vector<std::int64_t>());
  const npy_intp d = shared.d();
  auto [W, weights] = new_array<double>({static_cast<npy_intp>(tasks.size()), d});
  for (Index first = 0, last; first < static_cast<Index>(tasks.size()); first = last) {
    last = std::min(together(tasks, first), first + most);
    std::vector<std::unique_ptr<Job>> jobs;
    std::vector<Job *> open;
    std::vector<Pool> left;
    for (Index i = first; i < last; i++) {
      jobs.emplace_back(new Job(tasks[i]));
      open.push_back(jobs.back().get());
    }
    bool is_settled = false;
    {
      nb::gil_scoped_release unlocked;
      is_settled = settling.settle(open);
      if (is_settled)
        for (auto &job : jobs) left.push_back(result_of(*job, limits));
    }
    if (!is_settled) return nb::none();
    for (std::size_t i = 0; i < jobs.size(); i++) {
      const Job &job = *jobs[i];
      weights = std::copy(job.w.begin(), job.w.end(), weights);
      results.append(nb::make_tuple(job.b, std::move(left[i]),
                                    job.misfits.empty() ? none : array_of(job.misfits), job.least));
    }
  }
  const Images<Row> &images = settling.images();
  auto [pictures, into] = new_array<double>({static_cast<npy_intp>(images.places().size()), d});
  for (Index i = 0; i < static_cast<Index>(images.places().size()); i++)
    into = std::copy_n(images.at(i), d, into);
  return nb::make_tuple(array_of(images.places()), pictures, W, results);
}

// Return a pool of these values, to be solved from the start.
inline Pool pool_of(Vector<const std::int64_t> places, Vector<const double> signs,
                    Vector<const double> alpha, Vector<const std::int64_t> idle) {
  const Index n = places.size();
  require(signs.size() == n && alpha.size() == n && idle.size() == n);
  Pool made;
  made.reserve(n);
  for (Index i = 0; i < n; i++) made.add(places[i], signs[i], alpha[i], idle[i]);
  return made;
}

// Return the pool with more rows, with α = 0.
inline Pool joined(const Pool &pool, Vector<const std::int64_t> places,
                   Vector<const double> signs) {
  require(signs.size() == places.size());
  Pool more;
  more.reserve(pool.size() + places.size());
  more = pool;
  for (Index i = 0; i < places.size(); i++) more.add(places[i], signs[i], 0.0, 0);
  return more;
}

// Return the same pool after the row at place p has moved to number[p].
inline Pool moved(Pool pool, Vector<const std::int64_t> number) {
  for (std::int64_t &place : pool.places) {
    require(0 <= place && place < number.size());
    place = number[place];
  }
  return pool;
}

// Return a pool of some members, in this order, to be solved from the start.
inline Pool picked(const Pool &pool, Vector<const std::int64_t> which) {
  Pool some;
  some.reserve(which.size());
  for (Index n = 0; n < which.size(); n++) {
    const std::int64_t i = which[n];
    require(0 <= i && i < pool.size());
    some.add(pool.places[i], pool.signs[i], pool.alpha[i], pool.idle[i]);
  }
  return some;
}

// Return the pool without the rows at some places, whatever their α. The factor is that without
// these rows, so that the next solve need not start anew; nothing stays of the inner products if
// not those of all members are known.
inline Pool without(const Pool &pool, Vector<const std::int64_t> places) {
  std::vector<std::int64_t> sorted(places.data, places.data + places.size());
  std::sort(sorted.begin(), sorted.end());
  const Index n = pool.size();
  const Start &old = *pool.start;
  Pool left;
  left.reserve(n);
  auto start = std::make_shared<Start>();
  Buffer<bool> leaves(n);
  std::vector<std::int64_t> members(old.order), number(static_cast<std::size_t>(n), -1);
  const bool is_known = half(n) == static_cast<Index>(old.products.size());
  for (Index i = 0; i < n; i++) {
    leaves[i] = std::binary_search(sorted.begin(), sorted.end(), pool.places[i]);
    if (leaves[i]) continue;
    number[i] = left.size();
    left.add(pool.places[i], pool.signs[i], pool.alpha[i], pool.idle[i]);
    for (Index j = 0; j <= i && is_known; j++)
      if (!leaves[j]) start->products.push_back(old.products[half(i) + j]);
  }
  if (old.products.empty()) start->u = old.u;
  if (is_known && !members.empty()) {
    std::int64_t size = static_cast<std::int64_t>(members.size());
    Buffer<double> square(size * size);
    const Matrix<double> factor = square.as_matrix(size);
    for (Index i = 0, at = 0; i < size; i++)
      for (Index j = 0; j <= i; j++) factor(i, j) = old.L[at++];
    drop_members(Factor{factor, vector(members.data(), size), vector(&size, 1)}, leaves.all());
    for (Index i = 0; i < size; i++) {
      start->order.push_back(number[members[i]]);
      for (Index j = 0; j <= i; j++) start->L.push_back(factor(i, j));
    }
  }
  left.start = start;
  return left;
}

// Return the same pool for rows with more columns, in which all of its rows have 0.
inline Pool widened(Pool pool) {
  auto start = std::make_shared<Start>(*pool.start);
  start->u.clear();
  pool.start = start;
  return pool;
}

// Free the inner products of a small pool; they can be computed again, to the same bits.
inline void drop_products(Pool &pool) {
  if (!pool.start->order.empty()) return;
  auto start = std::make_shared<Start>();
  start->u = pool.start->u;
  pool.start = start;
}

// The values of a pool as an array that cannot be written; no copy.
template <typename T, std::vector<T> Pool::*FIELD>
nanobind::object values(nanobind::handle_t<Pool> self) {
  std::vector<T> &found = nanobind::cast<Pool &>(self).*FIELD;
  npy_intp size = static_cast<npy_intp>(found.size());
  if (size == 0) return new_array<T>({0}).first;
  PyObject *array = PyArray_SimpleNewFromData(1, &size, nanobind::detail::type_number<T>(),
                                              static_cast<void *>(found.data()));
  if (!array) throw nanobind::python_error();
  nanobind::object seen = nanobind::steal(array);
  PyArray_CLEARFLAGS(reinterpret_cast<PyArrayObject *>(array), NPY_ARRAY_WRITEABLE);
  if (PyArray_SetBaseObject(reinterpret_cast<PyArrayObject *>(array), self.inc_ref().ptr()) < 0)
    throw nanobind::python_error();
  return seen;
}

inline void add_pool(nanobind::module_ &module) {
  namespace nb = nanobind;
  nb::class_<Pool>(module, "Pool")
      .def(nb::init<>())
      .def("__init__",
           [](Pool *self, Vector<const std::int64_t> places, Vector<const double> signs,
              Vector<const double> alpha, Vector<const std::int64_t> idle) {
             new (self) Pool(pool_of(places, signs, alpha, idle));
           })
      .def("__len__", &Pool::size)
      .def_prop_ro("places", &values<std::int64_t, &Pool::places>)
      .def_prop_ro("signs", &values<double, &Pool::signs>)
      .def_prop_ro("alpha", &values<double, &Pool::alpha>)
      .def_prop_ro("idle", &values<std::int64_t, &Pool::idle>)
      .def("joined", &joined)
      .def("moved", &moved)
      .def("picked", &picked)
      .def("without", &without)
      .def("widened", &widened)
      .def("drop_products", &drop_products);
}

}  // namespace settling
