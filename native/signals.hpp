// What is long is interruptible by signals such as that of Ctrl-C.
#pragma once

#include <nanobind/nanobind.h>
#include <unistd.h>

#include <atomic>
#include <chrono>

#include "view.hpp"

struct Pace {
  double left = 0.0;  // multiplications until the next look at the clock
  std::chrono::steady_clock::time_point last{};
  const std::atomic<bool> *is_over = nullptr;  // of a thread that helps another
};
inline thread_local Pace pace;

// Raise what a signal's handler raises, or end a helping thread when its caller has an error.
[[gnu::noinline]] inline void check_signals() {
  constexpr double OFTEN = 1e6;
  pace.left = OFTEN;
  if (pace.is_over) {
    if (*pace.is_over) throw std::runtime_error("The caller has an error.");
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (now - pace.last < std::chrono::milliseconds(20) || gettid() != getpid()) return;
  pace.last = now;
  nanobind::gil_scoped_acquire lock;  // only Python's main thread has handlers
  if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

// Kernels that may take long say what they have done since the last time.
inline void did(Index multiplications) {
  pace.left -= static_cast<double>(multiplications);
  if (pace.left < 0.0) check_signals();
}
