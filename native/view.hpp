// Arrays of NumPy as they come: no copy and no conversion. What does not fit is refused.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>

using Index = std::ptrdiff_t;

// An array of N axes: the last is contiguous, the others may have any stride. Nothing is owned.
template <typename T, int N>
struct View {
  T *data = nullptr;
  Index shape[N] = {};
  Index stride[N] = {};  // in elements

  T &operator[](Index i) const {
    static_assert(N == 1);
    assert(0 <= i && i < shape[0]);
    return data[i];
  }
  T &operator()(Index i, Index j) const {
    static_assert(N == 2);
    assert(0 <= i && i < shape[0] && 0 <= j && j < shape[1]);
    return data[i * stride[0] + j];
  }
  T &operator()(Index i, Index j, Index k) const {
    static_assert(N == 3);
    assert(0 <= i && i < shape[0] && 0 <= j && j < shape[1] && 0 <= k && k < shape[2]);
    return data[i * stride[0] + j * stride[1] + k];
  }
  Index size() const { return shape[0]; }

  // A view that is written serves where one is only read.
  operator View<const T, N>() const {
    View<const T, N> same;
    same.data = data;
    for (int axis = 0; axis < N; axis++) {
      same.shape[axis] = shape[axis];
      same.stride[axis] = stride[axis];
    }
    return same;
  }
};

template <typename T>
using Vector = View<T, 1>;
template <typename T>
using Matrix = View<T, 2>;
template <typename T>
using Block = View<T, 3>;
using Floats = Vector<double>;
using Ints = Vector<std::int64_t>;
using Bools = Vector<bool>;

template <typename T>
Vector<T> vector(T *data, Index n) {
  return {data, {n}, {1}};
}

template <typename T>
Matrix<T> matrix(T *data, Index rows, Index columns) {
  return {data, {rows, columns}, {columns, 1}};
}

// Row i of a matrix.
template <typename T>
Vector<T> row(const Matrix<T> &of, Index i) {
  assert(0 <= i && i < of.shape[0]);
  return vector(of.data + i * of.stride[0], of.shape[1]);
}

// Elements first … last - 1.
template <typename T>
Vector<T> part(const Vector<T> &of, Index first, Index last) {
  assert(0 <= first && first <= last && last <= of.shape[0]);
  return vector(of.data + first, last - first);
}

// Refuse arrays whose sizes do not fit each other.
inline void require(bool fits) {
  if (!fits) throw std::invalid_argument("The shapes of the arguments do not fit each other.");
}

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse(Index number, Index end,
                                                          const char *what) {
  throw std::invalid_argument("A number in " + std::string(what) + " is " + std::to_string(number) +
                              "; it must be at least 0 and below " + std::to_string(end) + ".");
}

// Return a number from 0 to end - 1; refuse any other.
inline Index inside(Index number, Index end, const char *what) {
  if (number < 0 || number >= end) refuse(number, end, what);
  return number;
}

// Refuse numbers of which one is not from 0 to end - 1.
inline void check_inside(Vector<const std::int64_t> numbers, Index end, const char *what) {
  bool fits = true;
  for (Index i = 0; i < numbers.size(); i++) fits &= numbers.data[i] >= 0 && numbers.data[i] < end;
  for (Index i = 0; !fits && i < numbers.size(); i++) inside(numbers[i], end, what);
}

// Refuse all but starts that ascend from 0 on to `end` at most, one for each row and one more.
inline void check_starts(Vector<const std::int64_t> starts, Index rows, Index end) {
  bool fits = starts.size() == rows + 1 && starts[0] >= 0 && starts[rows] <= end;
  for (Index i = 0; fits && i < rows; i++) fits = starts[i] <= starts[i + 1];
  if (!fits) throw std::invalid_argument("The starts of the rows do not fit the rows.");
}

// Memory of a kernel's own. Its contents are undefined at first.
template <typename T>
class Buffer {
 public:
  explicit Buffer(Index n) : data_(new T[static_cast<std::size_t>(n > 0 ? n : 0)]), n_(n) {}
  Buffer(Index n, T value) : Buffer(n) {
    for (Index i = 0; i < n; i++) data_[i] = value;
  }
  T &operator[](Index i) {
    assert(0 <= i && i < n_);
    return data_[i];
  }
  const T &operator[](Index i) const {
    assert(0 <= i && i < n_);
    return data_[i];
  }
  T *data() { return data_.get(); }
  const T *data() const { return data_.get(); }
  Index size() const { return n_; }
  Vector<T> all() { return vector(data_.get(), n_); }
  Matrix<T> as_matrix(Index columns) {
    return matrix(data_.get(), columns > 0 ? n_ / columns : 0, columns);
  }

 private:
  std::unique_ptr<T[]> data_;
  Index n_;
};
