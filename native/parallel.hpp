// Independent pieces of work in threads, interruptible by signals such as that of Ctrl-C.
#pragma once

#include <nanobind/nanobind.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#include "view.hpp"

// How many processors this process may use.
inline Index processors() {
  cpu_set_t mine;
  const bool is_known = sched_getaffinity(0, sizeof mine, &mine) == 0;
  return is_known ? CPU_COUNT(&mine) : 1;
}

// Raises what a signal's handler raises. The caller must not hold the interpreter's lock.
class Signals {
 public:
  void check() {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(20)) return;
    last_ = now;
    nanobind::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Call work(0) … work(count - 1), in threads if this takes at least so many multiplications. Pieces
// are begun in ascending order; after an error no other is begun, and it is raised when all have
// ended.
template <typename Function>
void in_parallel(Index count, double multiplications, double worth_threads, Signals &signals,
                 Function work) {
  std::atomic<Index> next{0};
  std::exception_ptr error;
  std::atomic<bool> has_error{false};
  auto run = [&](bool is_caller) {
    try {
      for (Index i; !has_error && (i = next++) < count;) {
        if (is_caller) signals.check();
        work(i);
      }
    } catch (...) {
      if (!has_error.exchange(true)) error = std::current_exception();
    }
  };
  const Index wanted = multiplications < worth_threads ? 1 : std::min(processors(), count);
  std::vector<std::thread> others;
  try {
    for (Index i = 1; i < wanted; i++) others.emplace_back(run, false);
  } catch (const std::system_error &) {  // no more threads: these do everything
  }
  run(true);
  for (std::thread &each : others) each.join();
  if (error) std::rethrow_exception(error);
}
