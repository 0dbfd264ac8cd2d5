#include "lockcore/sqlite/connection.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <new>
#include <thread>

#include "lockcore/names.hpp"
#include "lockcore/sqlite/writer_of.hpp"
#include "platform/posix_error.hpp"
#include "platform/unique_fd.hpp"

namespace hagi::sqlite {
namespace {

using std::chrono::microseconds;
using std::chrono::steady_clock;

constexpr std::string_view kMagic("SQLite format 3\0", 16);

// Offsets of SQLite's file format.
constexpr std::size_t kHeaderBytes = 100;
constexpr std::size_t kReadVersionAt = 19;
constexpr std::size_t kApplicationIdAt = 68;
constexpr unsigned char kWalVersion = 2;
constexpr std::string_view kJournalMagic("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
constexpr std::string_view kLogMagic("\x37\x7f\x06", 3);  // the fourth byte says how its checksums are stored

// The built-in handler sleeps longer each time, so that whoever has waited longest has the worst odds. These keep
// asking often; the jitter keeps two that met once from meeting for ever.
microseconds pause_range_end(int tries) {
    if (tries < 10) return microseconds{350};
    if (tries < 40) return microseconds{1500};
    return microseconds{4000};
}

// SQLite would take the memory of twenty pages at its start and touch each, of which most commands read six: a twentieth
// of a whole command. It listens only before its first use in a process; where that is over, nothing is lost.
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

bool begins_with(const std::string& path, std::string_view magic) {
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    std::array<char, 8> bytes{};
    return file && ::read(file.get(), bytes.data(), magic.size()) == static_cast<ssize_t>(magic.size()) &&
           std::string_view(bytes.data(), magic.size()) == magic;
}

// The error that the system told SQLite last about this file; 0: none.
int last_errno(sqlite3* handle, int pointer) {
    if (handle == nullptr) return 0;  // there was no memory even for the handle
    sqlite3_file* file = nullptr;
    int number = 0;
    sqlite3_file_control(handle, "main", pointer, &file);
    if (file && file->pMethods) file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number);
    return number;
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

Error half_written(const std::string& store, const std::string& why) {
    return {ErrorKind::Unreachable,
            store + " is not as hagi leaves it" + why + ": it reads again after the next command that may write"};
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

Result<FileHeader> Connection::header() {
    sqlite3_file* file = nullptr;
    sqlite3_file_control(handle_, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (!file || !file->pMethods) return Error{ErrorKind::Defect, "the store's file is not open"};
    // Through SQLite's own descriptor: closing another one of the same file would drop this process's locks on it.
    std::array<unsigned char, kHeaderBytes> bytes{};
    const int code = file->pMethods->xRead(file, bytes.data(), static_cast<int>(bytes.size()), 0);
    if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) return error(code);

    FileHeader header;
    sqlite3_int64 size = 0;
    if (file->pMethods->xFileSize(file, &size) == SQLITE_OK) header.empty = size == 0;
    header.sqlite = code == SQLITE_OK && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
    header.wal = bytes[kReadVersionAt] == kWalVersion;
    for (std::size_t i = 0; i < 4; ++i)
        header.application_id = (header.application_id << 8) | bytes[kApplicationIdAt + i];
    if (!header.sqlite && !header.empty && may_be_mended()) return mended_header();
    return header;
}

// Whoever writes never makes the first bytes of the file differ, so nobody is in the middle of a commit now.
bool Connection::may_be_mended() const {
    return begins_with(path_ + "-journal", kJournalMagic) || begins_with(path_ + "-wal", kLogMagic);
}

Result<FileHeader> Connection::mended_header() {
    FileHeader header;
    Query id(*this, "PRAGMA application_id");
    if (const Result<bool> row = id.step(); !row)
        return row.error().kind == ErrorKind::Damaged ? Result(header) : row.error();  // it cannot be mended
    header.application_id = static_cast<std::uint32_t>(id.take_integer());
    Query journal(*this, "PRAGMA journal_mode");
    if (const Result<bool> row = journal.step(); !row) return row.error();
    header.wal = journal.take_text() == "wal";
    header.sqlite = true;
    return header;
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

// ---- Errors --------------------------------------------------------------------------------------------------

Error Connection::busy_error() {
    const bool waited = impatient_since_ != Deadline{};
    const auto since = waited ? steady_clock::now() - impatient_since_ : steady_clock::duration::zero();
    return {ErrorKind::Unreachable, busy_message(writer_of(path_), std::chrono::duration_cast<Duration>(since))};
}

Error Connection::damaged(std::string_view what) const {
    return {ErrorKind::Damaged,
            "the store " + escaped(path_) + " is damaged (" + escaped(what) + "): run `hagi agent lock doctor`"};
}

// The errno behind the last failure. Of a commit that failed SQLite tells it only where the file itself is asked.
int Connection::system_error() {
    int number = sqlite3_system_errno(handle_);
    for (const int pointer : {SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER})
        if (number == 0) number = last_errno(handle_, pointer);
    return number;
}

// SQLite takes a read that fails with EIO for damage. It may be damage, but a cable or a file server does that, too.
std::optional<Error> Connection::read_failure() const {
    for (const int pointer : {SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER})
        if (const int number = last_errno(handle_, pointer); number == EIO || number == ENXIO)
            return posix_error(number, "cannot read the store " + path_);
    return std::nullopt;
}

// SQLite reads on where it could not open one of the files for writing, whatever the reason was.
std::optional<Error> Connection::passing_trouble() const {
    for (const char* const suffix : {"", "-wal", "-shm", "-journal"})
        if (::access((path_ + suffix).c_str(), W_OK) != 0 && errno != ENOENT) return std::nullopt;
    return Error{ErrorKind::Unreachable,
                 "the store " + escaped(path_) + " could not be opened for writing just now: try again"};
}

Error Connection::error(int code) {
    const std::string store = "the store " + escaped(path_);
    const std::string why = std::string(" (") + sqlite3_errmsg(handle_) + ")";
    const int number = system_error();
    switch (code) {
        case SQLITE_READONLY_DBMOVED:
            return {ErrorKind::Gone, store + " was deleted or replaced: run the command again"};
        case SQLITE_READONLY_RECOVERY:
        case SQLITE_READONLY_ROLLBACK:
        case SQLITE_READONLY_CANTINIT: return half_written(store, why);
        default: break;
    }
    switch (code & 0xff) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
        case SQLITE_PROTOCOL: return busy_error();
        case SQLITE_FULL: return posix_error(ENOSPC, "the disk of the store " + path_ + " is full");
        case SQLITE_IOERR:
            if (number == ENOSPC || number == EDQUOT || number == EFBIG)
                return posix_error(number, "there is no room for the store " + path_);
            return {ErrorKind::Unreachable, store + " cannot be read or written just now" + why +
                                                (number != 0 ? std::string(", ") + std::strerror(number) : "") +
                                                ": check its disk or file server, try again"};
        case SQLITE_CANTOPEN:
            // Who may only read, because of the filesystem, cannot make them.
            if (sqlite3_db_readonly(handle_, "main") == 1 && number != EACCES) return half_written(store, why);
            return posix_error(number, "cannot open the files beside the store " + path_);
        case SQLITE_NOMEM: return {ErrorKind::Unreachable, "out of memory while using " + store + ": try again"};
        case SQLITE_READONLY:
            // Who may only read cannot make the files beside the store, and another tool has removed them.
            if (sqlite3_db_readonly(handle_, "main") == 1) return half_written(store, why);
            if (auto passing = code == SQLITE_READONLY ? passing_trouble() : std::nullopt) return *std::move(passing);
            [[fallthrough]];
        case SQLITE_PERM:
        case SQLITE_AUTH:
            return {ErrorKind::PermissionDenied, store + " may not be written" + why + ": check its permissions"};
        case SQLITE_CORRUPT:
            if (auto failure = read_failure()) return *std::move(failure);
            [[fallthrough]];
        case SQLITE_NOTADB: return damaged(sqlite3_errmsg(handle_));
        default:
            // A table or column that is not there: somebody changed the store by hand.
            if ((code & 0xff) == SQLITE_ERROR) return damaged(sqlite3_errmsg(handle_));
            return {ErrorKind::Defect, "SQLite refused a statement" + why};
    }
}

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
