#include "tests/stress/crowd.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <csignal>
#include <ctime>
#include <filesystem>
#include <map>

#include "platform/file_gate.hpp"
#include "tests/stress/guarded_counter.hpp"
#include "tests/stress/judge.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/dice.hpp"

namespace hagi::test {
namespace {

using std::chrono::milliseconds;

void pause(Moment length) {
    const timespec time{0, static_cast<long>(length.count())};
    ::nanosleep(&time, nullptr);
}

}  // namespace

// Another program that looks after the store, as often as it can: in the gate, as the stored format wants it.
class Checkpointer {
public:
    explicit Checkpointer(const std::string& store) : gate_(store + "-gate", {}) {
        if (sqlite3_open_v2(store.c_str(), &handle_, SQLITE_OPEN_READWRITE, nullptr) != SQLITE_OK)
            throw std::runtime_error("no store " + store);
        sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    }
    ~Checkpointer() { sqlite3_close(handle_); }
    Checkpointer(const Checkpointer&) = delete;
    Checkpointer& operator=(const Checkpointer&) = delete;

    void checkpoint() {
        if (!gate_.enter(std::chrono::seconds{5})) return;
        const GateLeaver leaver(gate_);
        sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
    }

private:
    FileGate gate_;
    sqlite3* handle_ = nullptr;
};

Measure measure(std::chrono::seconds short_length, std::chrono::seconds long_length) {
    Measure measure;
    measure.seed = number_from("HAGI_TEST_SEED", 1);
    measure.length = is_long_run() ? long_length : short_length;
    return measure;
}

Crowd::Crowd(const Hagi& hagi, const Measure& measure, std::vector<Words> places)
    : hagi_(hagi),
      measure_(measure),
      places_(std::move(places)),
      history_path_(hagi.folder() + "/history"),
      history_(history_path_),
      dice_(measure.seed) {
    WARN("HAGI_TEST_SEED=" << measure.seed);
}

Crowd::~Crowd() = default;

std::int64_t Crowd::roll(std::int64_t sides) {
    return std::uniform_int_distribution<std::int64_t>(0, sides - 1)(dice_);
}

void Crowd::note(Saw saw, const std::string& lock, const std::string& owner, std::int64_t epoch) const {
    history_.add({moment(), saw, lock, owner, epoch, 0, Moment::max(), 0, 0});
}

std::string Crowd::counter(const std::string& lock) const { return hagi_.folder() + "/counter-" + lock; }

Words Crowd::placed(std::size_t nth, const Words& words) const {
    Words line = places_.empty() ? Words() : places_[nth % places_.size()];
    line.insert(line.end(), words.begin(), words.end());
    return line;
}

Finished Crowd::asked(const Words& words) const {
    Words line = placed(0, Hagi::line(words));
    line.emplace_back("--json");
    return hagi_.run_other(line);
}

nlohmann::json Crowd::told(const Words& words) const {
    const Finished finished = asked(words);
    INFO(words.at(0) << ": " << finished.out << finished.err);
    REQUIRE(finished.code == 0);
    return nlohmann::json::parse(finished.out);
}

// ---- Taking turns ----

void Crowd::start(Member& member, Moment until) {
    const auto nth = static_cast<std::size_t>(&member - members_.data());
    member.process = hagi_.start_other(
        placed(nth, {HAGI_STRESS_AGENT, member.how, member.lock, member.owner, history_path_, counter(member.lock),
                     std::to_string(dice_() >> 1U), std::to_string(until.count())}));
}

void Crowd::add(const std::string& how, const std::string& lock, const std::string& owner, Moment until) {
    members_.push_back({how, lock, owner, nullptr});
    start(members_.back(), until);
}

void Crowd::take_turns() {
    until_ = moment() + measure_.length;
    const auto join = [this](const std::string& how, int locks, int owners) {
        for (int lock = 0; lock < locks; ++lock) {
            locks_.push_back(fmt::format("{}-{}", how, lock));
            for (int i = 0; i < owners; ++i) add(how, locks_.back(), fmt::format("{}-{}-{}", how, lock, i), until_);
        }
    };
    join("take", 4, measure_.takers);
    join("run", 2, measure_.runners);
    for (int turn = 1; moment() < until_ || turn <= measure_.fewest; ++turn) {
        disturb_somebody();
        if (turn % 16 == 0) take_by_order();
        for (int i = 0; i < 10; ++i) {
            checkpoint();
            pause(milliseconds{2});
        }
    }
    end_all();
    checkpointer_.reset();
}

// An owner is killed and comes back, or stands still for a while: wherever it is just then.
void Crowd::disturb_somebody() {
    Member& member = members_[static_cast<std::size_t>(roll(std::ssize(members_)))];
    // Who waits in `run` and dies leaves a place that only time takes away.
    if (member.how == "take" && roll(2) == 0) {
        history_.add({moment(), Saw::Killed, member.lock, member.owner, 0, 0, {}, member.process->pid(), 0});
        member.process->send(SIGKILL);
        member.process->wait();
        start(member, until_);
        return;
    }
    member.process->send(SIGSTOP);
    pause(milliseconds{roll(60)});
    if (roll(3) == 0) take_by_order();  // perhaps just what it holds
    member.process->send(SIGCONT);
}

void Crowd::checkpoint() {
    if (!places_.empty()) return;  // not this store, and perhaps none with a log
    if (!checkpointer_ && std::filesystem::exists(hagi_.store()))
        checkpointer_ = std::make_unique<Checkpointer>(hagi_.store());
    if (checkpointer_) checkpointer_->checkpoint();
}

void Crowd::take_by_order() {
    static const std::string kOperator = "operator";
    const std::string& lock = locks_[static_cast<std::size_t>(roll(std::ssize(locks_)))];
    Record taken{moment(), Saw::Taken, lock, kOperator, 0, 0, Moment::max(), 0, 0};
    const Finished order =
        asked({"requisition", "--lock-id", lock, "--owner", kOperator, "--reason", "the stress test wants it"});
    // Whoever stands still may have a command stand still inside the gate.
    constexpr int kBusy = 60;
    if (order.code == kBusy) return;
    INFO("requisition: " << order.out << order.err);
    REQUIRE(order.code == 0);
    const auto answer = nlohmann::json::parse(order.out);
    taken.epoch = answer.at("epoch");
    if (answer.contains("displaced")) taken.other = answer["displaced"]["epoch"];
    history_.add(taken);

    note(Saw::Entered, lock, kOperator, taken.epoch);
    const GuardedCounter resource(counter(lock));
    const auto value = resource.read(taken.epoch);
    if (!value || !resource.write(taken.epoch, *value + 1)) note(Saw::Refused, lock, kOperator, taken.epoch);
    note(Saw::Left, lock, kOperator, taken.epoch);
    told({"release", "--lock-id", lock, "--owner", kOperator, "--epoch", std::to_string(taken.epoch)});
}

void Crowd::end_all() {
    for (Member& member : members_) {
        const std::string errors = member.process->rest_of_errors();
        INFO(member.owner << ": " << errors);
        CHECK(member.process->wait() == 0);
        member.process.reset();
    }
    members_.clear();
}

// ---- The dead ----

void Crowd::leave_the_dead_behind() {
    const auto acquired = [this](const std::string& lock, const std::string& owner) {
        note(Saw::Asked, lock, owner);
        const auto answer = told({"acquire", "--lock-id", lock, "--owner", owner, "--lease-seconds", "30"});
        note(Saw::Granted, lock, owner, answer.at("epoch"));
        return answer.at("epoch").get<std::int64_t>();
    };
    acquired("dead-holder", "dead");  // never heard of again

    const std::int64_t epoch = acquired("dead-waiter", "alive");
    note(Saw::Asked, "dead-waiter", "dead");
    const auto dead =
        hagi_.start_other(placed(0, Hagi::line({"acquire", "--wait", "--lock-id", "dead-waiter", "--owner", "dead"})));
    dead->await_line("place 1 of 1");
    note(Saw::Queued, "dead-waiter", "dead");
    note(Saw::Abandoned, "dead-waiter", "dead");
    dead->send(SIGKILL);
    dead->wait();
    for (const std::string lock : {"dead-holder", "dead-waiter"})
        for (const std::string owner : {"behind-1", "behind-2"}) add("take", lock, owner, Moment{});
    for (const Member& member : members_)
        while (told({"list", "--prefix", member.lock})["locks"][0]["queue"].size() < 2) pause(milliseconds{10});
    note(Saw::Left, "dead-waiter", "alive", epoch);
    told({"release", "--lock-id", "dead-waiter", "--owner", "alive"});
}

void Crowd::await_those_behind_the_dead() { end_all(); }

// ---- What came of it ----

std::vector<std::string> Crowd::verdict() const {
    std::vector<std::string> complaints = broken_promises(read_history(history_path_));
    for (const std::string& lock : locks_) {
        const auto count = GuardedCounter(counter(lock)).count();
        if (count.value != count.writes)
            complaints.push_back(fmt::format("{}: {} writes came to {}", lock, count.writes, count.value));
    }
    return complaints;
}

std::string Crowd::summary() const {
    std::map<std::string_view, int> counts;
    for (const Record& record : read_history(history_path_)) ++counts[word_for(record.saw)];
    std::string text;
    for (const auto& [what, count] : counts) text += fmt::format("{} {}, ", count, what);
    return text;
}

}  // namespace hagi::test
