#include "lockcore/sqlite/connection.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <new>
#include <thread>

#include "lockcore/names.hpp"
#include "lockcore/sqlite/failure.hpp"
#include "lockcore/sqlite/writer_of.hpp"
#include "platform/posix_error.hpp"

namespace hagi::sqlite {
namespace {

using std::chrono::microseconds;
using std::chrono::steady_clock;

// The built-in handler sleeps longer each time, so that whoever has waited longest has the worst odds. These keep
// asking often; the jitter keeps two that met once from meeting for ever.
microseconds pause_range_end(int tries) {
    if (tries < 10) return microseconds{350};
    if (tries < 40) return microseconds{1500};
    return microseconds{4000};
}

// SQLite would take the memory of twenty pages at its start and touch each, of which most commands read six: a
// twentieth of a whole command. It listens only before its first use in a process; where that is over, nothing is lost.
void take_memory_page_by_page() {
    static const int once = sqlite3_config(SQLITE_CONFIG_PAGECACHE, nullptr, 0, 0);
    static_cast<void>(once);
}

// What keeps a process from opening the store, as far as its file shows it.
std::optional<Error> obstacle_at(const std::string& path, OpenMode mode) {
    const std::string what = "cannot open the store " + path;
    struct stat file {};
    if (::stat(path.c_str(), &file) != 0) {
        if (errno != ENOENT && errno != ENOTDIR) return posix_error(errno, what);
        return Error{ErrorKind::NotFound,
                     "there is no store " + escaped(path) + ": `hagi agent lock acquire` makes it"};
    }
    if (::access(path.c_str(), mode == OpenMode::ReadOnly ? R_OK : R_OK | W_OK) != 0) return posix_error(errno, what);
    return std::nullopt;
}

// With every byte escaped that could mean something there.
std::string in_uri(std::string_view path) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string escaped_path;
    for (const char byte : path) {
        const auto code = static_cast<unsigned char>(byte);
        if (byte == '/' || std::isalnum(code) != 0)
            escaped_path += byte;
        else
            escaped_path += {'%', kDigits[code >> 4U], kDigits[code & 0xfU]};
    }
    return escaped_path;
}

}  // namespace

// ---- Connection ----------------------------------------------------------------------------------------------

Connection::Connection(std::string path, sqlite3* handle)
    : path_(std::move(path)),
      handle_(handle),
      jitter_(static_cast<unsigned>(steady_clock::now().time_since_epoch().count() ^ ::getpid())) {}

Connection::~Connection() {
    for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
    sqlite3_close_v2(handle_);
}

Result<std::unique_ptr<Connection>> Connection::open(const std::string& path, OpenMode mode) {
    take_memory_page_by_page();
    const int access = mode == OpenMode::ReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    int code = SQLITE_OK;
    // A store may come into being between SQLite's look and ours, or between two of SQLite's, which then reads only.
    constexpr int kLooks = 3;
    for (int look = 0; look < kLooks; ++look) {
        sqlite3* handle = nullptr;
        code = sqlite3_open_v2(path.c_str(), &handle, access | SQLITE_OPEN_NOMUTEX, nullptr);
        std::unique_ptr<Connection> connection(new Connection(path, handle));
        if (code == SQLITE_OK && (mode == OpenMode::ReadOnly || sqlite3_db_readonly(handle, "main") == 0)) {
            connection->harden();
            return connection;
        }
        if (auto obstacle = obstacle_at(path, mode)) return *std::move(obstacle);
    }
    return Error{ErrorKind::Unreachable,
                 "cannot open the store " + escaped(path) + " (" + sqlite3_errstr(code) + "): try again"};
}

