#include "tests/faults/scenario.hpp"

#include <filesystem>

#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

// Of the claim window's 30 s.
constexpr std::chrono::seconds kOldAge{20};

// The log is emptied by the commit that takes it past 64 pages of 4 KiB.
constexpr std::uintmax_t kAlmostFullLog = 62 * 4120;

void empty(const std::string& folder) {
    for (const auto& entry : fs::directory_iterator(folder)) fs::remove_all(entry.path());
}

// Without the index of the log and the bells, which are memory of processes that are gone.
void copy_store(const std::string& from, const std::string& to) {
    for (const auto& entry : fs::directory_iterator(from))
        if (entry.is_regular_file() && entry.path().extension() != ".db-shm")
            fs::copy_file(entry.path(), to + "/" + entry.path().filename().string());
}

Words order(const std::string& name, const std::string& owner, const Words& more = {}) {
    Words words = verb(name, owner, {"--reason", "the user's order"});
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

}  // namespace

std::vector<Scenario> scenarios() {
    using Again = Scenario::Again;
    const Words held = verb("acquire", "x", {"--label", "nightly"});
    const Words waits = verb("acquire", "y");
    const Words done = verb("release", "x");
    const Words elsewhere{"acquire", "--lock-id", "elsewhere", "--owner", "x"};
    const Words beat = verb("renew", "x", {"--phase", "test", "--note", "half"});
    std::vector<Scenario> all{
        {"acquire makes the store", {}, held},
        {"acquire", {elsewhere}, held},
        {"acquire joins the queue", {held}, waits},
        {"status", {held}, verb("status", "x")},
        {"status claims", {held, waits, done}, verb("status", "y")},
        {"renew", {held}, beat},
        {"accept", {held}, verb("accept", "x", {"--epoch", "1"})},
        {"release hands off", {held, waits}, done},
        {"release leaves the queue", {held, waits}, verb("release", "y")},
        {"requisition", {held, waits}, order("requisition", "z")},
        {"stop", {held}, order("stop", "z")},
        {"nudge", {held}, order("nudge", "z"), 0, Again::AnyEnd},
        {"run", {elsewhere}, verb("run", "x", {"--timeout", "0", "--", "true"}), 0, Again::NotAsked, 2},
        {"a wait without time", {held}, verb("acquire", "y", {"--wait", "--timeout", "0"}), 31},
        {"a wait with luck", {elsewhere}, verb("acquire", "y", {"--wait", "--timeout", "0"})},
        {"list", {held, waits}, {"list"}},
        {"log", {held, waits}, {"log"}},
        {"doctor", {held, waits}, {"doctor"}},
        {"doctor prunes", {held, elsewhere, done}, {"doctor", "--prune-idle", "0"}, 0, Again::AnyEnd},
        {"doctor rebuilds", {held, waits}, {"doctor", "--rebuild"}, 0, Again::NotAsked},
        {"doctor converts", {held, waits}, {"doctor", "--convert-to-shared"}},
    };
    Scenario emptied{"release empties the log", {held, waits}, done};
    emptied.log = Scenario::Log::AboutToBeEmptied;
    all.push_back(emptied);
    for (Scenario scenario : {Scenario{"acquire makes a shared store", {}, held},
                              Scenario{"release hands off in a shared store", {held, waits}, done},
                              Scenario{"renew in a shared store", {held}, beat}}) {
        scenario.filesystem = "shared";
        all.push_back(scenario);
    }
    return all;
}

Stage::Stage(Scenario scenario, Runner runner) : scenario_(std::move(scenario)), runner_(std::move(runner)) {
    build();
    before_ = story();
    const Finished finished = run(scenario_.command);
    INFO(scenario_.name << ": " << finished.out << finished.err);
    REQUIRE(finished.code == scenario_.code);
    after_ = story();
}

void Stage::build() {
    empty(hagi_.folder());
    empty(saved_.path());
    built_at_ = steady_clock::now();
    for (const Words& words : scenario_.before) {
        const Finished finished = run(words);
        INFO(finished.out << finished.err);
        REQUIRE(finished.code == 0);
    }
    if (scenario_.log == Scenario::Log::AboutToBeEmptied) fill_log();
    copy_store(hagi_.folder(), saved_.path());
}

void Stage::fill_log() const {
    while (fs::file_size(hagi_.store() + "-wal") < kAlmostFullLog)
        for (const char* const word : {"acquire", "release"})
            REQUIRE(run({word, "--lock-id", "filler", "--owner", "z"}).code == 0);
}

void Stage::reset() {
    if (too_old()) return build();
    empty(hagi_.folder());
    copy_store(saved_.path(), hagi_.folder());
}

bool Stage::too_old() const { return steady_clock::now() > built_at_ + kOldAge; }

Words Stage::line(const Words& command) const {
    Words words = Hagi::line(command);
    if (!scenario_.filesystem.empty())
        words.insert(words.begin(), {"env", "HAGI_LOCK_FILESYSTEM=" + scenario_.filesystem});
    return words;
}

Story Stage::story() const {
    const auto answer = [&](const Words& words) {
        const Finished finished = run(words);
        INFO(finished.out << finished.err);
        REQUIRE(finished.code == 0);
        return nlohmann::json::parse(finished.out);
    };
    const auto list = answer({"list", "--all", "--json"});
    return story_of(list, answer({"log", "--limit", "1000", "--json"}));
}

std::string Stage::integrity_of_copy() const {
    const TemporaryFolder copy;
    copy_store(hagi_.folder(), copy.path());
    for (const std::string& store : {copy.file("locks.db"), copy.file("locks.db.rebuilt")})
        if (const std::string said = fs::exists(store) ? integrity_of(store) : "ok"; said != "ok") return said;
    return "ok";
}

}  // namespace hagi::test
