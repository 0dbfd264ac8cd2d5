// The power fails at every instant, and the disk keeps whatever it likes of what was not synced: what was answered is
// still true. Beats and polls may be lost. HAGI_TEST_SEED and HAGI_TEST_LONG choose which random histories.
#include "tests/engine/engine_fixture.hpp"
#include "tests/power/judge.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

using sqlite::Journal;
using Lines = std::vector<std::string>;

const Lines kEveryVerb = {
    "1 x a acquire", "1 x b acquire", "2 x c acquire", "later 20", "1 x b status",      "1 x c status",
    "2 x a renew",   "1 x a nudge",   "1 x b nudge",   "1 ends",   "1 x a release",     "2 x b status",
    "2 x b accept",  "later 5",       "2 x b renew",   "1 ends",   "1 x d requisition", "1 x c status",
    "1 x a stop",    "2 ends",        "2 x c accept",  "later 31", "2 x a acquire",     "later 600",
    "1 x a renew",   "1 x a status",  "1 x a release",
};

// Time enough for a lock to be forgotten, whose epochs must not come back.
const Lines kPruned = {"1 y a acquire", "1 y a release", "1 y a acquire", "1 y a release", "1 x a acquire",
                       "1 ends",        "later 200000",  "2 x b acquire", "prune",         "2 y c acquire",
                       "2 ends",        "1 y c renew",   "later 1",       "1 y c renew"};

Lines with_a_full_log() {
    Lines lines{"1 x a acquire"};
    for (int beat = 0; beat < 40; ++beat) {
        lines.insert(lines.end(), {"later 1", beat % 3 ? "1 x a renew" : "2 x a renew"});
        if (beat % 10 == 9) lines.insert(lines.end(), {"2 x b acquire", "1 x b release"});
    }
    return lines;
}

std::string shown(const Verdict& verdict) {
    std::string text = std::to_string(verdict.images) + " images\n";
    for (std::size_t i = 0; i < std::min<std::size_t>(verdict.complaints.size(), 5); ++i)
        text += verdict.complaints[i] + "\n";
    return text;
}

void check_every_cut(const std::string& what, const History& history, Dice& dice) {
    const Verdict verdict = judge_every_cut(history, dice);
    WARN(what << ": " << history.operations.size() << " operations, " << verdict.images << " images");
    INFO(shown(verdict));
    CHECK(verdict.images > history.operations.size() / 4);
    CHECK(verdict.complaints.empty());
}

std::uint64_t seed_told() {
    const std::uint64_t seed = number_from("HAGI_TEST_SEED", 1);
    WARN("HAGI_TEST_SEED=" << seed);
    return seed;
}

const char* name_of(Journal journal) { return journal == Journal::Wal ? "log" : "rollback journal"; }

}  // namespace

TEST_CASE("What was answered survives a power cut at any instant") {
    Dice dice(seed_told());
    const Journal journal = GENERATE(Journal::Wal, Journal::Rollback);
    check_every_cut(std::string("every verb, ") + name_of(journal), play(kEveryVerb, journal), dice);
    check_every_cut(std::string("pruned, ") + name_of(journal), play(kPruned, journal), dice);
    const int histories = is_long_run() ? 20 : 1;
    for (int i = 0; i < histories; ++i) {
        const Lines lines = random_lines(dice, 20);
        std::string text;
        for (const std::string& line : lines) text += line + "; ";
        INFO(text);
        check_every_cut(std::string("random, ") + name_of(journal), play(lines, journal), dice);
    }
}

TEST_CASE("The log is emptied into the store without a loss") {
    Dice dice(seed_told());
    check_every_cut("a full log", play(with_a_full_log(), Journal::Wal), dice);
}

TEST_CASE("A store is converted for a shared filesystem without a loss") {
    Dice dice(seed_told());
    check_every_cut(
        "converted",
        play({"1 x a acquire", "1 x b acquire", "1 x a release", "1 ends", "convert", "2 x b accept", "2 x b release"},
             Journal::Wal),
        dice);
}

TEST_CASE("What a second process was told by a store that is just coming into being survives") {
    Dice dice(seed_told());
    const Journal journal = GENERATE(Journal::Wal, Journal::Rollback);
    check_every_cut("two creators",
                    play({"2 x b acquire during creation", "1 x a acquire", "2 x b release", "1 x a status"}, journal),
                    dice);
}

TEST_CASE("A power cut in the middle of the recovery from another loses nothing either") {
    Dice dice(seed_told());
    const Journal journal = GENERATE(Journal::Wal, Journal::Rollback);
    const History history = play({"1 x a acquire", "1 x b acquire", "1 x a release", "1 x b status"}, journal);
    Disk disk(history.before);
    std::size_t answered = 0;
    for (const Operation& operation : history.operations) {
        disk.apply(operation);
        if (operation.kind == Operation::Kind::Answer) ++answered;
        const Image image = disk.after(dice.pick({Cut::All, Cut::Some, Cut::Sectors}), dice);
        if (!image.contains("locks.db") || !dice.one_in(is_long_run() ? 1 : 4)) continue;
        Moment beginning = history.moments[answered];
        {
            StoreFixture store;
            for (const auto& [name, bytes] : image) write_file(store.folder.path() + "/" + name, bytes);
            beginning.rows = rows_of(store.options.path);
        }
        const Verdict verdict =
            judge_every_cut(play({"1 x c requisition", "1 x c release"}, journal, image, beginning), dice);
        INFO(shown(verdict));
        CHECK(verdict.complaints.empty());
    }
}

// The proof that the judge would see it: the same histories on a disk that says it has synced and has not.
TEST_CASE("A disk that lies is found out") {
    Dice dice(seed_told());
    const Journal journal = GENERATE(Journal::Wal, Journal::Rollback);
    History history = play(kEveryVerb, journal);
    const auto kind = GENERATE(Operation::Kind::Sync, Operation::Kind::SyncFolder);
    const std::string name = kind == Operation::Kind::SyncFolder ? ""
                             : journal == Journal::Wal           ? "locks.db-wal"
                                                                 : "locks.db";
    CAPTURE(name, name_of(journal));
    std::erase_if(history.operations,
                  [&](const Operation& operation) { return operation.kind == kind && operation.name == name; });
    const Verdict verdict = judge_every_cut(history, dice);
    CHECK(!verdict.complaints.empty());
}

}  // namespace hagi::test
