// SQLite up to 3.51.2 can lose commits when one process writes at the very instant at which another checkpoints (its
// "WAL-reset bug"): the checkpoint has read how far the log goes, the writer begins the log anew, and then frames that
// were never copied count as copied. Here that instant is made, and the gate is shown to close it.
#include <sqlite3.h>

#include <functional>
#include <map>

#include "platform/file_gate.hpp"
#include "tests/engine/engine_fixture.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

// Callbacks of C know no object.
struct Hooks {
    sqlite3_vfs* real = nullptr;
    const sqlite3_io_methods* methods = nullptr;
    std::function<void()> in_checkpoint;  // once: it knows the log's end and has copied nothing yet
    std::function<void()> locked;         // a write transaction or a checkpoint begins
} hooks;

// Just after a checkpoint has read the head of the log, when that has changed since it last looked.
int hooked_unfetch(sqlite3_file* file, sqlite3_int64 at, void* page) {
    if (const auto hook = std::exchange(hooks.in_checkpoint, nullptr); hook) hook();
    return hooks.methods->xUnfetch(file, at, page);
}

// The first of these locks is a writer's, the second a checkpoint's.
int hooked_lock(sqlite3_file* file, int offset, int count, int flags) {
    const bool exclusive = flags == (SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE);
    if (exclusive && offset < 2 && count == 1 && hooks.locked) hooks.locked();
    return hooks.methods->xShmLock(file, offset, count, flags);
}

int hooked_open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* opened) {
    static std::map<const sqlite3_io_methods*, sqlite3_io_methods> patched_by_kind;
    const int code = hooks.real->xOpen(hooks.real, name, file, flags, opened);
    if (code != SQLITE_OK || !file->pMethods || (flags & SQLITE_OPEN_MAIN_DB) == 0) return code;
    hooks.methods = file->pMethods;
    sqlite3_io_methods& patched = patched_by_kind[file->pMethods];
    patched = *file->pMethods;
    patched.xUnfetch = hooked_unfetch;
    patched.xShmLock = hooked_lock;
    file->pMethods = &patched;
    return code;
}

class HookedVfs {
public:
    HookedVfs() : real_(sqlite3_vfs_find(nullptr)) {
        hooks = {};
        hooks.real = real_;
        vfs_ = *real_;
        vfs_.zName = "hooked";
        vfs_.pNext = nullptr;
        vfs_.xOpen = hooked_open;
        sqlite3_vfs_register(&vfs_, 1);
    }
    ~HookedVfs() {
        sqlite3_vfs_unregister(&vfs_);
        sqlite3_vfs_register(real_, 1);
        hooks = {};
    }
    HookedVfs(const HookedVfs&) = delete;
    HookedVfs& operator=(const HookedVfs&) = delete;

private:
    sqlite3_vfs vfs_;
    sqlite3_vfs* real_;
};

// Another program that checkpoints the store, passively.
class Checkpointer {
public:
    explicit Checkpointer(const std::string& path) : gate_(gate_path(path), {}) {
        REQUIRE(sqlite3_open_v2(path.c_str(), &handle_, SQLITE_OPEN_READWRITE, nullptr) == SQLITE_OK);
        sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
        look();
    }
    ~Checkpointer() { sqlite3_close(handle_); }
    Checkpointer(const Checkpointer&) = delete;
    Checkpointer& operator=(const Checkpointer&) = delete;

    void look() { REQUIRE(sqlite3_exec(handle_, "SELECT * FROM store", nullptr, nullptr, nullptr) == SQLITE_OK); }
    void checkpoint(int mode = SQLITE_CHECKPOINT_PASSIVE) {
        CHECK(sqlite3_wal_checkpoint_v2(handle_, nullptr, mode, nullptr, nullptr) == SQLITE_OK);
    }
    void checkpoint_in_the_gate(int mode = SQLITE_CHECKPOINT_PASSIVE) {
        REQUIRE(gate_.enter(0ms));
        const GateLeaver leaver(gate_);
        checkpoint(mode);
    }

private:
    FileGate gate_;
    sqlite3* handle_ = nullptr;
};

