#include "tests/support/catch.hpp"
#include "tests/support/history.hpp"

namespace hagi::test {
namespace {

TEST_CASE("a free lock is granted at once, claimed, with the defaults") {
    check_history(R"(
        t=7   a acquire   -> Holding #1
        t=7   hold        -> a #1 taken free at 7 claimed 7 heard 7 lease 600 cap 86407
        t=7   queue       -> -
        t=7   events      -> 7 granted a #1
    )");
}

TEST_CASE("acquire carries label, phase, note, lease and maximum hold into the grant") {
    check_history(R"(
        t=0   a acquire label=raid phase=boot note=first_try lease=30 max-hold=60   -> Holding #1
        t=0   hold     -> a #1 taken free at 0 claimed 0 heard 0 lease 30 cap 60 label raid phase boot since 0 note first try
        t=0   events   -> 0 granted a #1 [raid]
    )");
}

TEST_CASE("a held lock is joined at the back, first come first served") {
    check_history(R"(
        t=0   a acquire   -> Holding #1
        t=1   b acquire   -> Queued 1/1 joined
        t=2   c acquire   -> Queued 2/2 joined
        t=3   d acquire   -> Queued 3/3 joined
        t=4   b acquire   -> Queued 1/3
        t=5   queue       -> b c d
        t=5   events      -> 0 granted a #1; 1 queued b; 2 queued c; 3 queued d
        t=6   a release   -> None, released hold
        t=6   b status    -> Holding #2
        t=7   c status    -> Queued 1/2
        t=8   b release   -> None, released hold
        t=8   c status    -> Holding #3
    )");
}

TEST_CASE("repeating acquire as the holder neither refreshes the lease nor moves the cap nor changes the terms") {
    check_history(R"(
        t=0    a acquire label=one phase=compile note=n1 lease=60 max-hold=120   -> Holding #1
        t=10   a acquire                                                         -> Holding #1
        t=10   hold   -> a #1 taken free at 0 claimed 0 heard 0 lease 60 cap 120 label one phase compile since 0 note n1
        t=20   a acquire label=two phase=test note=n2 lease=600 max-hold=600     -> Holding #1
        t=20   hold   -> a #1 taken free at 0 claimed 0 heard 0 lease 60 cap 120 label two phase test since 20 note n2
        t=30   a acquire phase=test                                              -> Holding #1
        t=30   hold   -> a #1 taken free at 0 claimed 0 heard 0 lease 60 cap 120 label two phase test since 20 note n2
        t=60   hold   -> -
    )");
}

TEST_CASE("a phase that is taken back has no beginning") {
    check_history(R"(
        t=0    a acquire phase=compile   -> Holding #1
        t=5    a acquire phase=          -> Holding #1
        t=5    hold   -> a #1 taken free at 0 claimed 0 heard 0 lease 600 cap 86400
    )");
}

TEST_CASE("repeating acquire as a waiter is heard from, keeps the place and updates what is given") {
    check_history(R"(
        t=0    z acquire                                                          -> Holding #1
        t=1    a acquire                                                          -> Queued 1/1 joined
        t=1    place a   -> a since 1 heard 1 lease 600 max-hold 86400
        t=2    b acquire                                                          -> Queued 2/2 joined
        t=50   a acquire label=l phase=p note=n lease=30 max-hold=90              -> Queued 1/2
        t=50   place a   -> a since 1 heard 50 lease 30 max-hold 90 label l phase p note n
        t=51   a acquire                                                          -> Queued 1/2
        t=51   place a   -> a since 1 heard 51 lease 30 max-hold 90 label l phase p note n
        t=52   z release                                                          -> None, released hold
        t=53   hold      -> a #2 handed off at 52 claimed - heard 52 lease 30 cap 142 label l phase p since 52 note n
    )");
}

TEST_CASE("acquire claims a hand-off of the caller's") {
    check_history(R"(
        t=0    a acquire            -> Holding #1
        t=1    b acquire lease=60   -> Queued 1/1 joined
        t=2    a release            -> None, released hold
        t=20   b acquire            -> Holding #2
        t=20   hold                 -> b #2 handed off at 2 claimed 20 heard 20 lease 60 cap 86402
        t=30   b acquire            -> Holding #2
        t=30   hold                 -> b #2 handed off at 2 claimed 20 heard 20 lease 60 cap 86402
        t=30   events   -> 0 granted a #1; 1 queued b; 2 released a #1 released; 2 handed off b #2; 20 claimed b #2
    )");
}

TEST_CASE("no-queue: a lock that is not free changes nothing and says who holds it") {
    check_history(R"(
        t=0    a acquire no-queue   -> Holding #1
        t=1    a acquire no-queue   -> Holding #1
        t=2    b acquire no-queue   -> refused CONFLICT, held by a #1
        t=2    queue                -> -
        t=3    c acquire            -> Queued 1/1 joined
        // A refused request is not heard from: c is still due at 63.
        t=50   c acquire no-queue label=l   -> refused CONFLICT, held by a #1
        t=50   place c              -> c since 3 heard 3 lease 600 max-hold 86400
        t=63   queue                -> -
    )");
}

TEST_CASE("no-queue claims the caller's own hand-off") {
    check_history(R"(
        t=0    a acquire            -> Holding #1
        t=1    b acquire            -> Queued 1/1 joined
        t=2    a release            -> None, released hold
        t=20   b acquire no-queue   -> Holding #2
        t=20   hold                 -> b #2 handed off at 2 claimed 20 heard 20 lease 600 cap 86402
    )");
}

TEST_CASE("a look without waiting leaves no place and no event behind") {
    check_history(R"(
        t=0    a acquire             -> Holding #1
        t=1    b acquire look-once   -> Queued 1/1, released place
        t=1    queue                 -> -
        t=2    c acquire             -> Queued 1/1 joined
        t=3    b acquire look-once   -> Queued 2/2, released place
        t=3    queue                 -> c
        // A place that it found stays, heard from.
        t=40   c acquire look-once   -> Queued 1/1
        t=40   place c               -> c since 2 heard 40 lease 600 max-hold 86400
        t=40   events                -> 0 granted a #1; 2 queued c
        t=41   c release             -> None, released place
        t=41   a release             -> None, released hold
        t=42   b acquire look-once   -> Holding #2
    )");
}

TEST_CASE("an owner whose earlier hold ended within memory is told so") {
    check_history(R"(
        t=0      a acquire lease=30   -> Holding #1
        t=40     a acquire lease=60   -> Holding #2, previous Expired #1 lease expired
        // Told again when the request is repeated, and only within its memory of 600 s.
        t=41     a acquire            -> Holding #2, previous Expired #1 lease expired
        t=99     a renew lease=600    -> Holding #2
        t=629.9  a acquire            -> Holding #2, previous Expired #1 lease expired
        t=630    a acquire            -> Holding #2
    )");
}

TEST_CASE("an owner whose place was dropped is told so when it joins again, at the back") {
    check_history(R"(
        t=0    z acquire               -> Holding #1
        t=1    a acquire               -> Queued 1/1 joined
        t=2    b acquire               -> Queued 2/2 joined
        t=50   b status                -> Queued 2/2
        t=61   a acquire look-once     -> Queued 2/2, released place, previous Expired place not polled
        t=62   a acquire               -> Queued 2/2 joined, previous Expired place not polled
        t=63   a acquire               -> Queued 2/2, previous Expired place not polled
        t=63   queue                   -> b a
    )");
}

TEST_CASE("the newest process waits at a place, and is told of the one before it") {
    check_history(R"(
        t=0    z acquire             -> Holding #1
        t=1    a acquire             -> Queued 1/1 joined
        t=2    a acquire process=11  -> Queued 1/1
        t=3    a acquire process=11  -> Queued 1/1
        t=4    a acquire process=12  -> Queued 1/1, earlier process 11
        t=5    a acquire             -> Queued 1/1
        t=6    a status              -> Queued 1/1
        t=6    place a               -> a since 1 heard 6 lease 600 max-hold 86400 process 12
        t=7    b acquire process=13  -> Queued 2/2 joined
        t=7    place b               -> b since 7 heard 7 lease 600 max-hold 86400 process 13
    )");
}

}  // namespace
}  // namespace hagi::test
