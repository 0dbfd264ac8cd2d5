#include "lockcore/sqlite/examination.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>

#include "lockcore/names.hpp"
#include "lockcore/sqlite/connection.hpp"
#include "lockcore/sqlite/engine.hpp"
#include "lockcore/sqlite/file_header.hpp"
#include "lockcore/sqlite/schema.hpp"
#include "lockcore/sqlite/writer_of.hpp"
#include "platform/file_bell.hpp"
#include "platform/file_gate.hpp"
#include "platform/machine_clock.hpp"
#include "platform/machine_limits.hpp"
#include "platform/proc_file.hpp"
#include "platform/process_identity.hpp"

namespace hagi::sqlite {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHowToRebuild =
    "end every hagi that uses it, then run `hagi agent lock doctor --rebuild`, which copies what can be read";

// The log grows to some 300 KiB before it is emptied, and whoever reads needs 32 KiB beside it.
constexpr std::uintmax_t kRoomToWork = std::uintmax_t{1024} * 1024;

// A writer is inside for a millisecond; one that is seen so often in a row sits there.
constexpr int kLooks = 20;
constexpr std::chrono::milliseconds kBetweenLooks{25};

// Files under these names live for an instant, or are touched every two minutes.
constexpr std::chrono::hours kLeftBehindAfter{1};

// So many complaints of SQLite show what is wrong.
constexpr char kIntegrityCheck[] = "PRAGMA integrity_check(5)";
constexpr char kCountEvents[] = "SELECT count(*) FROM events";

// No time passes: deadlines are seen as they stood at the last change.
class StillClock : public Clock {
public:
    Result<ClockReading> read() override { return ClockReading{}; }
};

std::string in_bytes(std::uintmax_t bytes) {
    constexpr std::uintmax_t kKibibyte = 1024;
    return bytes < 10 * kKibibyte ? std::to_string(bytes) + " bytes" : std::to_string(bytes / kKibibyte) + " KiB";
}

std::optional<struct stat> stat_of(const std::string& path) {
    struct stat found {};
    return ::lstat(path.c_str(), &found) == 0 ? std::optional(found) : std::nullopt;
}

std::uintmax_t size_of(const std::string& path) {
    const auto found = stat_of(path);
    return found ? static_cast<std::uintmax_t>(found->st_size) : 0;
}

std::optional<GateHolder> lingering(const std::function<std::optional<GateHolder>()>& look) {
    auto first = look();
    for (int i = 1; i < kLooks && first; ++i) {
        std::this_thread::sleep_for(kBetweenLooks);
        const auto again = look();
        if (!again || again->pid != first->pid) return std::nullopt;
    }
    return first;
}

class Examiner {
public:
    explicit Examiner(const UpkeepTerms& terms) : terms_(terms) {}
    Result<Examination> examine();

private:
    Outcome find_place();
    Outcome look_at_filesystem();
    void look_at_machine();
    void look_at_files();
    void look_at_permissions();
    void look_at_leftovers();
    void look_at_writers();
    void look_inside();
    void look_at_locks(const ListAnswer& seen);
    void look_at_schema(Connection& connection);
    void look_at_integrity(Connection& connection);
    void look_at_log(Connection& connection);

    void fine(std::string name, std::string message, std::string fix = {}) {
        told_.findings.push_back({std::move(name), std::nullopt, std::move(message), std::move(fix)});
    }
    void trouble(std::string name, ErrorKind kind, std::string message, std::string fix) {
        told_.findings.push_back({std::move(name), kind, std::move(message), std::move(fix)});
    }
    void trouble(std::string name, const Error& error);
    void linger(const char* name, const std::function<std::optional<GateHolder>()>& look, const std::string& what);

    [[nodiscard]] bool shared() const { return filesystem_.kind == FilesystemKind::Shared; }
    [[nodiscard]] std::string shown() const { return escaped(place_.path); }

