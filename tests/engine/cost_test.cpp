// What a request costs, in figures that are the same on every machine: the statements that SQLite runs, and the syncs.
// Whoever adds one adds it here, too, and says why it is worth it.
#include <sqlite3.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/engine/engine_fixture.hpp"
#include "tests/engine/watched_vfs.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

std::vector<std::string> traced;  // callbacks of C know no object

int trace(unsigned, void*, void*, void* sql) {
    traced.emplace_back(static_cast<const char*>(sql));
    return 0;
}

int watch_connection(sqlite3* connection, const char**, const struct sqlite3_api_routines*) {
    sqlite3_trace_v2(connection, SQLITE_TRACE_STMT, trace, nullptr);
    return SQLITE_OK;
}

using Extension = void (*)();
Extension as_extension() {
    return reinterpret_cast<Extension>(watch_connection);  // NOLINT(*-reinterpret-cast): how SQLite wants it
}

// While one exists, every statement of every new connection is noted.
class WatchedStatements {
public:
    WatchedStatements() { sqlite3_auto_extension(as_extension()); }
    ~WatchedStatements() { sqlite3_cancel_auto_extension(as_extension()); }
    WatchedStatements(const WatchedStatements&) = delete;
    WatchedStatements& operator=(const WatchedStatements&) = delete;
};

struct Cost {
    std::size_t statements = 0;  // run
    std::size_t prepared = 0;    // different ones: each must be understood by a command that lives for a millisecond
    int syncs = 0;
    std::string answer;

    friend bool operator==(const Cost&, const Cost&) = default;
    friend std::ostream& operator<<(std::ostream& out, const Cost& cost) {
        return out << cost.answer << ": " << cost.statements << " statements, " << cost.prepared << " prepared, "
                   << cost.syncs << " syncs";
    }
};

// As one command: opens the store, asks, closes it.
Cost cost_of(StoreFixture& store, const WatchedVfs& vfs, std::string_view request) {
    traced.clear();
    const int syncs = vfs.syncs();
    const std::string answer = ask(*store.open(SqliteOptions::Access::Existing), request);
    Cost cost{traced.size(), 0, vfs.syncs() - syncs, answer};
    std::sort(traced.begin(), traced.end());
    traced.erase(std::unique(traced.begin(), traced.end()), traced.end());
    cost.prepared = traced.size();
    return cost;
}

}  // namespace

TEST_CASE("What each request costs in statements and syncs") {
    const WatchedStatements statements;
    const WatchedVfs vfs;
    StoreFixture store;
    store.open();
    const auto costs = [&](std::string_view request) { return cost_of(store, vfs, request); };

    // Until there is a commit that the gate remembers, each looks whether the log beside the store is its own; and the
    // first commit syncs the folder, too.
    CHECK(costs("b status") == Cost{12, 10, 0, "None"});
    CHECK(costs("a acquire") == Cost{14, 12, 2, "Holding #1"});
    CHECK(costs("b acquire") == Cost{11, 11, 1, "Queued 1/1"});
    store.clock.advance(1s);
    CHECK(costs("b status") == Cost{11, 11, 0, "Queued 1/1"});
    CHECK(costs("a renew") == Cost{11, 11, 0, "Holding #1"});
    CHECK(costs("a accept") == Cost{11, 11, 1, "Holding #1"});
    CHECK(costs("c no-queue") == Cost{8, 8, 0, "refused Conflict"});
    CHECK(costs("a release") == Cost{13, 12, 1, "None, released hold"});
    CHECK(costs("b status") == Cost{19, 14, 1, "Holding #2"});
    CHECK(costs("c requisition") == Cost{14, 13, 1, "Holding #3"});
    CHECK(costs("c release") == Cost{11, 11, 1, "None, released hold"});
}

TEST_CASE("A long queue costs a command two looks more, not its length") {
    const WatchedStatements statements;
    const WatchedVfs vfs;
    StoreFixture store;
    {
        const auto engine = store.open();
        ask(*engine, "a acquire");
        for (int i = 0; i < 1000; ++i) REQUIRE(submit(*engine, "w" + std::to_string(i) + " acquire"));
    }
    store.clock.advance(1s);
    CHECK(cost_of(store, vfs, "w500 status") == Cost{14, 13, 0, "Queued 501/1000"});
    CHECK(cost_of(store, vfs, "a renew") == Cost{12, 12, 0, "Holding #1"});
}

}  // namespace hagi::test
