#include "lockcore/sqlite/failure.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "lockcore/names.hpp"
#include "platform/posix_error.hpp"

namespace hagi::sqlite {
namespace {

// The error that the system told SQLite last about this file; 0: none.
int last_errno(sqlite3* handle, int pointer) {
    if (handle == nullptr) return 0;  // there was no memory even for the handle
    sqlite3_file* file = nullptr;
    int number = 0;
    sqlite3_file_control(handle, "main", pointer, &file);
    if (file && file->pMethods) file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number);
    return number;
}

Error half_written(const std::string& store, const std::string& why) {
    return {ErrorKind::Unreachable,
            store + " is not as hagi leaves it" + why + ": it reads again after the next command that may write"};
}

// The errno behind the last failure. Of a commit that failed SQLite tells it only where the file itself is asked.
int system_error(sqlite3* handle) {
    int number = sqlite3_system_errno(handle);
    for (const int pointer : {SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER})
        if (number == 0) number = last_errno(handle, pointer);
    return number;
}

// SQLite takes a read that fails with EIO for damage. It may be damage, but a cable or a file server does that, too.
std::optional<Error> read_failure(sqlite3* handle, const std::string& path) {
    for (const int pointer : {SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER})
        if (const int number = last_errno(handle, pointer); number == EIO || number == ENXIO)
            return posix_error(number, "cannot read the store " + path);
    return std::nullopt;
}

// SQLite reads on where it could not open one of the files for writing, whatever the reason was.
std::optional<Error> passing_trouble(const std::string& path) {
    for (const char* const suffix : {"", "-wal", "-shm", "-journal"})
        if (::access((path + suffix).c_str(), W_OK) != 0 && errno != ENOENT) return std::nullopt;
    return Error{ErrorKind::Unreachable,
                 "the store " + escaped(path) + " could not be opened for writing just now: try again"};
}

}  // namespace

bool is_busy(int code) {
    const int kind = code & 0xff;
    return kind == SQLITE_BUSY || kind == SQLITE_LOCKED || kind == SQLITE_PROTOCOL;
}

Error failure_of(sqlite3* handle, const std::string& path, int code) {
    const std::string store = "the store " + escaped(path);
    const std::string why = std::string(" (") + sqlite3_errmsg(handle) + ")";
    const int number = system_error(handle);
    switch (code) {
        case SQLITE_READONLY_DBMOVED:
            return {ErrorKind::Gone, store + " was deleted or replaced: run the command again"};
        case SQLITE_READONLY_RECOVERY:
        case SQLITE_READONLY_ROLLBACK:
        case SQLITE_READONLY_CANTINIT: return half_written(store, why);
        default: break;
    }
    switch (code & 0xff) {
        case SQLITE_FULL: return posix_error(ENOSPC, "the disk of the store " + path + " is full");
        case SQLITE_IOERR:
            if (number == ENOSPC || number == EDQUOT || number == EFBIG)
                return posix_error(number, "there is no room for the store " + path);
            return {ErrorKind::Unreachable, store + " cannot be read or written just now" + why +
                                                (number != 0 ? std::string(", ") + std::strerror(number) : "") +
                                                ": check its disk or file server, try again"};
        case SQLITE_CANTOPEN:
            // Who may only read, because of the filesystem, cannot make them.
            if (sqlite3_db_readonly(handle, "main") == 1 && number != EACCES) return half_written(store, why);
            return posix_error(number, "cannot open the files beside the store " + path);
        case SQLITE_NOMEM: return {ErrorKind::Unreachable, "out of memory while using " + store + ": try again"};
        case SQLITE_READONLY:
            // Who may only read cannot make the files beside the store, and another tool has removed them.
            if (sqlite3_db_readonly(handle, "main") == 1) return half_written(store, why);
            if (auto passing = code == SQLITE_READONLY ? passing_trouble(path) : std::nullopt)
                return *std::move(passing);
            [[fallthrough]];
        case SQLITE_PERM:
        case SQLITE_AUTH:
            return {ErrorKind::PermissionDenied, store + " may not be written" + why + ": check its permissions"};
        case SQLITE_CORRUPT:
            if (auto failure = read_failure(handle, path)) return *std::move(failure);
            [[fallthrough]];
        case SQLITE_NOTADB: return damage_of(path, sqlite3_errmsg(handle));
        default:
            // A table or column that is not there: somebody changed the store by hand.
            if ((code & 0xff) == SQLITE_ERROR) return damage_of(path, sqlite3_errmsg(handle));
            return {ErrorKind::Defect, "SQLite refused a statement" + why};
    }
}

Error damage_of(const std::string& path, std::string_view what) {
    return {ErrorKind::Damaged,
            "the store " + escaped(path) + " is damaged (" + escaped(what) + "): run `hagi agent lock doctor`"};
}

}  // namespace hagi::sqlite
