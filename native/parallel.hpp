// Independent pieces of work in threads, interruptible by signals.
#pragma once

#include <sched.h>

#include <exception>
#include <future>
#include <system_error>
#include <vector>

#include "signals.hpp"

// How many processors this process may use.
inline Index processors() {
  cpu_set_t mine;
  const bool is_known = sched_getaffinity(0, sizeof mine, &mine) == 0;
  return is_known ? CPU_COUNT(&mine) : 1;
}

// Call work(0) … work(count - 1), in threads if this takes at least so many multiplications. Pieces
// are begun in ascending order; after an error no other is begun, and it is raised when all have
// ended.
template <typename Function>
void in_parallel(Index count, double multiplications, double worth_threads, Function work) {
  std::atomic<Index> next{0};
  std::exception_ptr error;
  std::atomic<bool> has_error{false};
  auto guarded = [&](auto function) {
    try {
      function();
    } catch (...) {
      if (!has_error.exchange(true)) error = std::current_exception();
    }
  };
  auto run = [&] {
    for (Index i; !has_error && (i = next++) < count; did(1)) work(i);
  };
  auto help = [&] {
    pace.is_over = &has_error;
    guarded(run);
  };
  const Index wanted = multiplications < worth_threads ? 1 : std::min(processors(), count);
  std::vector<std::future<void>> others;
  try {
    for (Index i = 1; i < wanted; i++) others.push_back(std::async(std::launch::async, help));
  } catch (const std::system_error &) {  // no more threads: these do everything
  }
  guarded(run);
  for (auto &each : others)
    while (each.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready)
      guarded(check_signals);
  if (error) std::rethrow_exception(error);
}
