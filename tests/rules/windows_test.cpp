#include "lockcore/windows.hpp"

#include "lockcore/rules.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/history.hpp"

namespace hagi::test {
namespace {

TEST_CASE("a holder's windows: its lease, its cap, its next heartbeat") {
    check_history(R"(
        t=0     a acquire                          -> Holding #1
        t=0     windows a   -> valid 600 cap 86400 check-in 120..600 turn -..-..-
        t=10    a renew lease=90                   -> Holding #1
        t=10    windows a   -> valid 100 cap 86400 check-in 40..100 turn -..-..-
        t=10    windows b   -> valid - cap - check-in -..- turn -..-..-
    )");
}

TEST_CASE("the cap is the end where it is nearer than the lease") {
    check_history(R"(
        t=0     a acquire max-hold=100             -> Holding #1
        t=0     windows a   -> valid 100 cap 100 check-in 100..100 turn -..-..-
    )");
}

TEST_CASE("an unclaimed hand-off is valid until its claim deadline") {
    check_history(R"(
        t=0    a acquire    -> Holding #1
        t=1    b acquire    -> Queued 1/1 joined
        t=2    a release    -> None, released hold
        t=2    windows b    -> valid 32 cap 86402 check-in 32..32 turn -..-..-
        t=5    b status     -> Holding #2
        t=5    windows b    -> valid 605 cap 86402 check-in 125..605 turn -..-..-
    )");
}

TEST_CASE("a waiter's windows: its next poll, its TTL, and its turn if all ahead keep the lock as long as they may") {
    check_history(R"(
        t=0    a acquire max-hold=1000   -> Holding #1
        t=1    b acquire max-hold=500    -> Queued 1/1 joined
        t=2    c acquire                 -> Queued 2/2 joined
        t=3    windows b   -> valid - cap - check-in 16..61 turn 3..-..1000
        t=3    windows c   -> valid - cap - check-in 17..62 turn 3..-..1500
    )");
}

TEST_CASE("the expected turn comes from the median of the recent holds") {
    check_history(R"(
        t=0     a acquire    -> Holding #1
        t=100   a release    -> None, released hold
        t=100   a acquire    -> Holding #2
        t=120   a release    -> None, released hold
        t=120   a acquire    -> Holding #3
        t=160   a release    -> None, released hold
        t=200   a acquire    -> Holding #4
        t=201   b acquire    -> Queued 1/1 joined
        t=202   c acquire    -> Queued 2/2 joined
        t=210   windows b    -> valid - cap - check-in 216..261 turn 210..240..86600
        t=210   windows c    -> valid - cap - check-in 217..262 turn 210..280..173000
        // The holder has had its share: any moment now.
        t=250   windows b    -> valid - cap - check-in 216..261 turn 250..250..86600
    )");
}

TEST_CASE("the expected turn is never later than the latest one") {
    check_history(R"(
        t=0     a acquire               -> Holding #1
        t=400   a release               -> None, released hold
        t=400   a acquire max-hold=60   -> Holding #2
        t=401   b acquire               -> Queued 1/1 joined
        t=402   windows b    -> valid - cap - check-in 416..461 turn 402..460..460
    )");
}

TEST_CASE("a beat is due every 120 s, or every third of a shorter lease") {
    CHECK((beat_interval(Duration{600'000}) == Duration{120'000}));
    CHECK((beat_interval(Duration{360'000}) == Duration{120'000}));
    CHECK((beat_interval(Duration{359'997}) == Duration{119'999}));
    CHECK((beat_interval(Duration{30'000}) == Duration{10'000}));
}

TEST_CASE("the next change is the holder's end, for itself and for a waiter, and none for others") {
    LockState state = check_history(R"(
        t=0    a acquire lease=60   -> Holding #1
        t=1    b acquire            -> Queued 1/1 joined
    )");
    const Instant now{2000};
    CHECK((next_change(decide(state, {Owner("a"), StatusRequest{}, {}, {}}, now).answer) == Instant{60'000}));
    CHECK((next_change(decide(state, {Owner("b"), StatusRequest{}, {}, {}}, now).answer) == Instant{60'000}));
    CHECK_FALSE(next_change(decide(state, {Owner("c"), StatusRequest{}, {}, {}}, now).answer).has_value());
    CHECK_FALSE(next_change(decide({}, {Owner("c"), StatusRequest{}, {}, {}}, now).answer).has_value());
}

TEST_CASE("without history there is no typical hold") {
    LockState state;
    CHECK_FALSE(typical_hold(state).has_value());
    state.recent_holds = {Duration{3}, Duration{1}, Duration{2}};
    CHECK((typical_hold(state) == Duration{2}));
}

}  // namespace
}  // namespace hagi::test
