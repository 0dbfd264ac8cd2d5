#include "cmd/open_engine.hpp"

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

// Answers for a store that is not there: nothing is known, nothing is held. Once somebody has made it, it is the
// store's own answers that are given, so that who looks on or waits does not look at nothing for ever.
class AbsentStore : public Engine {
public:
    using Open = std::function<Result<std::unique_ptr<Engine>>()>;  // NotFound: it is still not there

    AbsentStore(const std::string& path, Open open) : bell_(path), nothing_(clock_, path), open_(std::move(open)) {}

    Result<Answer> submit(const LockId& lock_id, const Request& request) override {
        const auto engine = now();
        return engine ? (*engine)->submit(lock_id, request) : engine.error();
    }
    Result<ListAnswer> list(const ListQuery& query) override {
        const auto engine = now();
        return engine ? (*engine)->list(query) : engine.error();
    }
    Result<std::vector<LoggedEvent>> read_log(const LogQuery& query) override {
        const auto engine = now();
        return engine ? (*engine)->read_log(query) : engine.error();
    }
    // Its bells are the same before and after.
    std::unique_ptr<Listener> listen(const LockId& lock_id, const Owner& owner) override {
        return bell_.listen(lock_id, owner);
    }
    [[nodiscard]] EngineDescription describe() const override {
        return made_ ? made_->describe() : nothing_.describe();
    }

private:
    Result<Engine*> now() {
        if (made_) return made_.get();
        auto opened = open_();
        if (!opened && opened.error().kind != ErrorKind::NotFound) return opened.error();
        if (!opened) return &nothing_;
        made_ = *std::move(opened);
        return made_.get();
    }

    MachineClock clock_;
    FileBell bell_;
    MemoryEngine nothing_;
    Open open_;
    std::unique_ptr<Engine> made_;
};

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
    if (!engine) return engine.error();
    equipped->use(*std::move(engine));
    return std::unique_ptr<Engine>(std::move(equipped));
}

Access access_to_place(StoreUse use) { return use == StoreUse::ReadOnly ? Access::Read : Access::Write; }

std::unique_ptr<Engine> absent_store(const std::string& path, const EngineTerms& terms, StoreUse use,
                                     const Environment& environment) {
    const auto open = [path, terms, use, environment]() -> Result<std::unique_ptr<Engine>> {
        const auto place = check_store_place(path, access_to_place(use));
        if (!place) return place.error();
        if (!place->exists) return Error{ErrorKind::NotFound, "there is no store yet"};
        return open_in(*place, terms, use, environment);
    };
    return std::make_unique<AbsentStore>(path, open);
}

}  // namespace

Result<std::unique_ptr<Engine>> open_engine(const EngineTerms& terms, StoreUse use, const Environment& environment) {
    const auto store = named_store(terms, environment);
    if (!store) return store.error();
    if (store->named_by == NamedBy::Default && use == StoreUse::Create)
        if (const auto made = ensure_default_folders(store->path); !made) return made.error();

    const auto place = check_store_place(store->path, access_to_place(use));
    if (!place) {
        // The default's folders are made by the first verb that writes; until then the store is merely empty.
        const bool not_yet = store->named_by == NamedBy::Default && place.error().kind == ErrorKind::NotFound;
        return not_yet ? Result(absent_store(store->path, terms, use, environment)) : place.error();
    }
    if (!place->exists && use != StoreUse::Create) return absent_store(store->path, terms, use, environment);
    auto engine = open_in(*place, terms, use, environment);
    const bool gone_since = !engine && engine.error().kind == ErrorKind::NotFound && use != StoreUse::Create;
    return gone_since ? Result(absent_store(store->path, terms, use, environment)) : std::move(engine);
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
