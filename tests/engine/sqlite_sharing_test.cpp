// Several processes at once: one writer at a time, and whoever waits in vain is told for whom.
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "lockcore/sqlite/polling_listener.hpp"
#include "platform/file_gate.hpp"
#include "tests/engine/engine_fixture.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

// A child that does `hold`, says so, and stays until it is killed.
class Bystander {
public:
    template <class Hold>
    explicit Bystander(const Hold& hold) {
        int ready[2];
        REQUIRE(::pipe(ready) == 0);
        pid = ::fork();
        if (pid == 0) {
            hold([&] {
                if (::write(ready[1], "r", 1) != 1) ::_exit(1);
                for (;;) ::pause();
            });
            ::_exit(1);
        }
        ::close(ready[1]);
        char byte = 0;
        REQUIRE(::read(ready[0], &byte, 1) == 1);
        ::close(ready[0]);
    }
    ~Bystander() {
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
    }
    Bystander(const Bystander&) = delete;
    Bystander& operator=(const Bystander&) = delete;

    pid_t pid = 0;
};

}  // namespace

TEST_CASE("Who waits in vain is told which process is in the way") {
    StoreFixture store;
    store.options.journal = GENERATE(SqliteOptions::Journal::Wal, SqliteOptions::Journal::Rollback);
    store.options.busy_timeout = 20ms;
    ask(*store.open(), "a acquire");
    const auto refused_because_of = [&](const Bystander& bystander) {
        const auto engine = store.open();
        const auto answer = submit(*engine, "a renew");
        REQUIRE(!answer);
        CHECK(answer.error().kind == ErrorKind::Unreachable);
        INFO(answer.error().message);
        CHECK(answer.error().message.find("process " + std::to_string(bystander.pid)) != std::string::npos);
    };
    SECTION("another hagi, in the gate") {
        const Bystander bystander([&](const auto& stay) {
            FileGate gate(gate_path(store.options.path), {});
            if (gate.enter(1s)) stay();
        });
        refused_because_of(bystander);
    }
    SECTION("another tool, in a transaction") {
        const Bystander bystander([&](const auto& stay) {
            sqlite3* handle = nullptr;
            sqlite3_open(store.options.path.c_str(), &handle);
            if (sqlite3_exec(handle, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) == SQLITE_OK) stay();
        });
        refused_because_of(bystander);
    }
    store.clock.advance(1s);
    CHECK(ask(*store.open(), "a renew") == "Holding #1");  // the kernel has freed what the dead one held
}

TEST_CASE("A request is decided inside the gate") {
    StoreFixture store;
    const auto engine = store.open();
    store.options.busy_timeout = 0ms;
    const auto other = store.open();
    FileGate gate(gate_path(store.options.path), {});
    REQUIRE(gate.enter(0ms));
    CHECK(ask(*other, "a acquire") == "error Unreachable");
    CHECK(query(store.options.path, "SELECT count(*) FROM events") == "0");
    CHECK(other->list({}));  // a reader waits for no writer
    gate.leave();
    CHECK(ask(*other, "a acquire") == "Holding #1");
    CHECK(gate.enter(0ms));  // and left again
}

TEST_CASE("Writers that hurry never share an epoch") {
    StoreFixture store;
    store.options.journal = GENERATE(SqliteOptions::Journal::Wal, SqliteOptions::Journal::Rollback);
    store.options.busy_timeout = 5min;  // a slow machine is no failure
    store.open();
    constexpr int kWriters = 4;
    constexpr int kTurns = 60;
    std::vector<pid_t> children;
    for (int i = 0; i < kWriters; ++i) {
        const pid_t child = ::fork();
        if (child == 0) {
            const std::string owner = "w" + std::to_string(i);
            for (int turn = 0; turn < kTurns; ++turn) {
                auto engine = store.try_open();
                if (!engine || !submit(**engine, owner + " requisition") || !submit(**engine, owner + " release"))
                    ::_exit(1);
            }
            ::_exit(0);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = 0;
        ::waitpid(child, &status, 0);
        CHECK(status == 0);
    }
    CHECK(query(store.options.path,
                "SELECT count(*), count(DISTINCT epoch), max(epoch) FROM events"
                " WHERE event = 'granted'") == "240|240|240");
    CHECK(query(store.options.path, "PRAGMA integrity_check") == "ok");
}

namespace {

// Sleeps through its time, which passes at once, unless something happens at the n-th sleep.
class ScriptedListener : public Listener {
public:
    ScriptedListener(std::chrono::steady_clock::time_point& now, int& sleeps, std::function<bool(int)> rings)
        : now_(now), sleeps_(sleeps), rings_(std::move(rings)) {}

    void arm() override {}
    void sleep(Duration at_most, const Interrupts&) override {
        ++sleeps_;
        now_ += rings_(sleeps_) ? at_most / 2 : at_most;
    }

private:
    std::chrono::steady_clock::time_point& now_;
    int& sleeps_;
    std::function<bool(int)> rings_;
};

}  // namespace

TEST_CASE("Between hosts a listener looks for changes itself") {
    std::chrono::steady_clock::time_point now{};
    int sleeps = 0;
    std::int64_t version = 1;
    std::function<bool(int)> rings = [](int) { return false; };
    sqlite::PollingListener listener(
        std::make_unique<ScriptedListener>(now, sleeps, [&](int nth) { return rings(nth); }),
        [&] { return std::optional(version); }, [&] { return now; });
    listener.arm();
    const auto slept = [&](Duration at_most) {
        const auto before = now;
        listener.sleep(at_most, {});
        return std::chrono::duration_cast<Duration>(now - before);
    };
    SECTION("nothing happens: it sleeps its time") {
        CHECK(slept(15s) == 15s);
        CHECK(sleeps == 8);
    }
    SECTION("a short sleep is not made longer") { CHECK(slept(300ms) == 300ms); }
    SECTION("somebody else changes the store") {
        rings = [&](int nth) { return version = nth < 3 ? 1 : 2, false; };
        CHECK(slept(15s) == 6s);
    }
    SECTION("somebody did between arming and sleeping") {
        version = 2;
        CHECK(slept(15s) == 2s);
    }
    SECTION("it is rung") {
        rings = [](int nth) { return nth == 2; };
        CHECK(slept(15s) == 3s);
    }
}

}  // namespace hagi::test
