// The distinct types of the protocol: what an int64_t or a std::string would leave to the reader.
// Plain values from the standard library; safe to use everywhere, from any thread.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace hagi {

// Every length of time in the core. What the user states in whole seconds is kept in milliseconds.
using Duration = std::chrono::milliseconds;

// A point in one store's own time: milliseconds since an origin that only that store knows.
// It is not wall-clock time (see clock.hpp) and only instants of one store compare.
struct Instant {
    std::int64_t milliseconds = 0;

    friend constexpr auto operator<=>(Instant, Instant) = default;
    friend constexpr Instant operator+(Instant at, Duration by) { return {at.milliseconds + by.count()}; }
    friend constexpr Instant operator-(Instant at, Duration by) { return {at.milliseconds - by.count()}; }
    friend constexpr Duration operator-(Instant later, Instant earlier) {
        return Duration{later.milliseconds - earlier.milliseconds};
    }
};

// Numbers one grant of one lock: the fencing token. It only ever grows; 0 stands for "none issued yet".
struct Epoch {
    std::int64_t value = 0;

    friend constexpr auto operator<=>(Epoch, Epoch) = default;
    [[nodiscard]] constexpr Epoch next() const { return {value + 1}; }
};

// A text that is of one kind and no other. names.hpp holds the rules that a user's text must meet;
// constructing one checks nothing, since what a store holds must be shown even when a stranger wrote it.
template <class Kind>
class Text {
public:
    Text() = default;
    explicit Text(std::string text) : text_(std::move(text)) {}

    [[nodiscard]] const std::string& str() const { return text_; }
    [[nodiscard]] bool empty() const { return text_.empty(); }

    friend auto operator<=>(const Text&, const Text&) = default;

private:
    std::string text_;
};

using LockId = Text<struct LockIdKind>;  // what is locked, e.g. "eu-1/duckov"
using Owner = Text<struct OwnerKind>;    // the caller's session id, e.g. "sess-7f2c"
using Label = Text<struct LabelKind>;    // what the lock is wanted for; empty: not given
using Note = Text<struct NoteKind>;      // free text about progress; empty: not given
using Phase = Text<struct PhaseKind>;    // one step of the work, e.g. "compile"; empty: not reported
using Reason = Text<struct ReasonKind>;  // why a lock was taken by order; empty: none

}  // namespace hagi
