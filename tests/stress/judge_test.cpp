// The judge finds what is wrong with a history, and nothing in one where all is well.
#include "tests/stress/judge.hpp"

#include <sstream>

#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

// "100 a entered 5", "100 op taken 6 from 5", "100 killed 7": milliseconds, owner, what, epoch. An owner's process is
// the number of its first letter; a grant is sure until 10 s after it was entered.
Record record_of(const std::string& text) {
    std::istringstream words(text);
    Record record;
    Moment::rep at = 0;
    std::string what, from;
    words >> at >> record.owner >> what >> record.epoch >> from >> record.other;
    record.at = std::chrono::milliseconds{at};
    record.lock = std::string("x");
    record.pid = record.owner[0];
    record.until = record.at + std::chrono::seconds{10};
    for (const Saw saw : {Saw::Asked, Saw::Queued, Saw::Granted, Saw::Entered, Saw::Left, Saw::Lost, Saw::Refused,
                          Saw::Taken, Saw::Killed, Saw::Abandoned})
        if (word_for(saw) == what) record.saw = saw;
    return record;
}

std::string judged(const std::vector<std::string>& texts) {
    std::vector<Record> history;
    for (const std::string& text : texts) history.push_back(record_of(text));
    std::string complaints;
    for (const std::string& complaint : broken_promises(history)) complaints += complaint + "\n";
    return complaints;
}

bool mentions(const std::string& complaints, const std::string& what) {
    return complaints.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("the judge has nothing to say where every promise was kept") {
    CHECK(judged({"0 a asked", "1 a granted 1", "2 a entered 1", "3 b asked", "4 b queued", "5 c asked", "6 c queued",
                  "7 a left 1", "8 b granted 2", "9 b entered 2", "10 b left 2", "11 c granted 3"})
              .empty());
    // Killed inside, taken from, and on with the same grant after a new start.
    CHECK(judged({"0 a asked", "1 a granted 1", "2 a entered 1", "3 a killed", "4 b entered 2", "5 op taken 3 from 2",
                  "6 op entered 3", "7 b refused 2", "8 b left 2", "9 op left 3"})
              .empty());
    CHECK(judged({"0 a asked", "1 a granted 1", "2 a entered 1", "3 a killed", "4 a asked", "5 a granted 1",
                  "6 a entered 1", "7 a left 1"})
              .empty());
    // Killed before it had written down that it is inside.
    CHECK(judged({"0 a asked", "1 a granted 1", "2 a killed", "3 a entered 1", "4 b entered 2", "5 b left 2"}).empty());
    // Paused past what it was sure of.
    CHECK(judged({"0 a entered 1", "10500 b entered 2", "10600 a left 1", "10700 b left 2"}).empty());
}

TEST_CASE("the judge sees two holders at once") {
    CHECK(mentions(judged({"0 a entered 1", "1 b entered 2", "2 a left 1", "3 b left 2"}), "was inside"));
    CHECK(mentions(judged({"0 a entered 1", "1 b entered 2"}), "was inside"));
    // Killed, and not dead yet.
    CHECK(mentions(judged({"0 a entered 1", "1 a killed", "2 b entered 2", "3 a left 1", "4 b left 2"}), "was inside"));
    CHECK(mentions(judged({"0 a killed", "1 a entered 1", "2 b entered 2", "3 a refused 1", "4 b left 2"}),
                   "was inside"));
    CHECK(mentions(judged({"0 a entered 1", "1 c killed", "2 b entered 2"}), "was inside"));
    CHECK(mentions(judged({"0 a entered 1", "1 op taken 3 from 2", "2 op entered 3"}), "was inside"));
}

TEST_CASE("the judge sees an epoch that was given twice, or goes back") {
    CHECK(mentions(judged({"0 a granted 1", "1 b granted 1"}), "was given to a and to b"));
    CHECK(mentions(judged({"0 a entered 2", "1 a left 2", "2 b entered 1", "3 b left 1"}), "after epoch 2"));
    CHECK(mentions(judged({"0 a entered 0", "1 a left 0"}), "with epoch 0"));
}

TEST_CASE("the judge sees who jumped the queue") {
    const std::vector<std::string> jumped = {"0 a asked",     "1 a queued", "2 b asked",    "3 b queued",
                                             "4 b granted 1", "5 b left 1", "6 a granted 2"};
    CHECK(mentions(judged(jumped), "had its turn before a"));
    auto lost = jumped;
    lost.insert(lost.begin() + 3, "2 a abandoned");
    CHECK(judged(lost).empty());
    // Both asked before either knew its place: nobody can tell.
    CHECK(judged({"0 a asked", "1 b asked", "2 a queued", "3 b queued", "4 b granted 1", "5 a granted 2"}).empty());
}

TEST_CASE("the judge sees who never had its turn") {
    CHECK(mentions(judged({"0 a asked", "1 a queued"}), "never had its turn"));
    CHECK(judged({"0 a asked", "1 a queued", "2 a lost"}).empty());
    CHECK(mentions(judged({"0 a asked", "1 a queued", "2 b asked", "3 b granted 1"}), "had its turn before a"));
}

TEST_CASE("the judge sees a lock that nobody used while somebody waited") {
    CHECK(mentions(judged({"0 a asked", "1 a queued", "60002 a granted 1"}), "nobody used it"));
    CHECK(judged({"0 a asked", "1 a queued", "60001 a granted 1"}).empty());
    CHECK(judged({"0 a asked", "1 a queued", "30000 b granted 1", "70000 a granted 2"}).empty());
}

TEST_CASE("the judge sees a resource that refuses its holder") {
    CHECK(mentions(judged({"0 a entered 1", "1 a refused 1", "2 a left 1"}), "which was still its"));
}

}  // namespace hagi::test
