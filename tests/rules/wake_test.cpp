#include "lockcore/rules.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/history.hpp"

namespace hagi::test {
namespace {

TEST_CASE("who must look again after a release: the one whose turn has come first, then the first few that moved up") {
    check_history(R"(
        t=0   a acquire   -> Holding #1
        t=0   wake        -> a
        t=1   b acquire   -> Queued 1/1 joined
        t=1   wake        -> -
        t=2   c acquire   -> Queued 2/2 joined
        t=3   d acquire   -> Queued 3/3 joined
        t=4   e acquire   -> Queued 4/4 joined
        t=5   f acquire   -> Queued 5/5 joined
        t=6   b status    -> Queued 1/5
        t=6   wake        -> -
        t=7   a release   -> None, released hold
        t=7   wake        -> b a c d e
        t=8   b status    -> Holding #2
        t=8   wake        -> -
        t=9   b renew     -> Holding #2
        t=9   wake        -> -
    )");
}

TEST_CASE("who must look again when a waiter leaves: itself and those behind it") {
    check_history(R"(
        t=0   a acquire   -> Holding #1
        t=1   b acquire   -> Queued 1/1 joined
        t=2   c acquire   -> Queued 2/2 joined
        t=3   d acquire   -> Queued 3/3 joined
        t=4   c release   -> None, released place
        t=4   wake        -> c d
    )");
}

TEST_CASE("who must look again after a requisition: the requester, the displaced, those behind the requester") {
    check_history(R"(
        t=0   a acquire                -> Holding #1
        t=1   b acquire                -> Queued 1/1 joined
        t=2   c acquire                -> Queued 2/2 joined
        t=3   d acquire                -> Queued 3/3 joined
        t=4   c requisition reason=x   -> Holding #2, displaced a #1
        t=4   wake                     -> c a d
    )");
}

TEST_CASE("who must look again after a lapse that somebody else's request settles") {
    check_history(R"(
        t=0    a acquire lease=30   -> Holding #1
        t=1    b acquire            -> Queued 1/1 joined
        t=2    c acquire            -> Queued 2/2 joined
        t=30   x status             -> None
        t=30   wake                 -> b a c
        t=60   x status             -> None
        t=60   wake                 -> c b
        t=90   x status             -> None
        t=90   wake                 -> c
    )");
}

TEST_CASE("every owner that lost its place is told, however many, before those that moved up") {
    check_history(R"(
        t=0    z acquire   -> Holding #1
        t=0    a acquire   -> Queued 1/1 joined
        t=0    b acquire   -> Queued 2/2 joined
        t=1    m acquire   -> Queued 3/3 joined
        t=1    c acquire   -> Queued 4/4 joined
        t=1    d acquire   -> Queued 5/5 joined
        t=1    e acquire   -> Queued 6/6 joined
        t=2    n acquire   -> Queued 7/7 joined
        t=50   m status    -> Queued 3/7
        t=50   n status    -> Queued 7/7
        t=61   x status    -> None
        t=61   queue       -> m n
        t=61   wake        -> a b c d e m n
    )");
}

TEST_CASE("a watcher whose grant or place was given back elsewhere is told so, else how it ended") {
    Answer answer;
    CHECK((cause_for_watcher(answer, Watched::Grant) == Cause::Released));
    CHECK((cause_for_watcher(answer, Watched::Place) == Cause::Left));
    answer.ending = Ending{Owner("a"), EndedKind::Hold, Epoch{1}, Instant{}, Cause::MaximumHold, {}, {}};
    CHECK((cause_for_watcher(answer, Watched::Grant) == Cause::MaximumHold));
}

}  // namespace
}  // namespace hagi::test
