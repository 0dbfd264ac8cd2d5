// A part of a long queue is enough while nothing is due. Every request of every history is also decided on an excerpt
// (history.cpp); here are queues that are longer than one.
#include "lockcore/excerpt.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/history.hpp"

namespace hagi::test {
namespace {

// `a` holds the lock, w1 to w20 wait.
LockState crowd() {
    std::string script = "t=0 a acquire -> Holding #1\n";
    for (int i = 1; i <= 20; ++i) {
        const std::string n = std::to_string(i);
        script += "t=1 w" + n + " acquire max-hold=" + std::to_string(100 + i);
        script += " -> Queued " + n + "/" + n + " joined\n";
    }
    return check_history(script);
}

// Each is decided on the whole and on an excerpt: these lines only say what must come out of both.
TEST_CASE("what one waiter asks in a long queue is decided on a part of it") {
    check_history(R"(
        t=2   w1 status              -> Queued 1/20
        t=2   w10 status             -> Queued 10/20
        t=2   w20 status             -> Queued 20/20
        t=2   x status               -> None
        t=2   x acquire              -> Queued 21/21 joined
        t=2   x acquire look-once    -> Queued 21/21
        t=2   y acquire look-once    -> Queued 22/22, released place
        t=2   w10 release            -> None, released place
        t=2   wake                   -> w10 w11 w12 w13
        t=2   w11 give-up            -> Queued 10/20, released place
        t=2   wake                   -> w11 w12 w13 w14
        t=2   a release              -> None, released hold
        t=2   wake                   -> w1 a w2 w3 w4
        t=2   w15 requisition reason=x -> Holding #3, displaced w1 #2
        t=2   wake                   -> w15 w1 w16 w17 w18
        t=2   x stop reason=y        -> Queued 16/16, displaced w15 #3
        t=2   wake                   -> w2 w15 w3 w4 w5
    )",
                  crowd());
}

TEST_CASE("two turns of one request are in the excerpt, too") {
    check_history(R"(
        t=2   w1 release gone=1   -> None, released hold
        t=2   wake                -> w2 a w1 w3 w4 w5
    )",
                  crowd());
}

TEST_CASE("an excerpt shows whom a request concerns and counts the others") {
    const LockState part = excerpt_of(crowd(), Owner("w12"));
    std::string shown;
    for (const Waiter& waiter : part.queue) {
        shown += waiter.owner.str() + " ";
        if (waiter.left_out.count > 0)
            shown += "(" + std::to_string(waiter.left_out.count) + ": " +
                     std::to_string(waiter.left_out.maximum_holds.count() / 1000) + " s) ";
    }
    CHECK(shown == "w1 w2 w3 w4 w5 (6: 651 s) w12 w13 w14 w15 w16 (4: 474 s) ");
    CHECK(crowd_before(part.queue, part.queue.end()).count == 20);
}

TEST_CASE("an excerpt is enough only as long as nothing is due") {
    const LockState state = crowd();
    const Instant heard{1000};
    CHECK(excerpt_suffices(*state.hold, heard, Instant{60999}));
    CHECK_FALSE(excerpt_suffices(*state.hold, heard, Instant{61000}));
    CHECK(excerpt_suffices(*state.hold, Instant{599'000}, Instant{599'999}));
    CHECK_FALSE(excerpt_suffices(*state.hold, Instant{599'000}, Instant{600'000}));
}

}  // namespace
}  // namespace hagi::test
