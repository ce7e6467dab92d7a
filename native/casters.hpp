// How arguments come from Python: arrays as views, NamedTuples as structures.
//
// An array of another dtype, with another number of axes, in another byte order or with a last axis
// that is not contiguous is refused, and so is a read-only array where a kernel writes.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include "random.hpp"
#include "view.hpp"

namespace nanobind::detail {

template <typename T>
constexpr int type_number() {
  using Value = std::remove_const_t<T>;
  if constexpr (std::is_same_v<Value, double>)
    return NPY_FLOAT64;
  else if constexpr (std::is_same_v<Value, float>)
    return NPY_FLOAT32;
  else if constexpr (std::is_same_v<Value, bool>)
    return NPY_BOOL;
  else if constexpr (std::is_same_v<Value, std::uint8_t>)
    return NPY_UINT8;
  else if constexpr (std::is_same_v<Value, std::int8_t>)
    return NPY_INT8;
  else if constexpr (std::is_same_v<Value, std::int32_t>)
    return NPY_INT32;
  else if constexpr (std::is_same_v<Value, std::uint32_t>)
    return NPY_UINT32;
  else if constexpr (std::is_same_v<Value, std::int64_t>)
    return NPY_INT64;
  else
    return NPY_UINT64;
}

template <typename T, int N>
struct type_caster<View<T, N>> {
  using Array = View<T, N>;
  NB_TYPE_CASTER(Array, const_name("ndarray"))

  bool from_python(handle source, std::uint32_t, cleanup_list *) noexcept {
    if (!PyArray_Check(source.ptr())) return false;
    auto *array = reinterpret_cast<PyArrayObject *>(source.ptr());
    if (PyArray_NDIM(array) != N || PyArray_TYPE(array) != type_number<T>()) return false;
    if (!PyArray_ISALIGNED(array) || !PyArray_ISNOTSWAPPED(array)) return false;
    if (!std::is_const_v<T> && !PyArray_ISWRITEABLE(array)) return false;
    constexpr Index width = sizeof(T);
    value.data = static_cast<T *>(PyArray_DATA(array));
    for (int axis = 0; axis < N; axis++) {
      value.shape[axis] = PyArray_DIM(array, axis);
      Index bytes = PyArray_STRIDE(array, axis);
      if (bytes % width != 0) return false;
      value.stride[axis] = bytes / width;
    }
    bool is_short = value.shape[N - 1] < 2 || PyArray_SIZE(array) == 0;
    if (is_short) value.stride[N - 1] = 1;  // it says nothing
    return value.stride[N - 1] == 1;
  }
};

// A structure with `fields()`, the tuple of references to its fields, comes from any tuple.
template <typename T>
struct type_caster<T, std::enable_if_t<(T::is_record), int>> {
  NB_TYPE_CASTER(T, const_name("tuple"))

  bool from_python(handle source, std::uint32_t flags, cleanup_list *cleanup) noexcept {
    auto fields = value.fields();
    constexpr Index count = std::tuple_size_v<decltype(fields)>;
    if (!PyTuple_Check(source.ptr()) || PyTuple_GET_SIZE(source.ptr()) != count) return false;
    Index place = 0;
    auto take = [&](auto &field) {
      using Field = std::decay_t<decltype(field)>;
      make_caster<Field> caster;
      if (!caster.from_python(PyTuple_GET_ITEM(source.ptr(), place++), flags, cleanup))
        return false;
      field = caster.operator cast_t<Field>();
      return true;
    };
    return std::apply([&](auto &...field) { return (take(field) && ...); }, fields);
  }
};

// The random bits come from a NumPy bit generator, which its capsule does not keep alive.
template <>
struct type_caster<RandomBits> {
  NB_TYPE_CASTER(RandomBits, const_name("BitGenerator"))

  bool from_python(handle source, std::uint32_t, cleanup_list *) noexcept {
    const object capsule = steal(PyObject_GetAttrString(source.ptr(), "capsule"));
    if (PyCapsule_IsValid(capsule.ptr(), "BitGenerator"))
      value.bits = static_cast<bitgen_t *>(PyCapsule_GetPointer(capsule.ptr(), "BitGenerator"));
    PyErr_Clear();
    return value.bits != nullptr;
  }
};

}  // namespace nanobind::detail

// Refuses arrays that are written and share memory with others: what was checked stays as it was.
class Overlaps {
 public:
  template <typename T>
  void add(const T &argument) {
    if constexpr (is_array<T>::value)
      add_array(argument);
    else if constexpr (has_fields<T>::value)
      std::apply([this](const auto &...field) { (add(field), ...); }, T(argument).fields());
  }

 private:
  template <typename T, typename = void>
  struct has_fields : std::false_type {};
  template <typename T>
  struct has_fields<T, std::enable_if_t<T::is_record>> : std::true_type {};
  template <typename T>
  struct is_array : std::false_type {};
  template <typename T, int N>
  struct is_array<View<T, N>> : std::true_type {};

  template <typename T, int N>
  void add_array(const View<T, N> &array) {
    Index low = 0, high = sizeof(T);
    for (int axis = 0; axis < N; axis++) {
      if (array.shape[axis] == 0) return;
      const Index bytes = (array.shape[axis] - 1) * array.stride[axis] * Index(sizeof(T));
      (bytes < 0 ? low : high) += bytes;
    }
    const auto start = reinterpret_cast<std::intptr_t>(array.data);
    const Span own{start + low, start + high, !std::is_const_v<T>};
    for (Index i = 0; i < count_; i++)
      if ((own.is_written || spans_[i].is_written) && own.first < spans_[i].last &&
          spans_[i].first < own.last)
        throw std::invalid_argument("An array that is written shares memory with another.");
    spans_[count_++] = own;
  }

  struct Span {
    std::intptr_t first, last;
    bool is_written;
  };
  Span spans_[32];
  Index count_ = 0;
};