    const UpkeepTerms& terms_;
    Examination told_;
    StorePlace place_;
    FilesystemReport filesystem_;
};

// An error's message is "what went wrong: what to do".
void Examiner::trouble(std::string name, const Error& error) {
    const auto colon = error.message.rfind(": ");
    const std::string message = error.message.substr(0, colon);
    std::string fix = colon == std::string::npos ? "try again" : error.message.substr(colon + 2);
    // What sends everybody else here must lead on from here.
    if (error.kind == ErrorKind::Damaged && fix.starts_with("run `hagi agent lock doctor")) fix = kHowToRebuild;
    trouble(std::move(name), error.kind, message, std::move(fix));
}

// Success without a place: whatever is unsafe is a finding.
Outcome Examiner::find_place() {
    told_.store = terms_.store.path;
    const auto place = check_store_place(terms_.store.path, hagi::Access::Read);
    if (place) {
        place_ = *place;
        told_.store = place->path;
        return Done{};
    }
    if (place.error().kind != ErrorKind::NotFound) {
        trouble("place", place.error());
        return Done{};
    }
    if (terms_.store.named_by == NamedBy::User) return place.error();
    fine("store", "there is none yet, nor its folder: the first `hagi agent lock acquire` makes both");
    return Done{};
}

Outcome Examiner::look_at_filesystem() {
    const auto filesystem = examine_filesystem(place_.folder, terms_.told);
    if (!filesystem) return filesystem.error();
    filesystem_ = *filesystem;
    const bool local = filesystem_.kind == FilesystemKind::Local;
    const std::string kind = local ? "local" : shared() ? "shared" : "unknown";
    told_.filesystem = filesystem_.type + " (" + kind + ")";
    if (local) told_.clock = boot_id().empty() ? "this machine's wall clock" : "this machine's, boot " + boot_id();
    if (shared()) told_.clock = "the file server's";

    if (const auto usable = require_usable(filesystem_); !usable)
        trouble("filesystem", usable.error());
    else if (terms_.told && !terms_.told->empty())
        fine("filesystem", told_.filesystem + ", as HAGI_LOCK_FILESYSTEM says",
             "every user of the store must say the same");
    else
        fine("filesystem", told_.filesystem);
    return Done{};
}

void Examiner::look_at_machine() {
    if (in_shifted_time() && !shared())
        trouble("time", ErrorKind::Unusable, "this process is in a time namespace with a monotonic clock of its own",
                "let nobody outside of that namespace use the same store");
    else
        fine("time", shared() ? "the file server's clock decides" : "the monotonic clock is the machine's own");
    const auto number = [](std::optional<std::uint64_t> limit) { return limit ? std::to_string(*limit) : "no"; };
    const MachineLimits limits = machine_limits();
    fine("limits", "at most " + number(limits.open_files) + " open files in a process, and " +
                       number(limits.inotify_instances) +
                       " inotify instances of a user (watchers beyond them look every " +
                       std::to_string(kLookAtStore / std::chrono::seconds(1)) + " s whether the store is still there)");
}

void Examiner::look_at_files() {
    const std::string log = place_.path + "-wal";
    const std::string size = in_bytes(size_of(place_.path)) +
                             (stat_of(log) ? ", and " + in_bytes(size_of(log)) + " in the write-ahead log" : "");
    std::error_code unknown;
    const auto left = fs::space(place_.folder, unknown).available;
    if (!unknown && left < kRoomToWork)
        trouble("size", ErrorKind::Unreachable, size + "; its filesystem has only " + in_bytes(left) + " left",
                "free some space");
    else
        fine("size", size);
    look_at_permissions();
    look_at_leftovers();
}

void Examiner::look_at_permissions() {
    const auto store = stat_of(place_.path);
    const auto folder = stat_of(place_.folder);
    if (!store || !folder) return;
    std::size_t before = told_.findings.size();
    if ((store->st_mode & S_IWOTH) != 0)
        trouble("permissions", ErrorKind::PermissionDenied, "every user of this machine may write the store",
                "chmod o-w the file and everything beside it");
    if ((folder->st_mode & S_IWOTH) != 0 && (folder->st_mode & S_ISVTX) == 0)
        trouble("permissions", ErrorKind::PermissionDenied, "every user may replace files in " + escaped(place_.folder),
                "chmod o-w that folder");
    for (const char* const suffix : {"-gate", "-wal", "-shm", "-journal"}) {
        const auto beside = stat_of(place_.path + suffix);
        if (beside && ((beside->st_mode & 0777) != place_.mode.mode || beside->st_gid != store->st_gid))
            trouble("permissions", ErrorKind::PermissionDenied,
                    shown() + suffix + " has another mode or group than the store, so not all can use both",
                    "give it the store's with chmod --reference and chgrp --reference");
    }
    if (told_.findings.size() != before) return;
    const bool writable = ::access(place_.path.c_str(), W_OK) == 0;
    const auto write = check_store_place(place_.path, hagi::Access::Write);
    if (writable && write)
        fine("permissions", "this user may read and write it");
    else
        fine("permissions", "this user may only read it" + (write ? "" : " (" + write.error().message + ")"));
}

void Examiner::look_at_leftovers() {
    const std::string name = fs::path(place_.path).filename().string();
    const auto before = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now() - kLeftBehindAfter);
    std::vector<std::string> found;
    std::error_code unreadable;
    for (fs::directory_iterator entry(place_.folder, unreadable), end; !unreadable && entry != end;
         entry.increment(unreadable)) {
        const std::string beside = entry->path().filename().string();
        const auto file = stat_of(entry->path().string());
        const bool passing = beside.starts_with(name + ".new-") || beside.starts_with(name + "-clock-") ||
                             beside == name + "-probe" || beside == name + "-probe-bytes";
        if (passing && file && file->st_mtime < before) found.push_back(escaped(beside));
    }
    if (found.empty()) return fine("leftovers", "killed commands have left nothing behind");
    std::sort(found.begin(), found.end());
    constexpr std::size_t kShown = 3;
    std::string names;
    for (std::size_t i = 0; i < std::min(found.size(), kShown); ++i) names += (i == 0 ? "" : ", ") + found[i];
    if (found.size() > kShown) names += ", ...";
    fine("leftovers", std::to_string(found.size()) + " left behind by killed commands, harmless: " + names,
         "remove them from " + escaped(place_.folder));
}

