#include "tests/support/catch.hpp"
#include "tests/support/history.hpp"

namespace hagi::test {
namespace {

TEST_CASE("release gives back the hold and the next waiter is granted at once") {
    check_history(R"(
        t=0    a acquire             -> Holding #1
        t=1    b acquire label=bee   -> Queued 1/1 joined
        t=9    a release             -> None, released hold
        t=9    hold     -> b #2 handed off at 9 claimed - heard 9 lease 600 cap 86409 label bee
        t=9    events   -> 0 granted a #1; 1 queued b [bee]; 9 released a #1 released; 9 handed off b #2 [bee]
    )");
}

TEST_CASE("release leaves the queue, and the order of the others stays") {
    check_history(R"(
        t=0    a acquire   -> Holding #1
        t=1    b acquire   -> Queued 1/1 joined
        t=2    c acquire   -> Queued 2/2 joined
        t=3    d acquire   -> Queued 3/3 joined
        t=4    c release   -> None, released place
        t=4    queue       -> b d
        t=4    events      -> 0 granted a #1; 1 queued b; 2 queued c; 3 queued d; 4 left c left
    )");
}

TEST_CASE("release where there is nothing to give back succeeds and changes nothing") {
    check_history(R"(
        t=0    a release    -> None, released nothing
        t=1    b acquire    -> Holding #1
        t=2    a release    -> None, released nothing
        t=2    hold         -> b #1 taken free at 1 claimed 1 heard 1 lease 600 cap 86401
        t=3    events       -> 1 granted b #1
    )");
}

TEST_CASE("release with an epoch gives back only that grant and never a place") {
    check_history(R"(
        t=0    a acquire           -> Holding #1
        t=1    b acquire           -> Queued 1/1 joined
        t=2    a release epoch=7   -> Holding #1, released nothing: stale epoch
        t=3    b release epoch=1   -> Queued 1/1, released nothing: stale epoch
        t=3    place b             -> b since 1 heard 1 lease 600 max-hold 86400
        t=4    a release epoch=1   -> None, released hold
        t=5    a release epoch=1   -> None, released nothing: stale epoch
        t=5    hold                -> b #2 handed off at 4 claimed - heard 4 lease 600 cap 86404
    )");
}

TEST_CASE("an unclaimed hand-off can be given back") {
    check_history(R"(
        t=0    a acquire   -> Holding #1
        t=1    b acquire   -> Queued 1/1 joined
        t=2    a release   -> None, released hold
        t=3    b release   -> None, released hold
        t=3    hold        -> -
        t=3    endings     -> -
    )");
}

TEST_CASE("a release of one's own deletes what is remembered") {
    check_history(R"(
        t=0    a acquire lease=30   -> Holding #1
        t=30   a acquire            -> Holding #2, previous Expired #1 lease expired
        t=31   a release            -> None, released hold
        t=32   a status             -> None
        t=33   a renew epoch=1      -> refused LOCK_LOST #1 stale epoch
    )");
    check_history(R"(
        t=0    a acquire lease=30   -> Holding #1
        t=30   b acquire            -> Holding #2
        t=31   a acquire            -> Queued 1/1 joined, previous Expired #1 lease expired
        t=32   a release            -> None, released place
        t=33   a status             -> None
    )");
}

TEST_CASE("a release of nothing keeps what is remembered") {
    check_history(R"(
        t=0    a acquire lease=30   -> Holding #1
        t=31   a release            -> Expired #1 lease expired, released nothing
        t=32   a release epoch=1    -> Expired #1 lease expired, released nothing: stale epoch
        t=33   a status             -> Expired #1 lease expired
    )");
}

TEST_CASE("giving up: a grant that has arrived wins, else the place is left or kept") {
    check_history(R"(
        t=0    a acquire        -> Holding #1
        t=1    b acquire        -> Queued 1/1 joined
        t=2    c acquire        -> Queued 2/2 joined
        t=20   c give-up keep   -> Queued 2/2
        t=20   place c          -> c since 2 heard 20 lease 600 max-hold 86400
        t=21   c give-up        -> Queued 2/2, released place
        t=21   queue            -> b
        t=22   a release        -> None, released hold
        t=23   b give-up        -> Holding #2
        t=23   hold             -> b #2 handed off at 22 claimed 23 heard 23 lease 600 cap 86422
        t=24   d give-up        -> None
    )");
}

TEST_CASE("giving up a place is a release of one's own: nothing older is told in its stead") {
    check_history(R"(
        t=0    b acquire lease=30   -> Holding #1
        t=30   a acquire            -> Holding #2
        t=31   b acquire            -> Queued 1/1 joined, previous Expired #1 lease expired
        t=32   b give-up            -> Queued 1/1, released place
        t=33   b status             -> None
        t=34   c acquire            -> Queued 1/1 joined
        t=94   c acquire            -> Queued 1/1 joined, previous Expired place not polled
        t=95   c withdraw           -> None, released place
        t=96   c status             -> None
    )");
}

TEST_CASE("giving up after the place was dropped says so") {
    check_history(R"(
        t=0    a acquire   -> Holding #1
        t=1    b acquire   -> Queued 1/1 joined
        t=61   b give-up   -> Expired place not polled
    )");
}

TEST_CASE("an interrupted wait gives back its place and a grant that it gained, not one from before") {
    check_history(R"(
        t=0    a acquire           -> Holding #1
        t=1    b acquire           -> Queued 1/1 joined
        t=2    b withdraw          -> None, released place
        t=3    b acquire           -> Queued 1/1 joined
        t=4    b withdraw keep     -> Queued 1/1, released nothing
        t=5    a withdraw held=1   -> Holding #1, released nothing
        t=6    a release           -> None, released hold
        t=7    b withdraw keep     -> None, released hold
        t=8    hold                -> -
        t=9    b acquire           -> Holding #3
        t=10   b withdraw held=2   -> None, released hold
        t=11   c withdraw          -> None, released nothing
        t=12   events   -> 0 granted a #1; 1 queued b; 2 left b left; 3 queued b; 6 released a #1 released; 6 handed off b #2; 7 released b #2 released; 9 granted b #3; 10 released b #3 released
    )");
}

}  // namespace
}  // namespace hagi::test
