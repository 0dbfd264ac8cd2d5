#include "tests/support/catch.hpp"
#include "tests/support/history.hpp"

namespace hagi::test {
namespace {

TEST_CASE("a grant is bound in the request that takes, claims or accepts it") {
    check_history(R"(
        t=0    a acquire run=11   -> Holding #1
        t=0    hold     -> a #1 taken free at 0 claimed 0 heard 0 lease 600 cap 86400 bound to 11
        t=1    b acquire run=12   -> Queued 1/1 joined
        t=2    a release          -> None, released hold
        t=2    hold     -> b #2 handed off at 2 claimed - heard 2 lease 600 cap 86402
        t=3    b status run=12    -> Holding #2
        t=3    hold     -> b #2 handed off at 2 claimed 3 heard 3 lease 600 cap 86402 bound to 12
        t=4    b release          -> None, released hold
        t=5    c acquire          -> Holding #3
        t=6    c accept run=13    -> Holding #3
        t=6    hold     -> c #3 taken free at 5 claimed 5 heard 5 lease 600 cap 86405 accepted 6 bound to 13
    )");
}

TEST_CASE("processes that are gone end their grant at the next look, and the first waiter gets its turn") {
    check_history(R"(
        t=0    a acquire run=11    -> Holding #1
        t=1    b acquire           -> Queued 1/1 joined
        t=5    x status gone=1     -> None
        t=5    wake                -> b a
        t=5    a status            -> Expired #1 process gone
        t=6    a accept epoch=1    -> refused WORK_LEASE_LOST #1 process gone, held by b #2
        t=6    events   -> 0 granted a #1; 1 queued b; 5 ended a #1 process gone; 5 handed off b #2
    )");
}

TEST_CASE("processes of an older grant say nothing about this one") {
    check_history(R"(
        t=0    a acquire run=11    -> Holding #1
        t=1    a release           -> None, released hold
        t=2    a acquire           -> Holding #2
        t=3    x status gone=1     -> None
        t=3    a status            -> Holding #2
    )");
}

TEST_CASE("run is refused where its owner holds or waits through another process") {
    check_history(R"(
        t=0    a acquire           -> Holding #1
        t=1    a acquire run=11    -> refused CONFLICT, held by a #1
        t=2    b acquire           -> Queued 1/1 joined
        t=50   b acquire run=12    -> refused CONFLICT, held by a #1
        t=50   place b             -> b since 2 heard 2 lease 600 max-hold 86400
        t=51   a release           -> None, released hold
        t=52   c acquire run=13    -> Queued 1/1 joined
        t=53   b release           -> None, released hold
        t=54   c status run=13     -> Holding #3
        t=55   c acquire run=13    -> Holding #3
        t=56   c acquire run=14    -> refused CONFLICT, held by c #3
    )");
}

TEST_CASE("watchers are seen: the newest four, one entry each, gone with the grant") {
    check_history(R"(
        t=0    a acquire          -> Holding #1
        t=1    a renew watch=1    -> Holding #1
        t=2    a renew watch=2    -> Holding #1
        t=3    a renew watch=1    -> Holding #1
        t=3    hold   -> a #1 taken free at 0 claimed 0 heard 3 lease 600 cap 86400 watched by 2 since 2 watched by 1 since 3
        t=4    a renew watch=3    -> Holding #1
        t=5    a renew watch=4    -> Holding #1
        t=6    a renew watch=5    -> Holding #1
        t=6    hold   -> a #1 taken free at 0 claimed 0 heard 6 lease 600 cap 86400 watched by 1 since 3 watched by 3 since 4 watched by 4 since 5 watched by 5 since 6
        t=7    a release          -> None, released hold
        t=7    a acquire          -> Holding #2
        t=7    hold   -> a #2 taken free at 7 claimed 7 heard 7 lease 600 cap 86407
    )");
}

}  // namespace
}  // namespace hagi::test
