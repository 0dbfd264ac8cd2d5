#include "tests/power/history.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "lockcore/sqlite/upkeep.hpp"
#include "tests/engine/engine_fixture.hpp"
#include "tests/power/recorder.hpp"

namespace hagi::test {
namespace {

constexpr const char* kRows =
    "SELECT 'store', * FROM store; SELECT 'lock', * FROM locks; SELECT 'waiter', * FROM waiters;"
    "SELECT 'ending', * FROM endings; SELECT 'event', * FROM events; SELECT 'watcher', * FROM watchers;"
    "SELECT 'nudge', * FROM nudges";
// What no power cut may take back. Heartbeats and polls write neither.
constexpr const char* kLasting = "SELECT count(*), max(seq) FROM events; SELECT epoch_floor FROM store";

class SharedClock : public Clock {
public:
    explicit SharedClock(Clock& clock) : clock_(clock) {}
    Result<ClockReading> read() override { return clock_.read(); }

private:
    Clock& clock_;
};

class Player {
public:
    Player(sqlite::Journal journal, const Image& before, const Moment& beginning) {
        store_.options.journal = journal;
        if (!beginning.clock.timeline.empty()) store_.clock.reading = beginning.clock;
        for (const auto& [name, bytes] : before) write_file(store_.folder.path() + "/" + name, bytes);
        history_.before = before;
        history_.moments.push_back(beginning);
        history_.moments.front().clock = store_.clock.reading;
    }

    void play(const std::string& line) {
        std::istringstream words(line);
        std::string first, second;
        words >> first >> second;
        if (first == "later")
            store_.clock.advance(std::chrono::seconds{std::stoi(second)});
        else if (first == "prune" || first == "convert")
            look_after(first);
        else if (second == "ends")
            engines_.at(process(first)).reset();
        else
            ask(line);
    }

    History end() {
        for (auto& engine : engines_) engine.reset();
        history_.operations = recorder_.operations();
        return std::move(history_);
    }

private:
    static std::size_t process(const std::string& word) { return static_cast<std::size_t>(std::stoi(word)) - 1; }

    void ask(const std::string& line) {
        constexpr std::string_view kDuring = " during creation";
        if (line.ends_with(kDuring)) {
            const std::string other = line.substr(0, line.size() - kDuring.size());
            recorder_.before_folder_sync([this, other] { ask(other); });
            return;
        }
        std::istringstream words(line);
        std::string number, lock_id, request;
        std::getline(words >> number >> lock_id >> std::ws, request);
        auto& engine = engines_.at(process(number));
        if (!engine) engine = open();
        const Result<Answer> answer = submit(*engine, request, lock_id);
        if (!answer) throw std::runtime_error(line + ": " + answer.error().message);
        auto epochs = history_.moments.back().epochs;
        learn(epochs[lock_id], *answer);
        note(lock_id + " " + request + " -> " + in_words(answer), std::move(epochs));
    }

    std::unique_ptr<Engine> open() {
        auto engine = store_.try_open();
        if (!engine) throw std::runtime_error(engine.error().message);
        return std::move(*engine);
    }

    static void learn(Epoch& greatest, const Answer& answer) {
        if (answer.hold) greatest = std::max(greatest, answer.hold->epoch);
        if (answer.ending) greatest = std::max(greatest, answer.ending->epoch);
        if (answer.displaced) greatest = std::max(greatest, answer.displaced->epoch);
    }

    void look_after(const std::string& what) {
        UpkeepTerms terms;
        terms.store.path = store_.options.path;
        terms.clock_for = [this](FilesystemKind, const std::string&) {
            return std::make_unique<SharedClock>(store_.clock);
        };
        const auto upkeep = sqlite_upkeep(terms);
        std::optional<Error> error;
        if (what == "prune") {
            if (const auto pruned = upkeep->prune_idle(std::chrono::hours{1}); !pruned) error = pruned.error();
        } else {
            if (const auto converted = upkeep->convert_to_shared(); !converted) error = converted.error();
        }
        if (error) throw std::runtime_error(what + ": " + error->message);
        note(what, history_.moments.back().epochs);
    }

    void note(std::string what, std::map<std::string, Epoch> epochs) {
        recorder_.note_answer();
        const std::string lasting = query(store_.options.path, kLasting);
        Moment moment{std::move(what), rows_of(store_.options.path), lasting != lasting_, std::move(epochs),
                      store_.clock.reading};
        // With a rollback journal even a heartbeat lasts; there the strength of the promise is one and the same.
        if (store_.options.journal == sqlite::Journal::Rollback) moment.must_last = true;
        lasting_ = lasting;
        history_.moments.push_back(std::move(moment));
    }

    StoreFixture store_;
    Recorder recorder_{store_.folder.path()};
    std::array<std::unique_ptr<Engine>, 2> engines_;
    std::string lasting_;
    History history_;
};

}  // namespace

std::string rows_of(const std::string& path) { return query(path, kRows); }

History play(const std::vector<std::string>& lines, sqlite::Journal journal, const Image& before,
             const Moment& beginning) {
    Player player(journal, before, beginning);
    for (const std::string& line : lines) player.play(line);
    return player.end();
}

std::vector<std::string> random_lines(Dice& dice, int requests) {
    std::vector<std::string> lines;
    while (requests > 0) {
        const std::string process = dice.pick({"1", "1", "2"});
        if (dice.one_in(8)) {
            lines.push_back(process + " ends");
        } else if (dice.one_in(4)) {
            lines.push_back("later " + std::to_string(dice.pick({1, 7, 31, 61, 600})));
        } else {
            --requests;
            lines.push_back(process + " " + dice.pick({"x", "x", "eu/y"}) + " " + dice.pick({"a", "b", "c"}) + " " +
                            dice.pick({"acquire", "acquire", "status", "renew", "renew", "accept", "release",
                                       "requisition", "stop", "nudge", "give-up", "no-queue"}));
        }
    }
    return lines;
}

}  // namespace hagi::test
