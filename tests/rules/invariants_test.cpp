#include "lockcore/invariants.hpp"

#include <functional>

#include "lockcore/limits.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/history.hpp"

namespace hagi::test {
namespace {

LockState sound_state() {
    return check_history(R"(
        t=0    d acquire lease=30                 -> Holding #1
        t=30   e acquire lease=30                 -> Holding #2
        t=60   a acquire phase=compile lease=60   -> Holding #3
        t=61   a accept                           -> Holding #3
        t=62   b acquire                          -> Queued 1/1 joined
        t=63   c acquire                          -> Queued 2/2 joined
    )");
}

constexpr Instant kSoundAt{63'000};
constexpr Instant kTooLate{63'001};

// The number with which the complaint about a state begins, '-' where there is none.
char number_broken_by(const std::function<void(LockState&)>& damage) {
    LockState state = sound_state();
    damage(state);
    return broken_invariant(state, kSoundAt).value_or("-").front();
}

TEST_CASE("a sound state breaks nothing") {
    CHECK_FALSE(broken_invariant({}, {}).has_value());
    CHECK(number_broken_by([](LockState&) {}) == '-');
    CHECK(number_broken_by([](LockState& s) { s.hold.reset(), s.queue.clear(); }) == '-');
}

TEST_CASE("damage to the hold is seen") {
    CHECK(number_broken_by([](LockState& s) { s.hold->owner = {}; }) == '1');
    CHECK(number_broken_by([](LockState& s) { s.hold.reset(); }) == '2');
    CHECK(number_broken_by([](LockState& s) { s.hold->owner = Owner("b"); }) == '3');
    CHECK(number_broken_by([](LockState& s) { s.hold->epoch = Epoch{4}; }) == '5');
    CHECK(number_broken_by([](LockState& s) { s.hold->epoch = Epoch{0}; }) == '5');
    CHECK(number_broken_by([](LockState& s) { s.known = false; }) == '5');
    CHECK(number_broken_by([](LockState& s) { s.last_epoch = Epoch{2}; }) == '5');
    CHECK(number_broken_by([](LockState& s) { s.last_epoch = Epoch{-1}; }) == '5');
    CHECK(number_broken_by([](LockState& s) { s.hold->lease = kMinLease - Duration{1}; }) == '6');
    CHECK(number_broken_by([](LockState& s) { s.hold->lease = kMinLease; }) == '-');
    CHECK(number_broken_by([](LockState& s) { s.hold->lease = kMaxLease; }) == '-');
    CHECK(number_broken_by([](LockState& s) { s.hold->lease = kMaxLease + Duration{1}; }) == '6');
    const auto cap_after = [](Duration hold) {
        return number_broken_by([=](LockState& s) { s.hold->hard_cap = s.hold->granted_at + hold; });
    };
    CHECK(cap_after(kMinMaximumHold - Duration{1}) == '6');
    CHECK(cap_after(kMinMaximumHold) == '-');
    CHECK(cap_after(kMaximumHold) == '-');
    CHECK(cap_after(kMaximumHold + Duration{1}) == '6');
    CHECK(number_broken_by([](LockState& s) { s.hold->last_feedback = Instant{0}; }) == '6');
    CHECK(number_broken_by([](LockState& s) { s.hold->claimed_at = Instant{0}; }) == '6');
    CHECK(number_broken_by([](LockState& s) { s.hold->claimed_at.reset(); }) == '6');
    CHECK(number_broken_by([](LockState& s) { s.hold->phase_since.reset(); }) == '6');
    CHECK(number_broken_by([](LockState& s) { s.hold->phase = {}; }) == '6');
}

TEST_CASE("what has not happened yet is seen") {
    CHECK(number_broken_by([](LockState& s) { s.hold->last_feedback = kSoundAt; }) == '-');
    CHECK(number_broken_by([](LockState& s) { s.hold->last_feedback = kTooLate; }) == '6');
    CHECK(number_broken_by([](LockState& s) { s.hold->claimed_at = kTooLate; }) == '6');
    CHECK(number_broken_by([](LockState& s) { s.hold->accepted_at = kTooLate; }) == '6');
    CHECK(number_broken_by([](LockState& s) { s.hold->phase_since = kTooLate; }) == '6');
    CHECK(number_broken_by([](LockState& s) { s.hold->nudges.push_back({Owner("b"), kTooLate, Reason("r")}); }) == '6');
    CHECK(number_broken_by([](LockState& s) { s.hold->watchers.push_back({{}, {}, kTooLate}); }) == '6');
    CHECK(number_broken_by([](LockState& s) {
              s.hold->granted_at = s.hold->last_feedback = kTooLate;
              s.hold->claimed_at = s.hold->accepted_at = s.hold->phase_since = std::nullopt;
          }) == '6');
    CHECK(number_broken_by([](LockState& s) { s.queue[1].last_heard = kSoundAt; }) == '-');
    CHECK(number_broken_by([](LockState& s) { s.queue[1].last_heard = kTooLate; }) == '4');
    CHECK(number_broken_by([](LockState& s) { s.queue[1].enqueued_at = s.queue[1].last_heard = kTooLate; }) == '4');
    CHECK(number_broken_by([](LockState& s) { s.endings[0].at = kTooLate; }) == '3');
}

TEST_CASE("an unclaimed hold is a hand-off that nobody was heard from about") {
    const auto unclaimed = [](LockState& s) {
        s.hold->granted_how = GrantKind::HandedOff;
        s.hold->claimed_at.reset();
        s.hold->accepted_at.reset();
    };
    CHECK(number_broken_by([&](LockState& s) { unclaimed(s); }) == '-');
    CHECK(number_broken_by([&](LockState& s) { unclaimed(s), s.hold->granted_how = GrantKind::TakenFree; }) == '6');
    CHECK(number_broken_by([&](LockState& s) { unclaimed(s), s.hold->accepted_at = Instant{62'000}; }) == '6');
    CHECK(number_broken_by([&](LockState& s) { unclaimed(s), s.hold->last_feedback = Instant{61'000}; }) == '6');
}

TEST_CASE("damage to the queue, the endings and the history is seen") {
    CHECK(number_broken_by([](LockState& s) { s.queue[0].owner = {}; }) == '3');
    CHECK(number_broken_by([](LockState& s) { s.queue[1].owner = Owner("b"); }) == '3');
    CHECK(number_broken_by([](LockState& s) { std::swap(s.queue[0], s.queue[1]); }) == '4');
    CHECK(number_broken_by([](LockState& s) { s.queue[0].last_heard = Instant{1}; }) == '4');
    CHECK(number_broken_by([](LockState& s) { s.queue[0].lease = Duration{0}; }) == '6');
    CHECK(number_broken_by([](LockState& s) { s.queue[0].maximum_hold = Duration{0}; }) == '6');
    CHECK(number_broken_by([](LockState& s) { s.endings[0].epoch = Epoch{4}; }) == '5');
    CHECK(number_broken_by([](LockState& s) { s.endings[0].epoch = Epoch{-1}; }) == '5');
    CHECK(number_broken_by([](LockState& s) { s.endings[1].owner = s.endings[0].owner; }) == '3');
    CHECK(number_broken_by([](LockState& s) { s.recent_holds.assign(10, Duration{1}); }) == '3');
}

}  // namespace
}  // namespace hagi::test
