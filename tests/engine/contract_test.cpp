// What every engine promises, whatever it keeps the locks in.
#include "tests/engine/engine_fixture.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

struct InMemory {
    FakeClock clock;
    MemoryEngine engine{clock};

    Engine& operator*() { return engine; }
};

template <SqliteOptions::Journal kJournal>
struct InSqlite : StoreFixture {
    std::unique_ptr<Engine> engine;

    InSqlite() {
        options.journal = kJournal;
        engine = open();
    }
    Engine& operator*() { return *engine; }
};

using InWal = InSqlite<SqliteOptions::Journal::Wal>;
using InRollback = InSqlite<SqliteOptions::Journal::Rollback>;

std::string listed(Engine& engine, const ListQuery& query) {
    const Result<ListAnswer> answer = engine.list(query);
    if (!answer) return answer.error().message;
    std::string text;
    for (const LockView& lock : answer->locks) {
        text += lock.lock_id.str() + "(" + (lock.state.hold ? lock.state.hold->owner.str() : "-");
        for (const Waiter& waiter : lock.state.queue) text += " " + waiter.owner.str();
        text += ") ";
    }
    return text;
}

}  // namespace

TEMPLATE_TEST_CASE("An engine keeps the turn from one request to the next", "", InMemory, InWal, InRollback) {
    TestType store;
    CHECK(ask(*store, "a status") == "None");
    CHECK(ask(*store, "a renew") == "refused LockLost not the holder");
    CHECK(ask(*store, "a accept") == "refused NotFound");
    CHECK(ask(*store, "a release") == "None, released nothing");
    CHECK(ask(*store, "a acquire") == "Holding #1");
    CHECK(ask(*store, "b acquire") == "Queued 1/1");
    CHECK(ask(*store, "c acquire") == "Queued 2/2");
    CHECK(ask(*store, "d no-queue") == "refused Conflict");
    CHECK(ask(*store, "a release") == "None, released hold");
    CHECK(ask(*store, "b accept") == "Holding #2");
    CHECK(ask(*store, "d requisition") == "Holding #3");
    CHECK(ask(*store, "b renew epoch=2") == "refused LockLost requisitioned");
    CHECK(ask(*store, "b status") == "Requisitioned requisitioned");
    CHECK(ask(*store, "c give-up") == "Queued 1/1, released queue");
    CHECK(ask(*store, "d renew epoch=3") == "Holding #3");
}

TEMPLATE_TEST_CASE("An engine stamps requests with its clock", "", InMemory, InWal, InRollback) {
    TestType store;
    const auto granted = submit(*store, "a acquire");
    REQUIRE(granted);
    CHECK(granted->wall_now == store.clock.reading.wall);
    store.clock.advance(Duration{1});
    const auto asked = submit(*store, "b acquire");
    CHECK(asked->now - granted->now == Duration{1});
    store.clock.advance(59s);
    CHECK(ask(*store, "b status") == "Queued 1/1");

    store.clock.advance(541s);  // 600 s and a millisecond after the grant, and b was last heard from at 59 s
    CHECK(ask(*store, "b status") == "Expired not polled");
    CHECK(ask(*store, "a status") == "Expired lease expired");
    CHECK(ask(*store, "b acquire") == "Holding #2");
}

TEMPLATE_TEST_CASE("A step of the wall clock changes no deadline", "", InMemory, InWal, InRollback) {
    TestType store;
    CHECK(ask(*store, "a acquire") == "Holding #1");
    store.clock.reading.wall += 48h;
    CHECK(ask(*store, "a status") == "Holding #1");
    store.clock.reading.wall -= 96h;
    CHECK(ask(*store, "a status") == "Holding #1");
}

TEMPLATE_TEST_CASE("After a reboot the wall clock counts, but never backwards", "", InMemory, InWal, InRollback) {
    TestType store;
    const auto granted = submit(*store, "a acquire");
    REQUIRE(granted);
    SECTION("forwards") {
        store.clock.reading = {"boot-2", 3s, store.clock.reading.wall + 599s};
        CHECK(ask(*store, "a status") == "Holding #1");
        store.clock.reading.wall += 1s;
        CHECK(ask(*store, "a status") == "Expired lease expired");
    }
    SECTION("backwards") {
        store.clock.reading = {"boot-2", 3s, store.clock.reading.wall - 100h};
        const auto renewed = submit(*store, "a renew");
        CHECK(renewed->now == granted->now);
        store.clock.advance(599s);
        CHECK(ask(*store, "a status") == "Holding #1");
    }
}

TEMPLATE_TEST_CASE("A list is sorted, settled in memory and changes nothing", "", InMemory, InWal, InRollback) {
    TestType store;
    for (const char* const lock_id : {"eu/b", "eu/a", "eu-1/z", "us/a"}) REQUIRE(submit(*store, "a acquire", lock_id));
    REQUIRE(submit(*store, "b acquire", "eu/a"));
    REQUIRE(submit(*store, "c acquire", "eu/a"));
    REQUIRE(submit(*store, "a release", "us/a"));
    CHECK(listed(*store, {}) == "eu-1/z(a) eu/a(a b c) eu/b(a) ");
    CHECK(listed(*store, {"", true}) == "eu-1/z(a) eu/a(a b c) eu/b(a) us/a(-) ");
    CHECK(listed(*store, {"eu/", false}) == "eu/a(a b c) eu/b(a) ");
    CHECK(listed(*store, {"EU/", false}) == "");
    CHECK(listed(*store, {"e_", false}) == "");
    CHECK(listed(*store, {"eu/b", false}) == "eu/b(a) ");

    store.clock.advance(50s);
    REQUIRE(submit(*store, "c status", "eu/a"));
    store.clock.advance(10s);
    CHECK(listed(*store, {"eu/a", false}) == "eu/a(a c) ");
    CHECK(listed(*store, {"eu/a", false}) == "eu/a(a c) ");
    store.clock.advance(24h);
    CHECK(listed(*store, {}) == "");
    CHECK(listed(*store, {"eu/", true}) == "eu/a(-) eu/b(-) ");
}

TEST_CASE("The engine in memory lets others act while a listener sleeps") {
    InMemory store;
    const auto listener = store.engine.listen(LockId("x"), Owner("b"));
    listener->sleep(1s, {});  // without a hook: at once
    Duration slept{};
    store.engine.on_sleep([&](Duration at_most) {
        slept = at_most;
        store.clock.advance(at_most);
        ask(store.engine, "a acquire");
    });
    listener->arm();
    listener->sleep(15s, {});
    CHECK(slept == 15s);
    CHECK(ask(store.engine, "b acquire") == "Queued 1/1");
    CHECK(store.engine.events().size() == 2);
    CHECK(store.engine.events()[0].lock_id == LockId("x"));
    CHECK(store.engine.events()[0].wall == store.clock.reading.wall);
}

}  // namespace hagi::test
