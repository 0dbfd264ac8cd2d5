// Clocks that lie, stand still and start anew. A grant lasts as long as it was promised by the store's own time: what
// the machine was awake, plus, from one boot to the next, what the wall clock says has passed since the store was
// written. HAGI_TEST_SEED and HAGI_TEST_LONG choose the random histories.
#include "tests/engine/engine_fixture.hpp"
#include "tests/simulation/second_reading.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/dice.hpp"

namespace hagi::test {
namespace {

using Journal = SqliteOptions::Journal;

// Neither an administrator's step nor a suspended night is time that passes.
void step_wall(StoreFixture& store, Duration by) { store.clock.reading.wall += by; }

void reboot(StoreFixture& store, const char* boot, Duration wall_moved_by) {
    store.clock.reading = {boot, 3s, store.clock.reading.wall + wall_moved_by};
}

// A machine, and the store's time on it as it ought to be; knows nothing of how a store keeps it.
class TrueTime {
public:
    enum class Kind { Machine, FileServer };
    explicit TrueTime(Kind kind) : kind_(kind) {}

    void pass(Duration time) {
        awake_ += time;
        wall_ += time;
    }
    void step_wall(Duration by) { wall_ += by; }
    void reboot(Duration wall_moved_by, Dice& dice) {
        ++boot_;
        before_boot_ = awake_ - Duration{dice.roll(100'000)};
        wall_ += wall_moved_by;
    }

    [[nodiscard]] ClockReading reading() const {
        if (kind_ == Kind::FileServer) return {"file server", wall_, wall_};
        return {"boot-" + std::to_string(boot_), awake_ - before_boot_, wall_};
    }

    [[nodiscard]] Instant now() const {
        const bool awake_counts = kind_ == Kind::Machine && boot_ == written_boot_;
        const Duration passed = awake_counts ? awake_ - written_awake_ : wall_ - written_wall_;
        return passed < Duration::zero() ? written_ : written_ + passed;
    }
    void written() {
        written_ = now();
        written_boot_ = boot_;
        written_awake_ = awake_;
        written_wall_ = wall_;
    }

private:
    Kind kind_;
    int boot_ = 1;
    Duration awake_{5'000'000};
    Duration before_boot_{};
    Duration wall_{1'700'000'000'000};

    Instant written_{0};
    int written_boot_ = 1;
    Duration written_awake_{awake_};
    Duration written_wall_{wall_};
};

std::string pass_time(TrueTime& time, Dice& dice) {
    const Duration beside{dice.roll(3) - 1};
    switch (dice.roll(12)) {
        case 0: {
            const auto by = dice.pick<Duration>({-48h, -600s, -1s, 1s, 600s, 48h});
            time.step_wall(by);
            return "wall " + std::to_string(by.count());
        }
        case 1: {
            const auto by = dice.pick<Duration>({-1h, -1s, 0s, 29s, 59s, 599s, 600s, 48h});
            time.reboot(by, dice);
            return "reboot " + std::to_string(by.count());
        }
        case 2:
        case 3:
        case 4: {
            const auto by = dice.pick<Duration>({15s, 30s, 60s, 600s}) + beside;
            time.pass(by);
            return "later " + std::to_string(by.count());
        }
        default: time.pass(dice.pick<Duration>({0s, 1ms, 1s, 9s})); return "soon";
    }
}

std::string any_request(Dice& dice) {
    const std::string owner = dice.pick({"a", "b", "c", "d"});
    return owner + " " +
           dice.pick({"acquire", "acquire", "acquire", "status", "status", "renew", "renew", "accept", "release",
                      "requisition", "stop", "no-queue"});
}

// What the disk holds; a request that changes nothing does not touch it.
std::string bytes_of(const StoreFixture& store) {
    return read_file(store.options.path) + read_file(store.options.path + "-wal");
}

void play_and_judge(StoreFixture& store, TrueTime::Kind kind, std::uint64_t seed, int requests) {
    Dice dice(seed);
    TrueTime time(kind);
    store.clock.reading = time.reading();
    auto engine = store.open();
    LockState state;
    Epoch last;
    std::string bytes = bytes_of(store);
    std::string history;
    for (int i = 0; i < requests; ++i) {
        const std::string passed = pass_time(time, dice);
        store.clock.reading = time.reading();
        if (passed.starts_with("reboot") || dice.one_in(50)) engine = store.open();
        const std::string request = any_request(dice);
        history = history.substr(history.size() > 600 ? history.size() - 600 : 0) + passed + "; " + request + "; ";
        CAPTURE(seed, i, history);

        const Result<Answer> answer = submit(*engine, request);
        REQUIRE(answer);
        REQUIRE(answer->now == time.now());
        ReadRequest read = read_request(read_settling(state, time.now()).state, request_from(request), {}, time.now());
        REQUIRE(in_words(answer) == in_words(Result(read.answer)));
        REQUIRE(answer->hold == read.answer.hold);
        if (answer->hold) REQUIRE(answer->hold->epoch >= last);
        if (answer->hold) last = answer->hold->epoch;
        state = std::move(read.state);

        std::string bytes_now = bytes_of(store);
        if (bytes_now != bytes) time.written();
        bytes = std::move(bytes_now);
    }
}

}  // namespace

TEST_CASE("Whatever the clocks do, every answer is the one that was promised") {
    const std::uint64_t seed = number_from("HAGI_TEST_SEED", 1);
    WARN("HAGI_TEST_SEED=" << seed);
    StoreFixture store;
    store.options.journal = GENERATE(Journal::Wal, Journal::Rollback);
    const auto kind = GENERATE(TrueTime::Kind::Machine, TrueTime::Kind::FileServer);
    play_and_judge(store, kind, seed, is_long_run() ? 30'000 : 2'000);
}

TEST_CASE("A wall clock that is stepped moves no claim window, no lease and no waiter's silence") {
    StoreFixture store;
    const auto engine = store.open();
    const auto step = GENERATE(Duration{-48h}, Duration{-1s}, Duration{48h});
    const auto pass_with_step = [&](Duration time) {
        store.clock.advance(time / 2);
        step_wall(store, step);
        store.clock.advance(time - time / 2);
    };
    for (const char* const request : {"a acquire", "b acquire", "c acquire"}) ask(*engine, request);
    SECTION("a waiter's silence") {
        pass_with_step(59999ms);
        CHECK(ask(*engine, "c status") == "Queued 2/2");
        store.clock.advance(1ms);
        CHECK(ask(*engine, "b status") == "Expired not polled");
        CHECK(ask(*engine, "c status") == "Queued 1/1");
    }
    SECTION("a claim window") {
        ask(*engine, "a release");
        pass_with_step(29999ms);
        SECTION("kept") { CHECK(ask(*engine, "b status") == "Holding #2"); }
        SECTION("missed") {
            store.clock.advance(1ms);
            CHECK(ask(*engine, "b status") == "Expired claim missed");
            CHECK(ask(*engine, "c status") == "Holding #3");
        }
    }
    SECTION("a lease") {
        pass_with_step(599999ms);
        CHECK(ask(*engine, "d acquire") == "Queued 1/1");
        store.clock.advance(1ms);
        CHECK(ask(*engine, "d status") == "Holding #2");
    }
}

TEST_CASE("While the machine is suspended no time passes") {
    StoreFixture store;
    const auto engine = store.open();
    ask(*engine, "a acquire");
    ask(*engine, "b acquire");
    step_wall(store, 10h);  // all that a suspended night is
    CHECK(ask(*engine, "b status") == "Queued 1/1");
    CHECK(ask(*engine, "a renew") == "Holding #1");
}

TEST_CASE("Several reboots add up, each by the wall clock since the store was last written") {
    StoreFixture store;
    ask(*store.open(), "a acquire");
    for (const char* const boot : {"boot-2", "boot-3", "boot-4"}) {
        reboot(store, boot, 199s);
        CHECK(ask(*store.open(), "a status") == "Holding #1");  // which writes nothing
    }
    SECTION("nothing was written meanwhile") {
        step_wall(store, 3s - 1ms);
        CHECK(ask(*store.open(), "a status") == "Holding #1");
        step_wall(store, 1ms);  // on this boot, too: it is not the one that wrote last
        CHECK(ask(*store.open(), "a status") == "Expired lease expired");
    }
    SECTION("somebody wrote meanwhile") {
        CHECK(ask(*store.open(), "b acquire") == "Queued 1/1");
        step_wall(store, 1h);
        CHECK(ask(*store.open(), "a status") == "Holding #1");
        store.clock.advance(3s);
        CHECK(ask(*store.open(), "a status") == "Expired lease expired");
    }
}

TEST_CASE("A reboot into the past costs nobody anything, and time goes on with the next change") {
    StoreFixture store;
    ask(*store.open(), "a acquire");
    reboot(store, "boot-2", -100h);
    CHECK(ask(*store.open(), "a status") == "Holding #1");
    step_wall(store, -100h);
    reboot(store, "boot-3", -100h);
    CHECK(ask(*store.open(), "b acquire") == "Queued 1/1");
    store.clock.advance(599s);
    CHECK(ask(*store.open(), "b acquire") == "Queued 1/1");  // dropped at 60 s, and joined again
    store.clock.advance(1s);
    CHECK(ask(*store.open(), "b status") == "Holding #2");
    CHECK(ask(*store.open(), "a renew") == "refused LockLost lease expired");
}

TEST_CASE("A file server whose clock is stepped back lets no lease revive and no epoch return") {
    StoreFixture store;
    store.options.journal = Journal::Rollback;
    store.clock.reading.timeline = "file server";
    const auto engine = store.open();
    const auto server_at = [&](Duration from_now) {
        store.clock.reading.steady += from_now;
        store.clock.reading.wall += from_now;
    };
    CHECK(ask(*engine, "a acquire") == "Holding #1");
    server_at(600s);
    CHECK(ask(*engine, "b acquire") == "Holding #2");
    server_at(-2h);
    CHECK(ask(*engine, "a status") == "Expired lease expired");
    CHECK(ask(*engine, "b renew") == "Holding #2");
    CHECK(ask(*engine, "c acquire") == "Queued 1/1");  // written: time goes on from here
    server_at(59s);
    CHECK(ask(*engine, "c status") == "Queued 1/1");
    server_at(541s);
    CHECK(ask(*engine, "c status") == "Expired not polled");
    CHECK(ask(*engine, "c acquire") == "Holding #3");
}

}  // namespace hagi::test
