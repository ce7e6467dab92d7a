// The extension module. It is built once for each instruction set: see CMakeLists.txt.
#include "best_first.hpp"
#include "casters.hpp"
#include "clusters.hpp"
#include "far.hpp"
#include "left_out.hpp"
#include "margins.hpp"
#include "newton.hpp"
#include "pairs.hpp"
#include "pooling.hpp"
#include "primal.hpp"
#include "product.hpp"
#include "projecting.hpp"
#include "rows.hpp"
#include "settle_module.hpp"
#include "training.hpp"

namespace nb = nanobind;

namespace {

// Every kernel runs without the interpreter's lock.
template <typename Result, typename... Arguments>
void def(nb::module_ &module, const char *name, Result (*kernel)(Arguments...)) {
  auto checked = [kernel](Arguments... arguments) {
    Overlaps overlaps;
    (overlaps.add(arguments), ...);
    return kernel(arguments...);
  };
  module.def(name, checked, nb::call_guard<nb::gil_scoped_release>());
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
  // Pools that live until the interpreter ends are no leaks.
  nanobind::set_leak_warnings(false);
  if (_import_array() < 0) throw nb::python_error();
  module.def("has", &has);
  // margins
  def(module, "activations", &activations<double>);
  def(module, "activations", &activations<float>);

  // newton
  def(module, "newton", &newton);
  def(module, "best_step", &best_step);

  // product
  def(module, "multiply", &multiply<double>);
  def(module, "multiply", &multiply<float>);

  // settle
  module.def("settle", &settling::settle<double>);
  module.def("settle", &settling::settle<float>);
  settling::add_pool(module);

  // primal
  def(module, "newton_primal", &newton_primal<double>);
  def(module, "newton_primal", &newton_primal<float>);

  // pairs
  def(module, "pair_scores", &pair_scores);

  // clusters
  def(module, "centres", &centres);
  def(module, "nearest", &nearest);

  // left_out
  def(module, "values_left_out", &values_left_out);
  // projecting
  def(module, "project", &project);
  def(module, "hash_texts", &hash_texts);
  def(module, "hash_ngrams", &hash_ngrams);

  // pooling
  def(module, "filtered", &filtered);
  def(module, "moduli", &moduli);
  def(module, "pooled", &pooled);
  def(module, "even_out", &even_out);

  // training
  def(module, "train_unit", &train_unit);
  def(module, "region_margins", &region_margins<double>);
  def(module, "region_margins", &region_margins<float>);
  def(module, "scores", &scores<double>);
  def(module, "scores", &scores<float>);

  // rows
  def(module, "products", &products);
  def(module, "add_multiples", &add_multiples);
  def(module, "add_up", &add_up<double>);
  def(module, "add_up", &add_up<float>);
  def(module, "add_up", &add_up<std::uint8_t>);
  def(module, "decode_columns", &decode_columns<double>);
  def(module, "decode_columns", &decode_columns<float>);
  def(module, "decode_levels", &decode_levels<double>);
  def(module, "decode_levels", &decode_levels<float>);

  // best_first
  def(module, "best_first", &best_first<double>);
  def(module, "best_first", &best_first<float>);
  def(module, "proposals", &proposals<double>);
  def(module, "proposals", &proposals<float>);

  // far
  def(module, "pair_values", &pair_values<double>);
  def(module, "pair_values", &pair_values<float>);
  def(module, "discriminant_margins", &discriminant_margins<double>);
  def(module, "discriminant_margins", &discriminant_margins<float>);
  def(module, "far_margins", &far_margins<double>);
  def(module, "far_margins", &far_margins<float>);
  def(module, "far_scores", &far_scores<double>);
  def(module, "far_scores", &far_scores<float>);
  def(module, "far_winners", &far_winners<double>);
  def(module, "far_winners", &far_winners<float>);
}
