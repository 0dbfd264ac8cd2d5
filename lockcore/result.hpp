// A value or the reason why there is none. Refusals of the protocol are answers (answer.hpp), not errors;
// a broken promise of the code itself is an assertion (invariants.hpp).
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace hagi {

enum class ErrorKind {
    Usage,             // the words of a call do not fit together
    InvalidArgument,   // a text breaks the rules of names.hpp
    PermissionDenied,  // the store may not be read or written, or is in an unsafe place
    NotFound,          // the folder that was named does not exist
    Unusable,          // of a newer version, or of a kind that cannot be used from here
    Damaged,           // not ours, or its bytes contradict themselves
    Unreachable,       // cannot be read or written just now: busy, I/O error, full
    Gone,              // unreachable because its file was deleted, moved or replaced
    Defect,            // a mistake in this program
};

// `message` is "what went wrong: what to do", one line, without a trailing full stop or newline.
struct Error {
    ErrorKind kind = ErrorKind::Defect;
    std::string message;
};

template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : held_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
    Result(Error error) : held_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

    [[nodiscard]] bool ok() const { return held_.index() == 0; }
    explicit operator bool() const { return ok(); }

    // Only where ok(): a wrong access throws std::bad_variant_access, which main reports as a defect.
    [[nodiscard]] T& value() & { return std::get<0>(held_); }
    [[nodiscard]] const T& value() const& { return std::get<0>(held_); }
    [[nodiscard]] T&& value() && { return std::get<0>(std::move(held_)); }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    // Only where !ok().
    [[nodiscard]] const Error& error() const { return std::get<1>(held_); }

private:
    std::variant<T, Error> held_;
};

// Success without a value.
struct Done {};
using Outcome = Result<Done>;

}  // namespace hagi
