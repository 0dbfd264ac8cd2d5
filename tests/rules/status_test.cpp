#include "tests/support/catch.hpp"
#include "tests/support/history.hpp"

namespace hagi::test {
namespace {

TEST_CASE("status of a lock that was never seen, and of one that others use") {
    check_history(R"(
        t=0   a status    -> None
        t=1   b acquire   -> Holding #1
        t=2   a status    -> None
        t=2   queue       -> -
        t=2   events      -> 1 granted b #1
    )");
}

TEST_CASE("status is no heartbeat of a claimed hold") {
    check_history(R"(
        t=0    a acquire lease=60   -> Holding #1
        t=59   a status             -> Holding #1
        t=60   a status             -> Expired #1 lease expired
    )");
}

TEST_CASE("status claims a hand-off, and claiming starts the lease") {
    check_history(R"(
        t=0      a acquire             -> Holding #1
        t=1      b acquire lease=60    -> Queued 1/1 joined
        t=10     a release             -> None, released hold
        t=10     hold                  -> b #2 handed off at 10 claimed - heard 10 lease 60 cap 86410
        t=39.9   b status              -> Holding #2
        t=39.9   hold                  -> b #2 handed off at 10 claimed 39.9 heard 39.9 lease 60 cap 86410
        t=99.8   b status              -> Holding #2
        t=99.9   b status              -> Expired #2 lease expired
    )");
}

TEST_CASE("status keeps a waiter in the queue") {
    check_history(R"(
        t=0     a acquire   -> Holding #1
        t=0     b acquire   -> Queued 1/1 joined
        t=59    b status    -> Queued 1/1
        t=118   b status    -> Queued 1/1
        t=178   b status    -> Expired place not polled
    )");
}

TEST_CASE("how a hold ended is shown for 600 s, how it was taken by order, too") {
    check_history(R"(
        t=0       a acquire lease=30         -> Holding #1
        t=629.9   a status                   -> Expired #1 lease expired
        t=630     a status                   -> None
        t=630     a acquire                  -> Holding #2
        t=700     b requisition reason=storm -> Holding #3, displaced a #2
        t=1299    a status                   -> Requisitioned #2 requisitioned by b: storm
        t=1300    a status                   -> None
    )");
}

TEST_CASE("a place or grant that is there hides how the one before ended") {
    check_history(R"(
        t=0    a acquire lease=30   -> Holding #1
        t=30   a status             -> Expired #1 lease expired
        t=31   b acquire            -> Holding #2
        t=32   a acquire            -> Queued 1/1 joined, previous Expired #1 lease expired
        t=33   a status             -> Queued 1/1
        t=34   b release            -> None, released hold
        t=35   a status             -> Holding #3
    )");
}

}  // namespace
}  // namespace hagi::test
