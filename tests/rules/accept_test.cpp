#include "tests/support/catch.hpp"
#include "tests/support/history.hpp"

namespace hagi::test {
namespace {

TEST_CASE("accept records its time once for a grant and is no heartbeat") {
    check_history(R"(
        t=0    a acquire lease=60   -> Holding #1
        t=10   a accept             -> Holding #1
        t=10   hold     -> a #1 taken free at 0 claimed 0 heard 0 lease 60 cap 86400 accepted 10
        t=20   a accept epoch=1     -> Holding #1
        t=20   hold     -> a #1 taken free at 0 claimed 0 heard 0 lease 60 cap 86400 accepted 10
        t=20   events   -> 0 granted a #1; 10 accepted a #1
        t=60   a accept             -> refused WORK_LEASE_LOST #1 lease expired
        t=60   a accept epoch=1     -> refused WORK_LEASE_LOST #1 lease expired
    )");
}

TEST_CASE("acquire accepts in the same step where it is asked to and the lock is free") {
    check_history(R"(
        t=0    a acquire and-accept   -> Holding #1
        t=0    hold     -> a #1 taken free at 0 claimed 0 heard 0 lease 600 cap 86400 accepted 0
        t=1    b acquire and-accept   -> Queued 1/1 joined
        t=2    a release              -> None, released hold
        t=3    b acquire and-accept   -> Holding #2
        t=3    hold     -> b #2 handed off at 2 claimed 3 heard 3 lease 600 cap 86402
        t=3    events   -> 0 granted a #1; 0 accepted a #1; 1 queued b; 2 released a #1 released; 2 handed off b #2; 3 claimed b #2
    )");
}

TEST_CASE("a look accepts in the same step where it is asked to and the caller holds the lock by then") {
    check_history(R"(
        t=0    x status and-accept          -> None
        t=0    a acquire                    -> Holding #1
        t=1    b acquire                    -> Queued 1/1 joined
        t=2    b status and-accept run=12   -> Queued 1/1
        t=3    a release                    -> None, released hold
        t=33   x status and-accept          -> None
        t=33   b status and-accept run=12   -> Expired #2 claim missed
        t=34   b acquire                    -> Holding #3, previous Expired #2 claim missed
        t=35   b status and-accept run=12   -> Holding #3
        t=36   b status and-accept          -> Holding #3
        t=36   hold     -> b #3 taken free at 34 claimed 34 heard 34 lease 600 cap 86434 accepted 35 bound to 12
        t=37   c acquire                    -> Queued 1/1 joined
        t=38   b release                    -> None, released hold
        t=39   c status and-accept run=13   -> Holding #4
        t=39   hold     -> c #4 handed off at 38 claimed 39 heard 39 lease 600 cap 86438 accepted 39 bound to 13
    )");
}

TEST_CASE("a grant starts unaccepted, whoever had accepted the one before") {
    check_history(R"(
        t=0    a acquire   -> Holding #1
        t=1    a accept    -> Holding #1
        t=2    a release   -> None, released hold
        t=3    a acquire   -> Holding #2
        t=3    hold        -> a #2 taken free at 3 claimed 3 heard 3 lease 600 cap 86403
        t=4    b acquire   -> Queued 1/1 joined
        t=5    a accept    -> Holding #2
        t=6    a release   -> None, released hold
        t=6    hold        -> b #3 handed off at 6 claimed - heard 6 lease 600 cap 86406
    )");
}

TEST_CASE("accept wants at least so much of the lease left") {
    check_history(R"(
        t=0      a acquire lease=60            -> Holding #1
        t=30     a accept min-left=31          -> refused WORK_LEASE_LOST #1 too little left, held by a #1
        t=30     a accept min-left=30.001      -> refused WORK_LEASE_LOST #1 too little left, held by a #1
        t=30     hold   -> a #1 taken free at 0 claimed 0 heard 0 lease 60 cap 86400
        t=30     a accept min-left=30          -> Holding #1
        t=31     a accept min-left=30          -> refused WORK_LEASE_LOST #1 too little left, held by a #1
    )");
}

TEST_CASE("accept counts the cap, too") {
    check_history(R"(
        t=0      a acquire max-hold=60    -> Holding #1
        t=40     a accept min-left=21     -> refused WORK_LEASE_LOST #1 too little left, held by a #1
        t=40     a accept min-left=20     -> Holding #1
        t=60     a accept                 -> refused WORK_LEASE_LOST #1 maximum hold
    )");
}

TEST_CASE("accept claims an unclaimed grant where it succeeds, and only there") {
    check_history(R"(
        t=0    a acquire                -> Holding #1
        t=1    b acquire lease=60       -> Queued 1/1 joined
        t=2    a release                -> None, released hold
        t=10   b accept min-left=61     -> refused WORK_LEASE_LOST #2 too little left, held by b #2
        t=11   b accept epoch=1         -> refused WORK_LEASE_LOST #1 stale epoch, held by b #2
        t=11   hold                     -> b #2 handed off at 2 claimed - heard 2 lease 60 cap 86402
        // Claiming starts the lease, so all of it is left.
        t=12   b accept min-left=60     -> Holding #2
        t=12   hold                     -> b #2 handed off at 2 claimed 12 heard 12 lease 60 cap 86402 accepted 12
        t=12   events   -> 0 granted a #1; 1 queued b; 2 released a #1 released; 2 handed off b #2; 12 claimed b #2; 12 accepted b #2
    )");
}

TEST_CASE("accept on a lock that was never seen") {
    check_history(R"(
        t=0   a accept           -> refused NOT_FOUND
        t=0   a accept epoch=1   -> refused NOT_FOUND #1
    )");
}

TEST_CASE("accept by a stranger: the work is alive for its owner") {
    check_history(R"(
        t=0   a acquire          -> Holding #1
        t=1   b accept           -> refused CONFLICT, held by a #1
        t=1   b accept epoch=1   -> refused CONFLICT #1, held by a #1
        t=2   b accept epoch=7   -> refused WORK_LEASE_LOST #7 stale epoch, held by a #1
        t=3   b acquire          -> Queued 1/1 joined
        t=50  b accept           -> refused CONFLICT, held by a #1
        t=50  place b            -> b since 3 heard 3 lease 600 max-hold 86400
    )");
}

TEST_CASE("accept by a dropped waiter that never held it is a stranger's") {
    check_history(R"(
        t=0    a acquire   -> Holding #1
        t=1    b acquire   -> Queued 1/1 joined
        t=61   b accept    -> refused CONFLICT, held by a #1
    )");
}

TEST_CASE("accept by a former holder is lost even though the lock is alive for another") {
    check_history(R"(
        t=0    a acquire lease=30   -> Holding #1
        t=30   b acquire            -> Holding #2
        t=31   a accept             -> refused WORK_LEASE_LOST #1 lease expired, held by b #2
        t=31   a accept epoch=1     -> refused WORK_LEASE_LOST #1 lease expired, held by b #2
        t=31   a accept epoch=2     -> refused WORK_LEASE_LOST #2 not the holder, held by b #2
        t=32   c requisition reason=x   -> Holding #3, displaced b #2
        t=33   b accept             -> refused WORK_LEASE_LOST #2 requisitioned, held by c #3
    )");
}

TEST_CASE("accept on a known, free lock where nothing is remembered") {
    check_history(R"(
        t=0    a acquire          -> Holding #1
        t=1    a release          -> None, released hold
        t=2    a accept           -> refused WORK_LEASE_LOST not the holder
        t=2    a accept epoch=1   -> refused WORK_LEASE_LOST #1 stale epoch
        t=2    b accept           -> refused WORK_LEASE_LOST not the holder
    )");
}

}  // namespace
}  // namespace hagi::test
