#include "tests/support/catch.hpp"
#include "tests/support/history.hpp"

namespace hagi::test {
namespace {

TEST_CASE("renew is one heartbeat and does not move the cap") {
    check_history(R"(
        t=0     a acquire lease=60 max-hold=120   -> Holding #1
        t=59    a renew                           -> Holding #1
        t=59    hold      -> a #1 taken free at 0 claimed 0 heard 59 lease 60 cap 120
        t=118   a renew epoch=1                   -> Holding #1
        t=120   a renew                           -> refused LOCK_LOST #1 maximum hold
        t=120   events    -> 0 granted a #1; 120 ended a #1 maximum hold
    )");
}

TEST_CASE("the lease runs from the last heartbeat, and its deadline is already too late") {
    check_history(R"(
        t=0         a acquire   -> Holding #1
        t=100       a renew     -> Holding #1
        t=699.999   a renew     -> Holding #1
        t=1299.999  a renew     -> refused LOCK_LOST #1 lease expired
    )");
}

TEST_CASE("renew changes the lease, the phase and the note where they are given") {
    check_history(R"(
        t=0    a acquire                          -> Holding #1
        t=10   a renew lease=30 phase=test note=n -> Holding #1
        t=10   hold   -> a #1 taken free at 0 claimed 0 heard 10 lease 30 cap 86400 phase test since 10 note n
        t=20   a renew phase=test                 -> Holding #1
        t=20   hold   -> a #1 taken free at 0 claimed 0 heard 20 lease 30 cap 86400 phase test since 10 note n
        t=30   a renew phase=pack note=           -> Holding #1
        t=30   hold   -> a #1 taken free at 0 claimed 0 heard 30 lease 30 cap 86400 phase pack since 30
        t=60   a renew                            -> refused LOCK_LOST #1 lease expired
    )");
}

TEST_CASE("renew claims a hand-off") {
    check_history(R"(
        t=0    a acquire            -> Holding #1
        t=1    b acquire lease=60   -> Queued 1/1 joined
        t=2    a release            -> None, released hold
        t=31   b renew epoch=2      -> Holding #2
        t=31   hold      -> b #2 handed off at 2 claimed 31 heard 31 lease 60 cap 86402
        t=31   events    -> 0 granted a #1; 1 queued b; 2 released a #1 released; 2 handed off b #2; 31 claimed b #2
    )");
}

TEST_CASE("renew by who does not hold the lock is refused and changes nothing") {
    check_history(R"(
        t=0    a renew            -> refused LOCK_LOST not the holder
        t=0    a acquire          -> Holding #1
        t=1    b renew            -> refused LOCK_LOST not the holder, held by a #1
        t=2    b renew epoch=1    -> refused LOCK_LOST #1 not the holder, held by a #1
        t=3    b acquire          -> Queued 1/1 joined
        // Not heard from: the place is still due at 63.
        t=50   b renew            -> refused LOCK_LOST not the holder, held by a #1
        t=50   b renew phase=p    -> refused LOCK_LOST not the holder, held by a #1
        t=50   place b            -> b since 3 heard 3 lease 600 max-hold 86400
        t=63   queue              -> -
        t=64   b renew            -> refused LOCK_LOST not polled, held by a #1
    )");
}

TEST_CASE("renew with an epoch that is not the current grant's is stale and no heartbeat") {
    check_history(R"(
        t=0     a acquire lease=60   -> Holding #1
        t=10    a release            -> None, released hold
        t=20    a acquire lease=60   -> Holding #2
        t=30    a renew epoch=1      -> refused LOCK_LOST #1 stale epoch, held by a #2
        t=30    a renew epoch=9      -> refused LOCK_LOST #9 stale epoch, held by a #2
        t=30    hold                 -> a #2 taken free at 20 claimed 20 heard 20 lease 60 cap 86420
        t=80    a renew epoch=2      -> refused LOCK_LOST #2 lease expired
    )");
}

TEST_CASE("renew with an old epoch whose ending is remembered says how it ended") {
    check_history(R"(
        t=0      a acquire lease=30       -> Holding #1
        t=40     a acquire                -> Holding #2, previous Expired #1 lease expired
        t=41     a renew epoch=1          -> refused LOCK_LOST #1 lease expired, held by a #2
        t=42     b requisition reason=x   -> Holding #3, displaced a #2
        // The newest ending replaces the older.
        t=43     a renew epoch=1          -> refused LOCK_LOST #1 stale epoch, held by b #3
        t=43     a renew epoch=2          -> refused LOCK_LOST #2 requisitioned, held by b #3
        t=43     a renew                  -> refused LOCK_LOST #2 requisitioned, held by b #3
    )");
}

TEST_CASE("a refusal still says why for 24 h, long after status shows None") {
    check_history(R"(
        t=0          a acquire lease=30   -> Holding #1
        t=3000       a status             -> None
        t=86429.999  a renew epoch=1      -> refused LOCK_LOST #1 lease expired
        t=86430      a renew epoch=1      -> refused LOCK_LOST #1 stale epoch
        t=86430      a renew              -> refused LOCK_LOST not the holder
    )");
}

TEST_CASE("a refused renewal does not claim a hand-off") {
    check_history(R"(
        t=0    a acquire         -> Holding #1
        t=1    b acquire         -> Queued 1/1 joined
        t=2    a release         -> None, released hold
        t=10   b renew epoch=1   -> refused LOCK_LOST #1 stale epoch, held by b #2
        t=10   hold              -> b #2 handed off at 2 claimed - heard 2 lease 600 cap 86402
    )");
}

}  // namespace
}  // namespace hagi::test
