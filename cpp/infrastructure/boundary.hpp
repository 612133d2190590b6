// Calls from one shared library into another. No exception crosses the boundary: each library may have a separate C++
// runtime, and a runtime does not recognize the exceptions of another.
#pragma once

#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "infrastructure/parallel.hpp"

namespace spectralcls {

// The exception that ended a call, in a form that may cross the boundary.
struct Failure {
  enum class Kind { none, interrupted, out_of_memory, other };
  Kind kind = Kind::none;
  char message[240] = "";

  void rethrow() const {
    switch (kind) {
      case Kind::none: return;
      case Kind::interrupted: throw Interrupted{};
      case Kind::out_of_memory: throw std::bad_alloc{};
      case Kind::other: throw std::runtime_error(message);
    }
  }
};

template <class Function>
class Entry;

// A function of another library, called like a local one.
template <class Result, class... Arguments>
class Entry<Result (*)(Arguments...)> {
 public:
  constexpr Entry() = default;

  template <Result (*function)(Arguments...)>
  static constexpr Entry to() {
    Entry entry;
    entry.guarded_ = &guard<function>;
    return entry;
  }

  Result operator()(Arguments... arguments) const {
    Failure failure;
    if constexpr (std::is_void_v<Result>) {
      guarded_(failure, std::forward<Arguments>(arguments)...);
      failure.rethrow();
    } else {
      Result result = guarded_(failure, std::forward<Arguments>(arguments)...);
      failure.rethrow();
      return result;
    }
  }

 private:
  template <Result (*function)(Arguments...)>
  static Result guard(Failure& failure, Arguments... arguments) {
    try {
      return function(std::forward<Arguments>(arguments)...);
    } catch (const Interrupted&) {
      failure.kind = Failure::Kind::interrupted;
    } catch (const std::bad_alloc&) {
      failure.kind = Failure::Kind::out_of_memory;
    } catch (const std::exception& error) {
      failure.kind = Failure::Kind::other;
      std::strncpy(failure.message, error.what(), sizeof failure.message - 1);
    }
    return Result();
  }

  Result (*guarded_)(Failure&, Arguments...) = nullptr;
};

// The entry of a function. May be used only in the library that defines the function.
template <auto function>
constexpr auto entry = Entry<decltype(function)>::template to<function>();

}  // namespace spectralcls
