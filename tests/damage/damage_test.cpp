// Bytes of a store change behind SQLite's back. Every verb then gives the right answer or one clean error; none
// crashes, and none grants what it must not. HAGI_TEST_SEED and HAGI_TEST_LONG choose which bytes.
//
// What nothing here can see is a change inside a row that still reads as a row: a store has no checksums of its own
// beyond its log's. Such a store says something else, and is answered for as what it says.
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/damage/command.hpp"
#include "tests/damage/mutation.hpp"
#include "tests/engine/engine_fixture.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Words = std::vector<std::string>;
using Files = std::map<std::string, std::string>;

constexpr const char* kRows =
    "SELECT store_id, epoch_floor, timeline, at_ms, steady_ms, wall_ms FROM store; SELECT * FROM locks; "
    "SELECT * FROM waiters; SELECT * FROM endings; SELECT * FROM watchers; SELECT * FROM nudges; SELECT * FROM events";

struct Original {
    Files files;
    std::string rows;
};

Words on(const std::string& lock_id, const std::string& verb, const std::string& owner, const Words& more = {}) {
    Words words{verb, "--lock-id", lock_id, "--owner", owner, "--json", "--busy-timeout", "0"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

// a holds x by epoch 3, b and c wait for it; y is free after epoch 2; d has z handed off, by epoch 2; and many others.
enum class Where { File, Log, Rollback };
Original make_store(Where where) {
    StoreFixture store;
    const std::string& path = store.options.path;
    if (where == Where::Rollback) {
        store.options.journal = SqliteOptions::Journal::Rollback;
        store.open();
    }
    const auto done = [&](const Words& words) {
        const Outcome outcome = run_command(path, words);
        INFO(outcome.out << outcome.err);
        REQUIRE(outcome.code == 0);
    };
    for (int i = 0; i < 60; ++i)
        done(on("other/" + std::to_string(i), "acquire", "someone", {"--label", std::string(150, 'l')}));
    if (where == Where::Log) query(path, "PRAGMA wal_checkpoint(TRUNCATE)");
    for (const char* const lock_id : {"x", "y"})
        for (const char* const verb : {"acquire", "release", "acquire", "release"}) done(on(lock_id, verb, "a"));
    for (const char* const owner : {"a", "b", "c"}) done(on("x", "acquire", owner));
    done(on("x", "accept", "a"));
    for (const char* const owner : {"a", "d"}) done(on("z", "acquire", owner));
    done(on("z", "release", "a"));
    if (where == Where::File) query(path, "PRAGMA wal_checkpoint(TRUNCATE)");

    Original original;
    original.rows = query(path, kRows);
    for (const char* const suffix : {"", "-wal", "-gate"})
        if (fs::exists(path + suffix)) original.files[suffix] = read_file(path + suffix);
    return original;
}

Words any_command(Dice& dice) {
    const std::string lock_id = dice.pick({"x", "x", "y", "z"});
    const std::string owner = dice.pick({"a", "b", "c", "d", "e"});
    switch (dice.roll(16)) {
        case 0:
        case 1: return on(lock_id, "acquire", owner);
        case 2: return on(lock_id, "acquire", owner, {"--no-queue"});
        case 3: return on(lock_id, "acquire", owner, {"--wait", "--timeout", "0"});
        case 4:
        case 5: return on(lock_id, "status", owner);
        case 6: return on(lock_id, "renew", owner);
        case 7: return on(lock_id, "heartbeat", owner);
        case 8: return on(lock_id, "accept", owner);
        case 9: return on(lock_id, "release", owner);
        case 10: return on(lock_id, "requisition", owner, {"--reason", "by order"});
        case 11: return on(lock_id, "stop", owner, {"--reason", "by order"});
        case 12: return on(lock_id, "nudge", owner, {"--reason", "please"});
        case 13: return {"list", "--all", "--json", "--busy-timeout", "0"};
        case 14: return {"log", "--json", "--busy-timeout", "0"};
        default: return {"doctor", "--json", "--busy-timeout", "0"};
    }
}

// Who is told to hold what, on a store that says what it always said.
std::optional<std::string> wrong_grant(const Words& words, const Json& answer) {
    if (answer.value("status", "") != "Holding") return std::nullopt;
    const std::string lock_id = words[2], owner = words[4];
    const std::int64_t epoch = answer.at("epoch");
    static const std::map<std::string, std::pair<std::string, std::int64_t>> kHolders = {
        {"x", {"a", 3}}, {"y", {"", 2}}, {"z", {"d", 2}}};
    const auto& [holder, last] = kHolders.at(lock_id);
    if (owner == holder) return epoch == last ? std::nullopt : std::optional("another epoch than before");
    if (epoch <= last) return "an epoch that was given before";
    const bool by_order = words[0] == "requisition" || words[0] == "stop";
    if (!holder.empty() && !by_order) return "a lock that " + holder + " holds";
    return std::nullopt;
}

// Who holds it and is told otherwise.
std::optional<std::string> wrong_loss(const Words& words, const Outcome& outcome) {
    const bool holder = (words[2] == "x" && words[4] == "a") || (words[2] == "z" && words[4] == "d");
    static const std::vector<std::string> kTold = {"acquire", "status", "renew", "accept", "heartbeat"};
    const bool asks = std::find(kTold.begin(), kTold.end(), words[0]) != kTold.end();
    if (holder && asks && (outcome.code == 32 || outcome.code == 29 || outcome.code == 24)) return "a loss";
    return std::nullopt;
}

std::optional<std::string> wrong_form(const Outcome& outcome) {
    static const std::vector<int> kCodes = {0, 23, 24, 29, 30, 31, 32, 50, 60};
    if (std::find(kCodes.begin(), kCodes.end(), outcome.code) == kCodes.end())
        return "exit " + std::to_string(outcome.code);
    if (!outcome.err.empty()) return "an error outside of the JSON: " + outcome.err;
    std::size_t from = 0;
    for (std::size_t end = 0; (end = outcome.out.find('\n', from)) != std::string::npos; from = end + 1)
        if (!Json::accept(outcome.out.substr(from, end - from))) return "no JSON";
    return from == outcome.out.size() ? std::nullopt : std::optional("a line without an end");
}

struct Tally {
    int right = 0;
    int refused = 0;
    int altered = 0;  // the store says something else
};

void check_one(const Original& original, Dice& dice, Tally& tally) {
    StoreFixture store;
    const std::string& path = store.options.path;
    Files files = original.files;
    const bool in_log = files.contains("-wal") && !files["-wal"].empty() && dice.one_in(2);
    const std::string how = mutate(files[in_log ? "-wal" : ""], dice);
    const auto put = [&] {
        for (const char* const suffix : {"", "-wal", "-shm", "-journal", "-gate"}) fs::remove(path + suffix);
        for (const auto& [suffix, bytes] : files) write_file(path + suffix, bytes);
    };
    put();
    const std::string rows = query(path, kRows);
    const bool altered = rows != original.rows && rows.find("error: ") == std::string::npos;
    if (dice.one_in(2)) put();  // else with the index that the look has left

    for (int i = 0; i < 3; ++i) {
        const Words words = any_command(dice);
        const Outcome outcome = run_command(path, words);
        std::string text;
        for (const std::string& word : words) text += word + " ";
        INFO((in_log ? "log: " : "store: ")
             << how << (altered ? " (rows altered)" : "") << "; " << text << "-> " << outcome.code << "\n"
             << outcome.out << outcome.err);
        const auto form = wrong_form(outcome);
        INFO(form.value_or(""));
        REQUIRE_FALSE(form);
        const bool refused = outcome.code == 50 || outcome.code == 60;
        refused ? ++tally.refused : altered ? ++tally.altered : ++tally.right;
        // The log has checksums: what is altered there is lost, and the gate knows that it was there.
        const bool asks_the_store = words[0] != "log" && words[0] != "heartbeat";
        if (altered && in_log && asks_the_store) REQUIRE(refused);
        // What was changed once is another history.
        if (i > 0 || altered || words.size() < 5 || words[1] != "--lock-id") continue;
        std::optional<std::string> wrong = wrong_loss(words, outcome);
        if (outcome.code == 0 && !wrong && words[0] != "heartbeat")
            wrong = wrong_grant(words, Json::parse(outcome.out));
        INFO(wrong.value_or(""));
        REQUIRE_FALSE(wrong);
    }
}

}  // namespace

TEST_CASE("Whichever bytes of a store are damaged, a verb answers rightly or says so") {
    const std::uint64_t seed = number_from("HAGI_TEST_SEED", 1);
    const int mutations = is_long_run() ? 5'000 : 300;
    WARN("HAGI_TEST_SEED=" << seed);
    const Where where = GENERATE(Where::File, Where::Log, Where::Rollback);
    const Original original = make_store(where);
    Dice dice(seed);
    Tally tally;
    for (int i = 0; i < mutations; ++i) {
        CAPTURE(seed, static_cast<int>(where), i);
        check_one(original, dice, tally);
    }
    WARN(tally.right << " answered as ever, " << tally.refused << " refused, " << tally.altered
                     << " answered for what the store says now");
    CHECK(tally.right > 0);
    CHECK(tally.refused > 0);
}

}  // namespace hagi::test