Result<std::unique_ptr<Connection>> Connection::in_memory() {
    sqlite3* handle = nullptr;
    const int code = sqlite3_open_v2(":memory:", &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
    std::unique_ptr<Connection> connection(new Connection(":memory:", handle));
    if (code != SQLITE_OK) return connection->error(code);
    return connection;
}

Result<std::unique_ptr<Connection>> Connection::open_without_log(const std::string& path) {
    const std::string uri = "file:" + in_uri(path) + "?immutable=1";
    sqlite3* handle = nullptr;
    const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    const int code = sqlite3_open_v2(uri.c_str(), &handle, flags, nullptr);
    std::unique_ptr<Connection> connection(new Connection(path, handle));
    if (code != SQLITE_OK) return connection->error(code);
    connection->harden();
    return connection;
}

// A store is a stranger's file until it has proven otherwise: nothing in it may make SQLite run or write anything
// but what is asked for here. And the log and its index stay when the last process closes, for those who may only
// read; it is emptied under the gate instead (see checkpoint).
void Connection::harden() {
    sqlite3_extended_result_codes(handle_, 1);
    sqlite3_busy_handler(handle_, &Connection::on_busy, this);
    sqlite3_wal_hook(handle_, &Connection::on_commit_to_log, this);  // in place of checkpoints that SQLite starts

    const std::array<std::pair<int, int>, 7> settings{{{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                                       {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                                       {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                                       {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
                                                       {SQLITE_DBCONFIG_DQS_DML, 0},
                                                       {SQLITE_DBCONFIG_DQS_DDL, 0},
                                                       {SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1}}};
    for (const auto& [setting, value] : settings) sqlite3_db_config(handle_, setting, value, nullptr);
    int persist = 1;
    sqlite3_file_control(handle_, "main", SQLITE_FCNTL_PERSIST_WAL, &persist);
    sqlite3_exec(handle_, "PRAGMA cell_size_check = 1; PRAGMA mmap_size = 0", nullptr, nullptr, nullptr);
}

bool Connection::has_moved() {
    int moved = 0;
    sqlite3_file_control(handle_, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    return moved != 0;
}

Outcome Connection::set_durability(Durability durability, bool wal) {
    // A rollback journal's end is its deletion: only EXTRA makes that durable, and nothing weaker is safe at all.
    const bool extra = !wal;
    if (durability == durability_ && extra == extra_) return Done{};
    const char* const sql = extra                                ? "PRAGMA synchronous = EXTRA"
                            : durability == Durability::PowerCut ? "PRAGMA synchronous = FULL"
                                                                 : "PRAGMA synchronous = NORMAL";
    Outcome set = execute(sql);
    if (set) {
        durability_ = durability;
        extra_ = extra;
    }
    return set;
}

Outcome Connection::execute(const char* sql) {
    const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return error(code);
    return Done{};
}

void Connection::checkpoint() {
    const Deadline patience = std::exchange(patience_, Deadline{});
    // A failure costs nothing: the log stays longer, and the next commit tries again.
    sqlite3_wal_checkpoint_v2(handle_, "main", SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
    patience_ = patience;
}

Result<std::string> Connection::serialized() {
    sqlite3_int64 size = 0;
    const std::unique_ptr<unsigned char, decltype(&sqlite3_free)> bytes(sqlite3_serialize(handle_, "main", &size, 0),
                                                                        &sqlite3_free);
    if (!bytes) return error(SQLITE_NOMEM);
    return std::string(bytes.get(), bytes.get() + size);
}

sqlite3_stmt* Connection::prepared(const char* sql, int& code) {
    for (const auto& [known, statement] : statements_)
        if (known == sql) return statement;
    statements_.reserve(statements_.size() + 1);  // nothing may throw while the statement is nobody's
    sqlite3_stmt* statement = nullptr;
    code = sqlite3_prepare_v2(handle_, sql, -1, &statement, nullptr);
    if (code == SQLITE_OK) statements_.emplace_back(sql, statement);
    return statement;
}

bool Connection::needs_roll_back() const { return sqlite3_extended_errcode(handle_) == SQLITE_READONLY_ROLLBACK; }

int Connection::on_busy(void* self, int tries) {
    auto& connection = *static_cast<Connection*>(self);
    const auto now = steady_clock::now();
    if (tries == 0) connection.impatient_since_ = now;
    if (now >= connection.patience_) return 0;
    std::uniform_int_distribution<std::int64_t> pause(50, pause_range_end(tries).count());
    std::this_thread::sleep_for(
        std::min<steady_clock::duration>(microseconds{pause(connection.jitter_)}, connection.patience_ - now));
    return 1;
}

int Connection::on_commit_to_log(void* self, sqlite3*, const char*, int pages) {
    static_cast<Connection*>(self)->log_pages_ = pages;
    return SQLITE_OK;
}

Error Connection::busy_error() {
    const bool waited = impatient_since_ != Deadline{};
    const auto since = waited ? steady_clock::now() - impatient_since_ : steady_clock::duration::zero();
    return {ErrorKind::Unreachable, busy_message(writer_of(path_), std::chrono::duration_cast<Duration>(since))};
}

Error Connection::error(int code) { return is_busy(code) ? busy_error() : failure_of(handle_, path_, code); }

Error Connection::damaged(std::string_view what) const { return damage_of(path_, what); }

// ---- Query ---------------------------------------------------------------------------------------------------

Query::~Query() {
    if (!statement_) return;
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
}

Result<bool> Query::step() {
    column_ = 0;
    if (code_ != SQLITE_OK) return connection_.error(code_);
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return connection_.error(code);
}

std::int64_t Query::take_integer() { return sqlite3_column_int64(statement_, column_++); }

std::string Query::take_text() {
    const int column = column_++;
    const unsigned char* bytes = sqlite3_column_text(statement_, column);
    // Taken for empty, what is only not readable would be written back as empty.
    if (!bytes && sqlite3_column_type(statement_, column) != SQLITE_NULL) throw std::bad_alloc();
    if (!bytes) return {};
    return {bytes, bytes + sqlite3_column_bytes(statement_, column)};
}

std::optional<std::int64_t> Query::take_optional_integer() {
    const bool null = sqlite3_column_type(statement_, column_) == SQLITE_NULL;
    const std::int64_t value = take_integer();
    return null ? std::nullopt : std::optional(value);
}

std::optional<std::string> Query::take_optional_text() {
    if (sqlite3_column_type(statement_, column_) != SQLITE_NULL) return take_text();
    ++column_;
    return std::nullopt;
}

std::optional<Instant> Query::take_optional_instant() {
    const auto milliseconds = take_optional_integer();
    return milliseconds ? std::optional(Instant{*milliseconds}) : std::nullopt;
}

void Query::bind(std::nullptr_t) {
    if (statement_) keep(sqlite3_bind_null(statement_, ++parameter_));
}

void Query::bind(std::int64_t value) {
    if (statement_) keep(sqlite3_bind_int64(statement_, ++parameter_, value));
}

void Query::bind(std::string_view text) {
    if (!statement_) return;
    const char* const bytes = text.empty() ? "" : text.data();  // a null pointer would bind NULL
    keep(sqlite3_bind_text64(statement_, ++parameter_, bytes, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

// ---- Transaction ---------------------------------------------------------------------------------------------

// A writer says so at once: a transaction that has read cannot become one when somebody else has written since.
Outcome Transaction::begin(Kind kind) { return connection_.run(kind == Kind::Write ? "BEGIN IMMEDIATE" : "BEGIN"); }

Outcome Transaction::commit() { return connection_.run("COMMIT"); }

void Transaction::roll_back() noexcept {
    // After some failures (a full disk) SQLite has done it already.
    if (sqlite3_get_autocommit(connection_.handle()) == 0)
        sqlite3_exec(connection_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

}  // namespace hagi::sqlite
