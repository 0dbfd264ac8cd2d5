// Two engines that share nothing but the rules are asked the same, and must answer the same. HAGI_TEST_REQUESTS and
// HAGI_TEST_SEED choose how much and what; a failure names both.
#include <sqlite3.h>

#include "lockcore/words.hpp"
#include "tests/engine/engine_fixture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/dice.hpp"

namespace hagi::test {
namespace {

Progress any_progress(Dice& dice) {
    return {dice.maybe(Phase(dice.pick({"", "compile", "test"}))), dice.maybe(Note(dice.pick({"", "12 %", "fünf"})))};
}

// Often the current epoch of some lock, as the last answer told it.
std::optional<Epoch> any_epoch(Dice& dice, Epoch last) { return dice.maybe(Epoch{last.value - dice.roll(3)}); }

Request any_bare_request(Dice& dice, const Owner& owner, Epoch last) {
    switch (dice.roll(18)) {
        case 0:
        case 1:
        case 2:
        case 3:
            return {owner, AcquireRequest{dice.maybe(Label(dice.pick({"", "nightly", "it's"}))), any_progress(dice),
                                          dice.maybe(dice.pick<Duration>({30s, 31s, 600s})),
                                          dice.maybe(dice.pick<Duration>({60s, 61s, 700s, 24h})),
                                          dice.pick({WhenHeld::Join, WhenHeld::Join, WhenHeld::Join, WhenHeld::Refuse,
                                                     WhenHeld::LookOnce})}};
        case 4:
        case 5:
        case 6: return {owner, StatusRequest{}};
        case 7:
        case 8:
        case 9:
            return {owner, RenewRequest{any_epoch(dice, last), dice.maybe(dice.pick<Duration>({30s, 90s, 600s})),
                                        any_progress(dice)}};
        case 10: return {owner, AcceptRequest{any_epoch(dice, last), dice.pick<Duration>({0s, 30s, 599s})}};
        case 11:
        case 12: return {owner, ReleaseRequest{any_epoch(dice, last)}};
        case 13:
            return {owner,
                    RequisitionRequest{Reason("by order"), Label(dice.pick({"", "fire"})), any_epoch(dice, last)}};
        case 14: return {owner, GiveUpRequest{dice.pick({Place::Keep, Place::Leave})}};
        case 15: return {owner, StopRequest{Reason("by order"), any_epoch(dice, last)}};
        case 16: return {owner, NudgeRequest{Reason(dice.pick({"please", "soon?"}))}};
        default: return {owner, WithdrawRequest{dice.pick({Place::Keep, Place::Leave}), any_epoch(dice, last)}};
    }
}

ProcessIdentity any_process(Dice& dice) {
    const auto pid = static_cast<std::int32_t>(1 + dice.roll(4));
    return {pid, static_cast<std::uint64_t>(pid) * 100, "boot-1", 7, dice.pick({"host-a", "host-b"})};
}

Request any_request(Dice& dice, const Owner& owner, Epoch last) {
    Request request = any_bare_request(dice, owner, last);
    if (dice.one_in(4)) request.binding = Binding{any_process(dice), static_cast<std::int32_t>(dice.roll(3))};
    if (dice.one_in(4))
        request.watcher = Watcher{any_process(dice), dice.pick({WatcherKind::Heartbeat, WatcherKind::Run}), {}};
    if (auto* const acquire = std::get_if<AcquireRequest>(&request.action); acquire && dice.one_in(4))
        acquire->process = any_process(dice);
    return request;
}

// Mostly little, often to a deadline or one millisecond beside it, now and then a reboot.
void pass_time(Dice& dice, FakeClock& clock) {
    const Duration beside = Duration{dice.roll(3) - 1};
    if (dice.one_in(2)) {
        clock.advance(dice.pick<Duration>({0s, 1ms, 1s, 10s}));
    } else if (dice.one_in(2)) {
        clock.advance(dice.pick<Duration>({15s, 30s, 31s, 60s}) + beside);
    } else if (dice.one_in(10)) {
        clock.advance(dice.pick<Duration>({600s, 700s, 24h}) + beside);
    } else if (dice.one_in(20)) {
        clock.reading = {"boot-" + std::to_string(dice.roll(3)), Duration{dice.roll(100'000)},
                         clock.reading.wall + dice.pick<Duration>({-1h, -1ms, 0s, 29s, 60s, 1h})};
    } else if (dice.one_in(20)) {
        clock.reading.wall += dice.pick<Duration>({-48h, 48h});
    }
}

std::string column(const std::optional<std::string_view>& text) { return std::string(text.value_or("")); }

std::string as_row(std::size_t seq, const LoggedEvent& logged) {
    const Event& event = logged.event;
    std::string row = std::to_string(seq);
    for (const std::string& text :
         {std::to_string(event.at.milliseconds), std::to_string(logged.wall.count()), std::string(word_for(event.kind)),
          logged.lock_id.str(), event.owner.str(), event.epoch == Epoch{} ? "" : std::to_string(event.epoch.value),
          event.by.str(), event.reason.str(), event.cause ? column(word_for(*event.cause)) : "", event.label.str()})
        row += "|" + text;
    return row;
}

// Compares what has been stored since the last comparison.
void compare_events(const std::string& path, const std::vector<LoggedEvent>& expected, std::size_t& compared) {
    std::string rows;
    for (std::size_t i = compared; i < expected.size(); ++i)
        rows += (rows.empty() ? "" : "\n") + as_row(i + 1, expected[i]);
    const std::string stored = query(path,
                                     "SELECT seq, at_ms, wall_ms, event, lock_id, owner, epoch, by_owner, reason, "
                                     "cause, label FROM events WHERE seq > " +
                                         std::to_string(compared) + " ORDER BY seq");
    REQUIRE(stored == rows);
    compared = expected.size();
}

void compare_lists(Engine& one, Engine& other, const ListQuery& query) {
    const auto a = one.list(query);
    const auto b = other.list(query);
    REQUIRE(a);
    REQUIRE(b);
    REQUIRE(a->now == b->now);
    REQUIRE(a->wall_now == b->wall_now);
    REQUIRE(a->locks.size() == b->locks.size());
    for (std::size_t i = 0; i < a->locks.size(); ++i) {
        REQUIRE(a->locks[i].lock_id == b->locks[i].lock_id);
        REQUIRE(a->locks[i].state == b->locks[i].state);
    }
}

}  // namespace

TEST_CASE("The engines answer and store alike") {
    const std::uint64_t seed = number_from("HAGI_TEST_SEED", 1);
    const std::uint64_t requests = number_from("HAGI_TEST_REQUESTS", 1'000'000);
    WARN("HAGI_TEST_SEED=" << seed << " HAGI_TEST_REQUESTS=" << requests);

    Dice dice(seed);
    StoreFixture store;
    MemoryEngine memory(store.clock, "memory", &store.witness);
    REQUIRE(memory.list({}));  // its time begins with that of the store
    std::unique_ptr<Engine> sqlite = store.open();

    Epoch last;
    std::size_t compared = 0;
    for (std::uint64_t i = 0; i < requests; ++i) {
        const LockId lock_id(dice.pick({"eu/a", "eu/b", "x"}));
        const Request request = any_request(dice, Owner(dice.pick({"a", "b", "c", "d", "e"})), last);
        pass_time(dice, store.clock);
        if (dice.one_in(20)) store.witness.gone = {static_cast<std::int32_t>(1 + dice.roll(4))};
        if (dice.one_in(20)) store.witness.gone.clear();
        const auto expected = memory.submit(lock_id, request);
        const auto answered = sqlite->submit(lock_id, request);
        const bool same = expected && answered && *expected == *answered;
        if (!same) {
            INFO("request " << i << " of seed " << seed << ": " << request.owner.str() << " action "
                            << request.action.index() << " on " << lock_id.str());
            INFO((answered ? std::string("another answer") : answered.error().message));
            REQUIRE(same);
        }
        if (answered->hold) last = answered->hold->epoch;
        if (dice.one_in(500)) compare_lists(memory, *sqlite, {dice.pick({"", "eu/", "x", "y"}), dice.one_in(2)});
        if (dice.one_in(2000)) sqlite = store.open(SqliteOptions::Access::Existing);
        if (dice.one_in(2000)) compare_events(store.options.path, memory.events(), compared);
    }
    compare_events(store.options.path, memory.events(), compared);
    CHECK(query(store.options.path, "PRAGMA integrity_check") == "ok");
}

}  // namespace hagi::test
