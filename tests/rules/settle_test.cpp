#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/history.hpp"

namespace hagi::test {
namespace {

TEST_CASE("a deadline itself is already too late") {
    check_history(R"(
        t=0         a acquire   -> Holding #1
        t=599.999   a status    -> Holding #1
        t=600       a status    -> Expired #1 lease expired
        t=600       events      -> 0 granted a #1; 600 ended a #1 lease expired
    )");
}

TEST_CASE("a claim deadline is 30 s after the hand-off, and already too late") {
    check_history(R"(
        t=0        a acquire   -> Holding #1
        t=1        b acquire   -> Queued 1/1 joined
        t=10       a release   -> None, released hold
        t=39.999   hold        -> b #2 handed off at 10 claimed - heard 10 lease 600 cap 86410
        t=40       b status    -> Expired #2 claim missed
        t=40       events      -> 0 granted a #1; 1 queued b; 10 released a #1 released; 10 handed off b #2; 40 ended b #2 claim missed
    )");
}

TEST_CASE("a waiter leaves 60 s after it was last heard from") {
    check_history(R"(
        t=0        a acquire   -> Holding #1
        t=1        b acquire   -> Queued 1/1 joined
        t=60.999   queue       -> b
        t=61       queue       -> -
        t=70       events      -> 0 granted a #1; 1 queued b; 61 dropped b not polled
        t=70       endings     -> b place not polled
    )");
}

TEST_CASE("the maximum hold counts from the grant, 24 h unless a nearer one was asked for") {
    check_history(R"(
        t=0          a acquire max-hold=60   -> Holding #1
        t=59.999     a renew                 -> Holding #1
        t=60         a status                -> Expired #1 maximum hold
        t=60         a acquire               -> Holding #2, previous Expired #1 maximum hold
        t=600        a renew                 -> Holding #2
        t=86459      hold                    -> -
    )");
}

TEST_CASE("a hold kept alive all day ends at its cap") {
    std::string script = "t=0 a acquire -> Holding #1\n";
    for (int at = 500; at < 86400; at += 500) script += "t=" + std::to_string(at) + " a renew -> Holding #1\n";
    check_history(script + R"(
        t=86399.999   a renew   -> Holding #1
        t=86400       a renew   -> refused LOCK_LOST #1 maximum hold
    )");
}

TEST_CASE("nobody looks, and all that was due happened in its order at its instant") {
    check_history(R"(
        t=0      a acquire lease=30   -> Holding #1
        t=1      b acquire            -> Queued 1/1 joined
        t=2      c acquire            -> Queued 2/2 joined
        t=25     c status             -> Queued 2/2
        t=9999   events  -> 0 granted a #1; 1 queued b; 2 queued c; 30 ended a #1 lease expired; 30 handed off b #2; 60 ended b #2 claim missed; 60 handed off c #3; 90 ended c #3 claim missed
        t=9999   endings -> a #1 lease expired; b #2 claim missed; c #3 claim missed
        t=9999   hold    -> -
    )");
}

TEST_CASE("a waiter that fell silent is passed over at hand-off") {
    check_history(R"(
        t=0    a acquire lease=90   -> Holding #1
        t=1    b acquire            -> Queued 1/1 joined
        t=40   c acquire            -> Queued 2/2 joined
        t=90   hold     -> c #2 handed off at 90 claimed - heard 90 lease 600 cap 86490
        t=90   events   -> 0 granted a #1; 1 queued b; 40 queued c; 61 dropped b not polled; 90 ended a #1 lease expired; 90 handed off c #2
    )");
}

TEST_CASE("ties: at one instant silent waiters leave first, then the hold ends, then the hand-off") {
    check_history(R"(
        t=0    a acquire lease=60   -> Holding #1
        t=0    b acquire            -> Queued 1/1 joined
        t=1    c acquire            -> Queued 2/2 joined
        t=60   hold     -> c #2 handed off at 60 claimed - heard 60 lease 600 cap 86460
        t=60   events   -> 0 granted a #1; 0 queued b; 1 queued c; 60 dropped b not polled; 60 ended a #1 lease expired; 60 handed off c #2
    )");
}

TEST_CASE("ties: a waiter due when an unclaimed grant lapses is not granted either") {
    check_history(R"(
        t=0    a acquire   -> Holding #1
        t=0    b acquire   -> Queued 1/1 joined
        t=5    c acquire   -> Queued 2/2 joined
        t=35   a release   -> None, released hold
        t=65   hold        -> -
        t=65   events      -> 0 granted a #1; 0 queued b; 5 queued c; 35 released a #1 released; 35 handed off b #2; 65 dropped c not polled; 65 ended b #2 claim missed
    )");
}

TEST_CASE("of several causes at one instant the cap is named") {
    check_history(R"(
        t=0     a acquire lease=60 max-hold=60   -> Holding #1
        t=60    a status                         -> Expired #1 maximum hold
    )");
}

TEST_CASE("an unclaimed grant has no lease deadline") {
    check_history(R"(
        t=0        a acquire                       -> Holding #1
        t=1        b acquire lease=30 max-hold=60  -> Queued 1/1 joined
        t=2        a release                       -> None, released hold
        t=31.999   b status                        -> Holding #2
        t=61.998   b status                        -> Holding #2
        t=61.999   b status                        -> Expired #2 lease expired
    )");
    check_history(R"(
        t=0        a acquire                       -> Holding #1
        t=1        b acquire lease=60 max-hold=60  -> Queued 1/1 joined
        t=2        a release                       -> None, released hold
        t=31.999   b status                        -> Holding #2
        t=61.999   b status                        -> Holding #2
        t=62       b status                        -> Expired #2 maximum hold
    )");
}

TEST_CASE("endings are forgotten after 24 h, one for an owner") {
    check_history(R"(
        t=0           a acquire lease=30   -> Holding #1
        t=30          a acquire lease=30   -> Holding #2, previous Expired #1 lease expired
        t=60          endings              -> a #2 lease expired
        t=86459.999   endings              -> a #2 lease expired
        t=86460       endings              -> -
    )");
}

TEST_CASE("epochs only grow, through releases, lapses and idle years") {
    const LockState end = check_history(R"(
        t=0          a acquire lease=30        -> Holding #1
        t=30         b acquire                 -> Holding #2
        t=31         b release                 -> None, released hold
        t=32         a requisition reason=x    -> Holding #3
        t=33         b requisition reason=x    -> Holding #4, displaced a #3
        t=63072000   a acquire                 -> Holding #5
    )");
    CHECK((end.last_epoch == Epoch{5}));
}

TEST_CASE("a lock that was pruned starts above the store's floor") {
    LockState pruned;
    pruned.last_epoch = Epoch{41};
    check_history(R"(
        t=0   a accept    -> refused NOT_FOUND
        t=0   a status    -> None
        t=1   a acquire   -> Holding #42
    )",
                  pruned);
}

TEST_CASE("the last holds are remembered for the expected turn, nine at most") {
    std::string script;
    for (int at = 0; at < 100; at += 10)
        script += "t=" + std::to_string(at) + " a acquire -> Holding #" + std::to_string(at / 10 + 1) +
                  "\nt=" + std::to_string(at + at / 10) + " a release -> None, released hold\n";
    const LockState end = check_history(script);
    REQUIRE(end.recent_holds.size() == 9);
    CHECK((end.recent_holds.front() == Duration{1000}));
    CHECK((end.recent_holds.back() == Duration{9000}));
}

}  // namespace
}  // namespace hagi::test
