// SQLite as the engine needs it. Every object here belongs to one thread of one process.
#pragma once

#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lockcore/result.hpp"
#include "lockcore/types.hpp"

namespace hagi::sqlite {

// When this process, not the store, runs out of patience.
using Deadline = std::chrono::steady_clock::time_point;

enum class OpenMode { ReadOnly, ReadWrite };
enum class Durability {
    ProcessCrash,  // survives any process; a power cut may undo it
    PowerCut,
};

class Connection {
public:
    // Never creates `path`. Takes no lock and makes no side file yet. NotFound: there is no such file.
    // PermissionDenied: also where it can be read but not be written and `mode` wants to write.
    static Result<std::unique_ptr<Connection>> open(const std::string& path, OpenMode mode);
    static Result<std::unique_ptr<Connection>> in_memory();

    // For reading what the file holds without the log or the journal beside it. Locks nothing, so it may see what is
    // being written.
    static Result<std::unique_ptr<Connection>> open_without_log(const std::string& path);

    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // The path leads elsewhere, or nowhere: what is committed here nobody will find.
    bool has_moved();

    // Until then a busy store is waited for; in the past: not at all. At first: not at all.
    void set_patience(Deadline until) {
        patience_ = until;
        impatient_since_ = {};
    }

    // Not inside a transaction. `wal`: whether the file's journal is a write-ahead log.
    Outcome set_durability(Durability durability, bool wal);

    // One statement or several, without values.
    Outcome execute(const char* sql);

    // One statement that gives no rows. `sql` is a constant: prepared statements are kept by its address.
    template <class... Values>
    Outcome run(const char* sql, const Values&... values);

    // Pages in the write-ahead log after this connection's last commit; 0: no log, or nothing committed.
    [[nodiscard]] int log_pages() const { return log_pages_; }

    // Moves the log into the database and empties it, without waiting for anybody. Call it under the gate.
    void checkpoint();

    // The row id of the last insert into a table that has one.
    [[nodiscard]] std::int64_t last_row() const { return sqlite3_last_insert_rowid(handle_); }

    // The rows changed by this connection so far, and the whole database as bytes: for tests and creation.
    [[nodiscard]] std::int64_t rows_changed() const { return sqlite3_total_changes64(handle_); }
    Result<std::string> serialized();

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] sqlite3* handle() { return handle_; }

    // The last call failed since a writer was killed in the middle, and this connection may not undo what it did.
    [[nodiscard]] bool needs_roll_back() const;

    Error error(int code);                                     // for a result code of this connection
    [[nodiscard]] Error damaged(std::string_view what) const;  // what was read contradicts itself

private:
    friend class Query;
    Connection(std::string path, sqlite3* handle);
    void harden();
    sqlite3_stmt* prepared(const char* sql, int& code);
    static int on_busy(void* self, int tries);
    static int on_commit_to_log(void* self, sqlite3* handle, const char* database, int pages);
    Error busy_error();

    std::string path_;
    sqlite3* handle_ = nullptr;
    std::vector<std::pair<const char*, sqlite3_stmt*>> statements_;
    Deadline patience_{};
    Deadline impatient_since_{};
    std::minstd_rand jitter_;
    Durability durability_ = Durability::PowerCut;  // SQLite's own default
    bool extra_ = false;
    int log_pages_ = 0;
};

// One run of a prepared statement; values are copied. Columns are taken from left to right after each step.
class Query {
public:
    template <class... Values>
    Query(Connection& connection, const char* sql, const Values&... values)
        : connection_(connection), statement_(connection.prepared(sql, code_)) {
        (bind(values), ...);
    }
    ~Query();
    Query(const Query&) = delete;
    Query& operator=(const Query&) = delete;

    // True: there is a row. False: there are no more.
    Result<bool> step();

    // A column that is NULL where it must not be gives 0 or an empty text.
    std::int64_t take_integer();
    std::string take_text();
    std::optional<std::int64_t> take_optional_integer();
    std::optional<std::string> take_optional_text();
    Instant take_instant() { return {take_integer()}; }
    Duration take_duration() { return Duration{take_integer()}; }
    Epoch take_epoch() { return {take_integer()}; }
    std::optional<Instant> take_optional_instant();
    template <class T>
    void take_into(T& text) {
        text = T(take_text());
    }
    void skip(int columns) { column_ += columns; }

private:
    void bind(std::nullptr_t);
    void bind(std::int64_t value);
    void bind(std::string_view text);
    void bind(Instant at) { bind(at.milliseconds); }
    void bind(Duration duration) { bind(std::int64_t{duration.count()}); }
    void bind(Epoch epoch) { bind(epoch.value); }
    template <class Kind>
    void bind(const Text<Kind>& text) {
        bind(std::string_view(text.str()));
    }
    template <class T>
    void bind(const std::optional<T>& value) {
        value ? bind(*value) : bind(nullptr);
    }
    void keep(int code) {
        if (code_ == SQLITE_OK) code_ = code;
    }

    Connection& connection_;
    int code_ = SQLITE_OK;  // the first failure; step() tells it
    sqlite3_stmt* statement_;
    int parameter_ = 0;
    int column_ = 0;
};

template <class... Values>
Outcome Connection::run(const char* sql, const Values&... values) {
    const Result<bool> row = Query(*this, sql, values...).step();
    if (!row) return row.error();
    return Done{};
}

// Rolled back unless committed.
class Transaction {
public:
    enum class Kind { Read, Write };

    explicit Transaction(Connection& connection) : connection_(connection) {}
    ~Transaction() { roll_back(); }
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;

    Outcome begin(Kind kind);
    Outcome commit();
    void roll_back() noexcept;

private:
    Connection& connection_;
};

}  // namespace hagi::sqlite
