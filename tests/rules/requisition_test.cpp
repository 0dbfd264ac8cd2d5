#include "tests/support/catch.hpp"
#include "tests/support/history.hpp"

namespace hagi::test {
namespace {

TEST_CASE("requisition displaces the holder at once, who remembers by whom and why") {
    check_history(R"(
        t=0    a acquire label=raid                          -> Holding #1
        t=9    b requisition reason=fire_drill label=drill   -> Holding #2, displaced a #1
        t=9    hold      -> b #2 requisitioned at 9 claimed 9 heard 9 lease 600 cap 86409 label drill
        t=10   a status  -> Requisitioned #1 requisitioned by b: fire drill
        t=11   a renew epoch=1   -> refused LOCK_LOST #1 requisitioned, held by b #2
        t=12   a acquire -> Queued 1/1 joined, previous Requisitioned #1 requisitioned by b: fire drill
        t=12   events    -> 0 granted a #1 [raid]; 9 requisitioned a #1 requisitioned by b: fire drill [raid]; 9 granted b #2 [drill]; 12 queued a
    )");
}

TEST_CASE("the displaced holder is not queued again and the waiters keep their order") {
    check_history(R"(
        t=0    a acquire                  -> Holding #1
        t=1    b acquire                  -> Queued 1/1 joined
        t=2    c acquire                  -> Queued 2/2 joined
        t=3    d requisition reason=x     -> Holding #2, displaced a #1
        t=4    queue                      -> b c
        t=5    d release                  -> None, released hold
        t=6    b status                   -> Holding #3
    )");
}

TEST_CASE("the requester's own place is gone") {
    check_history(R"(
        t=0    a acquire                -> Holding #1
        t=1    b acquire lease=60       -> Queued 1/1 joined
        t=2    c acquire lease=60       -> Queued 2/2 joined
        t=3    c requisition reason=x   -> Holding #2, displaced a #1
        t=3    queue                    -> b
        t=3    hold                     -> c #2 requisitioned at 3 claimed 3 heard 3 lease 600 cap 86403
        t=3    events   -> 0 granted a #1; 1 queued b; 2 queued c; 3 requisitioned a #1 requisitioned by c: x; 3 left c left; 3 granted c #2
    )");
}

TEST_CASE("requisition of a free lock grants it") {
    check_history(R"(
        t=0    a requisition reason=x   -> Holding #1
        t=0    events                   -> 0 granted a #1
    )");
}

TEST_CASE("requisition by the holder changes nothing, but claims its own hand-off") {
    check_history(R"(
        t=0    a acquire label=one               -> Holding #1
        t=5    a requisition reason=x label=two  -> Holding #1
        t=6    a requisition reason=x epoch=1    -> Holding #1
        t=6    hold   -> a #1 taken free at 0 claimed 0 heard 0 lease 600 cap 86400 label one
        t=7    b acquire                         -> Queued 1/1 joined
        t=8    a release                         -> None, released hold
        t=9    b requisition reason=x epoch=2    -> Holding #2
        t=9    hold   -> b #2 handed off at 8 claimed 9 heard 9 lease 600 cap 86408
    )");
}

TEST_CASE("what a requisition says of its lease and progress is the new grant's") {
    check_history(R"(
        t=0    a acquire phase=raid                               -> Holding #1
        t=9    b requisition reason=x lease=60 phase=fix note=hot -> Holding #2, displaced a #1
        t=9    hold   -> b #2 requisitioned at 9 claimed 9 heard 9 lease 60 cap 86409 phase fix since 9 note hot
        t=20   b requisition reason=x lease=90 phase=test         -> Holding #2
        t=20   hold   -> b #2 requisitioned at 9 claimed 9 heard 9 lease 60 cap 86409 phase test since 20 note hot
    )");
}

TEST_CASE("requisition with an epoch displaces that grant only") {
    check_history(R"(
        t=0    b requisition reason=x epoch=1   -> refused CONFLICT #1
        t=1    a acquire                        -> Holding #1
        t=2    b requisition reason=x epoch=2   -> refused CONFLICT #2, held by a #1
        t=3    a requisition reason=x epoch=2   -> refused CONFLICT #2, held by a #1
        t=4    b acquire                        -> Queued 1/1 joined
        t=50   b requisition reason=x epoch=2   -> refused CONFLICT #2, held by a #1
        t=50   place b                          -> b since 4 heard 4 lease 600 max-hold 86400
        t=51   b requisition reason=x epoch=1   -> Holding #2, displaced a #1
        t=51   queue                            -> -
    )");
}

TEST_CASE("an unclaimed hand-off can be displaced, too") {
    check_history(R"(
        t=0    a acquire                -> Holding #1
        t=1    b acquire                -> Queued 1/1 joined
        t=2    a release                -> None, released hold
        t=3    c requisition reason=x   -> Holding #3, displaced b #2
        t=4    b status                 -> Requisitioned #2 requisitioned by c: x
    )");
}

TEST_CASE("nothing but a requisition displaces a live holder") {
    check_history(R"(
        t=0    a acquire             -> Holding #1
        t=1    b acquire             -> Queued 1/1 joined
        t=2    b renew epoch=1       -> refused LOCK_LOST #1 not the holder, held by a #1
        t=3    b release epoch=1     -> Queued 1/1, released nothing: stale epoch
        t=4    b give-up keep        -> Queued 1/1
        t=5    b withdraw held=1     -> None, released place
        t=6    b accept epoch=1      -> refused CONFLICT #1, held by a #1
        t=7    a status              -> Holding #1
    )");
}

}  // namespace
}  // namespace hagi::test