void Examiner::linger(const char* name, const std::function<std::optional<GateHolder>()>& look,
                      const std::string& what) {
    const auto holder = lingering(look);
    if (!holder) return fine(name, "nobody sits in " + what);
    const std::string pid = std::to_string(holder->pid);
    trouble(name, ErrorKind::Unreachable,
            "process " + pid + (holder->command.empty() ? "" : " (" + holder->command + ")") + " sits in " + what +
                " and keeps everybody waiting",
            "look at it with `ps -fp " + pid + "`; stopped: kill -CONT it or end it, which loses nothing");
}

void Examiner::look_at_writers() {
    const FileGate gate(gate_path(place_.path), place_.mode);
    linger(
        "gate", [&] { return gate.holder(); }, "the gate");
    linger(
        "writer", [&] { return writer_of(place_.path); }, "a write transaction");
}

void Examiner::look_at_locks(const ListAnswer& seen) {
    const auto idle = std::count_if(seen.locks.begin(), seen.locks.end(),
                                    [](const LockView& lock) { return !lock.state.hold && lock.state.queue.empty(); });
    const auto all = std::ssize(seen.locks);
    fine("locks", std::to_string(all - idle) + " held, " + std::to_string(idle) + " idle",
         idle > 1000 ? "forget those of long ago with `hagi agent lock doctor --prune-idle`" : "");
}

void Examiner::look_at_schema(Connection& connection) {
    const Result<std::int64_t> version = stored_version(connection);
    if (!version) return trouble("schema", version.error());
    told_.schema = *version;
    if (*version == schema_version()) fine("schema", "version " + std::to_string(*version) + ", the one hagi writes");
}

void Examiner::look_at_integrity(Connection& connection) {
    Query query(connection, kIntegrityCheck);
    std::string complaints;
    Result<bool> row = query.step();
    for (; row && *row; row = query.step()) complaints += (complaints.empty() ? "" : "; ") + escaped(query.take_text());
    if (!row) return trouble("integrity", row.error());
    if (complaints == "ok") return fine("integrity", "SQLite finds every page and index sound");
    trouble("integrity", ErrorKind::Damaged, "SQLite finds damage (" + complaints + ")", kHowToRebuild);
}

void Examiner::look_at_log(Connection& connection) {
    Query query(connection, kCountEvents);
    const Result<bool> row = query.step();
    if (!row) return trouble("log", row.error());
    fine("log", std::to_string(query.take_integer()) + " events");
}

void Examiner::look_inside() {
    auto connection = Connection::open(place_.path, OpenMode::ReadOnly);
    if (!connection) return trouble("store", connection.error());
    const auto header = read_header(**connection);
    if (!header) return trouble("store", header.error());
    const bool ours = header->sqlite && header->application_id == kApplicationId;
    if (ours) told_.journal_mode = header->wal ? "wal" : "rollback";

    const auto seen = look_into(place_, filesystem_.kind, terms_.busy_timeout);
    if (seen)
        look_at_locks(*seen);
    else
        trouble("store", seen.error());
    // Reading on would wait again, or read with locks that do not hold here.
    const bool readable = ours && !(header->wal && shared()) && (seen || seen.error().kind != ErrorKind::Unreachable);
    if (!readable) return;
    (*connection)->set_patience(std::chrono::steady_clock::now() + terms_.busy_timeout);
    look_at_schema(**connection);
    look_at_integrity(**connection);
    if (told_.schema == schema_version()) look_at_log(**connection);
}

Result<Examination> Examiner::examine() {
    told_.sqlite = sqlite3_libversion();
    if (Outcome found = find_place(); !found) return found.error();
    if (!place_.path.empty())
        if (Outcome looked = look_at_filesystem(); !looked) return looked.error();
    look_at_machine();
    fine("sqlite",
         told_.sqlite + ("; 3.7.0 to 3.51.2 can damage a store that two processes write at once, which the "
                         "gate keeps hagi from"),
         "let nothing but hagi write to a store");
    if (place_.path.empty()) return told_;
    if (!place_.exists) {
        fine("store", "there is none yet: the first `hagi agent lock acquire` makes it");
        return told_;
    }
    look_at_files();
    look_at_writers();
    if (filesystem_.refusal.empty()) look_inside();
    return told_;
}

}  // namespace

Result<ListAnswer> look_into(const StorePlace& place, FilesystemKind kind, Duration busy_timeout) {
    const bool shared = kind == FilesystemKind::Shared;
    MachineClock machine;
    StillClock still;
    Clock& clock = shared ? static_cast<Clock&>(still) : machine;
    FileBell signal(place.path);
    ProcessWitness witness;
    SqliteOptions options;
    options.path = place.path;
    options.journal = shared ? Journal::Rollback : Journal::Wal;
    options.access = SqliteOptions::Access::ReadOnly;
    options.busy_timeout = busy_timeout;
    options.mode = place.mode;
    const auto engine = open_sqlite_engine(options, clock, signal, witness);
    if (!engine) return engine.error();
    return (*engine)->list({"", true});
}

Result<Examination> examine(const UpkeepTerms& terms) { return Examiner(terms).examine(); }

}  // namespace hagi::sqlite
