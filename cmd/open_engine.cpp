#include "cmd/open_engine.hpp"

#include <poll.h>

#include "lockcore/memory_engine.hpp"
#include "lockcore/sqlite/engine.hpp"
#include "lockcore/sqlite/upkeep.hpp"
#include "platform/file_bell.hpp"
#include "platform/file_server_clock.hpp"
#include "platform/filesystem_kind.hpp"
#include "platform/machine_clock.hpp"
#include "platform/paths.hpp"
#include "platform/process_identity.hpp"

namespace hagi {
namespace {

// An engine together with what it borrows.
class EquippedEngine : public Engine {
public:
    EquippedEngine(std::unique_ptr<Clock> clock, std::unique_ptr<ChangeSignal> signal)
        : clock_(std::move(clock)), signal_(std::move(signal)) {}

    void use(std::unique_ptr<Engine> engine) { engine_ = std::move(engine); }
    [[nodiscard]] Clock& clock() { return *clock_; }
    [[nodiscard]] ChangeSignal& signal() { return *signal_; }
    [[nodiscard]] Witness& witness() { return witness_; }

    Result<Answer> submit(const LockId& lock_id, const Request& request) override {
        return engine_->submit(lock_id, request);
    }
    Result<ListAnswer> list(const ListQuery& query) override { return engine_->list(query); }
    Result<std::vector<LoggedEvent>> read_log(const LogQuery& query) override { return engine_->read_log(query); }
    std::unique_ptr<Listener> listen(const LockId& lock_id, const Owner& owner) override {
        return engine_->listen(lock_id, owner);
    }
    [[nodiscard]] EngineDescription describe() const override { return engine_->describe(); }

private:
    std::unique_ptr<Clock> clock_;
    std::unique_ptr<ChangeSignal> signal_;
    ProcessWitness witness_;
    std::unique_ptr<Engine> engine_;
};

std::unique_ptr<Clock> clock_for(FilesystemKind kind, const std::string& path) {
    if (kind == FilesystemKind::Shared) return std::make_unique<FileServerClock>(path + "-clock-");
    return std::make_unique<MachineClock>();
}

std::unique_ptr<EquippedEngine> equip(FilesystemKind kind, const std::string& path) {
    return std::make_unique<EquippedEngine>(clock_for(kind, path), std::make_unique<FileBell>(path));
}

Result<StorePath> named_store(const EngineTerms& terms, const Environment& environment) {
    return find_store({terms.path, environment("HAGI_LOCK_STORE"), environment("XDG_STATE_HOME"), environment("HOME")});
}

// A store that is not there: nothing is known, nothing is held.
std::unique_ptr<Engine> engine_for_nothing(const std::string& path) {
    auto equipped = equip(FilesystemKind::Local, path);
    auto memory = std::make_unique<MemoryEngine>(equipped->clock(), path);
    memory->on_sleep([](Duration at_most) { ::poll(nullptr, 0, static_cast<int>(at_most.count())); });
    equipped->use(std::move(memory));
    return equipped;
}

SqliteOptions::Access access_for(StoreUse use) {
    switch (use) {
        case StoreUse::Create: return SqliteOptions::Access::Create;
        case StoreUse::Change: return SqliteOptions::Access::Existing;
        case StoreUse::ReadOnly: break;
    }
    return SqliteOptions::Access::ReadOnly;
}

Result<std::unique_ptr<Engine>> open_in(const StorePlace& place, const EngineTerms& terms, StoreUse use,
                                        const Environment& environment) {
    if (!place.exists && use != StoreUse::Create) return engine_for_nothing(place.path);

    const auto filesystem = examine_filesystem(place.folder, environment("HAGI_LOCK_FILESYSTEM"));
    if (!filesystem) return filesystem.error();
    if (const auto usable = require_usable(*filesystem); !usable) return usable.error();

    auto equipped = equip(filesystem->kind, place.path);
    SqliteOptions options;
    options.path = place.path;
    options.journal =
        filesystem->kind == FilesystemKind::Shared ? SqliteOptions::Journal::Rollback : SqliteOptions::Journal::Wal;
    options.access = access_for(use);
    options.busy_timeout = terms.busy_timeout;
    options.mode = place.mode;
    auto engine = open_sqlite_engine(options, equipped->clock(), equipped->signal(), equipped->witness());
    if (!engine && engine.error().kind == ErrorKind::NotFound && use != StoreUse::Create)
        return engine_for_nothing(place.path);
    if (!engine) return engine.error();
    equipped->use(*std::move(engine));
    return std::unique_ptr<Engine>(std::move(equipped));
}

}  // namespace

Result<std::unique_ptr<Engine>> open_engine(const EngineTerms& terms, StoreUse use, const Environment& environment) {
    const auto store = named_store(terms, environment);
    if (!store) return store.error();
    if (store->named_by == NamedBy::Default && use == StoreUse::Create)
        if (const auto made = ensure_default_folders(store->path); !made) return made.error();

    const auto place = check_store_place(store->path, use == StoreUse::ReadOnly ? Access::Read : Access::Write);
    if (!place) {
        // The default's folders are made by the first verb that writes; until then the store is merely empty.
        const bool not_yet = store->named_by == NamedBy::Default && place.error().kind == ErrorKind::NotFound;
        return not_yet ? Result(engine_for_nothing(store->path)) : place.error();
    }
    return open_in(*place, terms, use, environment);
}

Result<std::unique_ptr<Upkeep>> open_upkeep(const EngineTerms& terms, const Environment& environment) {
    const auto store = named_store(terms, environment);
    if (!store) return store.error();
    return sqlite_upkeep({*store, environment("HAGI_LOCK_FILESYSTEM"), terms.busy_timeout, clock_for});
}

Result<StorePlace> place_of_store(const EngineTerms& terms, Access access, const Environment& environment) {
    const auto store = named_store(terms, environment);
    if (!store) return store.error();
    return check_store_place(store->path, access);
}

}  // namespace hagi
