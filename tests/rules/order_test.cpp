#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/history.hpp"

namespace hagi::test {
namespace {

TEST_CASE("stop ends the hold without taking it, and the first waiter gets its turn") {
    check_history(R"(
        t=0    a acquire              -> Holding #1
        t=1    b acquire              -> Queued 1/1 joined
        t=9    x stop reason=upgrade  -> None, displaced a #1
        t=9    hold     -> b #2 handed off at 9 claimed - heard 9 lease 600 cap 86409
        t=10   a status -> Requisitioned #1 stopped by x: upgrade
        t=10   a renew  -> refused LOCK_LOST #1 stopped, held by b #2
        t=10   a accept epoch=1   -> refused WORK_LEASE_LOST #1 stopped, held by b #2
        t=10   events   -> 0 granted a #1; 1 queued b; 9 ended a #1 stopped by x: upgrade; 9 handed off b #2
    )");
}

TEST_CASE("stop where nobody holds changes nothing, with an epoch it ends that grant only") {
    check_history(R"(
        t=0    x stop reason=y           -> None
        t=0    x stop reason=y epoch=1   -> refused CONFLICT #1
        t=1    a acquire                 -> Holding #1
        t=2    x stop reason=y epoch=2   -> refused CONFLICT #2, held by a #1
        t=3    x stop reason=y epoch=1   -> None, displaced a #1
        t=4    x stop reason=y epoch=1   -> refused CONFLICT #1
        t=5    hold                      -> -
    )");
}

TEST_CASE("who stops is not heard from: a turn that it gains so is unclaimed") {
    check_history(R"(
        t=0    a acquire         -> Holding #1
        t=1    b acquire         -> Queued 1/1 joined
        t=9    b stop reason=y   -> Holding #2, displaced a #1
        t=9    hold              -> b #2 handed off at 9 claimed - heard 9 lease 600 cap 86409
    )");
}

TEST_CASE("a nudge is shown with the grant, dies with it and changes nothing else") {
    check_history(R"(
        t=0    b nudge reason=hurry   -> refused NOT_FOUND
        t=0    a acquire              -> Holding #1
        t=1    b acquire              -> Queued 1/1 joined
        t=2    b nudge reason=hurry   -> Queued 1/1
        t=2    wake                   -> a
        t=2    place b                -> b since 1 heard 1 lease 600 max-hold 86400
        t=3    c nudge reason=please  -> None
        t=4    b nudge reason=now     -> Queued 1/1
        t=4    hold    -> a #1 taken free at 0 claimed 0 heard 0 lease 600 cap 86400 nudged by c at 3: please nudged by b at 4: now
        t=5    a release              -> None, released hold
        t=5    hold    -> b #2 handed off at 5 claimed - heard 5 lease 600 cap 86405
        t=6    b release              -> None, released hold
        t=7    c nudge reason=please  -> None
        t=7    events  -> 0 granted a #1; 1 queued b; 2 nudged a #1 by b: hurry; 3 nudged a #1 by c: please; 4 nudged a #1 by b: now; 5 released a #1 released; 5 handed off b #2; 6 released b #2 released
    )");
}

TEST_CASE("the newest eight nudges are kept") {
    std::string script = "t=0 a acquire max-hold=60 -> Holding #1\n";
    for (int i = 1; i <= 9; ++i)
        script += "t=" + std::to_string(i) + " n" + std::to_string(i) + " nudge reason=x -> None\n";
    const LockState end = check_history(script);
    REQUIRE(end.hold->nudges.size() == 8);
    CHECK(end.hold->nudges.front().by.str() == "n2");
}

}  // namespace
}  // namespace hagi::test