// The epochs that were answered, by lock.
using Grants = std::map<std::string, std::int64_t>;

// False: it was refused, and so is not in `grants`.
bool take(Engine& engine, const std::string& lock_id, Grants& grants) {
    const RequisitionRequest request{Reason(std::string(200, 'r')), Label(std::string(200, 'l')), {}};
    const auto answer = engine.submit(LockId(lock_id), {Owner("owner-" + std::to_string(grants[lock_id])), request});
    if (answer) grants[lock_id] = answer->hold->epoch.value;
    return answer.ok();
}

// Of one name, so that they lie side by side, some to a page.
void take_many(Engine& engine, const std::string& name, int count, Grants& grants) {
    for (int i = 0; i < count; ++i) REQUIRE(take(engine, name + std::to_string(i), grants));
}

// The locks whose grant the store has forgotten, and whatever else is wrong with it.
std::string lost_in(const std::string& path, const Grants& grants) {
    std::string lost;
    for (const auto& [lock, epoch] : grants)
        if (query(path, "SELECT epoch FROM locks WHERE lock_id = '" + lock + "'") != std::to_string(epoch))
            lost += lock + " ";
    const std::string integrity = query(path, "PRAGMA integrity_check");
    return integrity == "ok" ? lost : lost + integrity;
}

}  // namespace

TEST_CASE("A checkpoint at the very instant of a commit loses grants, but not through the gate") {
    const HookedVfs vfs;
    StoreFixture store;
    store.options.busy_timeout = 0ms;
    const auto engine = store.open();
    Grants grants;
    take_many(*engine, "a", 40, grants);
    take_many(*engine, "z", 40, grants);
    Checkpointer checkpointer(store.options.path);
    checkpointer.checkpoint_in_the_gate(SQLITE_CHECKPOINT_TRUNCATE);
    checkpointer.look();
    take_many(*engine, "z", 8, grants);
    Checkpointer(store.options.path).checkpoint_in_the_gate();  // the next writer may begin the log anew

    bool reached = false;
    bool wrote = false;
    hooks.in_checkpoint = [&] {
        reached = true;
        wrote = take(*engine, "z0", grants);
    };
    const auto go_on = [&] {
        REQUIRE(reached);
        take_many(*engine, "a", 4, grants);
        take_many(*engine, "z", 40, grants);  // until the log is emptied
    };
    SECTION("another program that goes past the gate: the bug is real") {
        checkpointer.checkpoint();
        go_on();
        CHECK(wrote);
        const std::string lost = lost_in(store.options.path, grants);
        constexpr int kFirstWithoutTheBug = 3051003;
        if (sqlite3_libversion_number() < kFirstWithoutTheBug)
            CHECK(lost != "");
        else
            CHECK(lost == "");
    }
    SECTION("through the gate") {
        checkpointer.checkpoint_in_the_gate();
        go_on();
        CHECK_FALSE(wrote);
        CHECK(lost_in(store.options.path, grants) == "");
    }
}

TEST_CASE("Whatever writes or checkpoints is in the gate") {
    const HookedVfs vfs;
    StoreFixture store;
    const auto engine = store.open();
    Grants grants;
    REQUIRE(take(*engine, "x", grants));
    FileGate other(gate_path(store.options.path), {});
    int begun = 0;
    int outside = 0;
    hooks.locked = [&] {
        ++begun;
        if (!other.enter(0ms)) return;
        other.leave();
        ++outside;
    };
    take_many(*engine, "y", 40, grants);  // more than the log may hold
    CHECK(begun > 40);                    // commits, and at least one checkpoint
    ask(*store.open(SqliteOptions::Access::Existing), "a renew");
    REQUIRE(store.open(SqliteOptions::Access::ReadOnly)->list({}));
    CHECK(outside == 0);
}

}  // namespace hagi::test
