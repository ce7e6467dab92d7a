// The extension module. It is built once for each instruction set: see CMakeLists.txt.
#include "casters.hpp"
#include "grams.hpp"
#include "left_out.hpp"
#include "margins.hpp"
#include "newton.hpp"
#include "pairs.hpp"
#include "pooling.hpp"
#include "primal.hpp"
#include "product.hpp"
#include "projecting.hpp"
#include "settle_module.hpp"
#include "training.hpp"

namespace nb = nanobind;

namespace {

// Every kernel runs without the interpreter's lock.
template <typename Function>
void def(nb::module_ &module, const char *name, Function function) {
  module.def(name, function, nb::call_guard<nb::gil_scoped_release>());
}

// Whether this machine has the instructions of a build.
bool has(const char *build) {
#if defined(__x86_64__)
  std::string name = build;
  if (name == "_avx512")
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
  if (name == "_avx2") return __builtin_cpu_supports("avx2");
#endif
  return std::string(build) == "_baseline";
}

}  // namespace

NB_MODULE(MINOUT_MODULE, module) {
  if (_import_array() < 0) throw nb::python_error();
  module.def("has", &has);
  def(module, "activations", &activations<double>);
  def(module, "activations", &activations<float>);

  // newton
  def(module, "newton", &newton);
  def(module, "drop_members", &drop_members);
  def(module, "best_step", &best_step);

  // grams
  def(module, "gram", &gram<double>);
  def(module, "gram", &gram<float>);
  def(module, "combine", &combine);

  // product
  def(module, "multiply", &multiply<double>);

  // settle
  module.def("settle", &settling::settle<double>);
  module.def("settle", &settling::settle<float>);
  module.def("kept_members", &settling::kept_members);

  // primal
  def(module, "newton_primal", &newton_primal<double>);
  def(module, "newton_primal", &newton_primal<float>);

  // pairs
  def(module, "pair_scores", &pair_scores);

  // left_out
  def(module, "values_left_out", &values_left_out);
  // projecting
  def(module, "project", &project);
  def(module, "hash_texts", &hash_texts);

  // pooling
  def(module, "filtered", &filtered);
  def(module, "moduli", &moduli);
  def(module, "pooled", &pooled);
  def(module, "even_out", &even_out);

  // training
  def(module, "train_unit", &train_unit);
}
