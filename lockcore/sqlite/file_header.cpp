#include "lockcore/sqlite/file_header.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "platform/unique_fd.hpp"

namespace hagi::sqlite {
namespace {

constexpr std::string_view kMagic("SQLite format 3\0", 16);

// Offsets of SQLite's file format.
constexpr std::size_t kHeaderBytes = 100;
constexpr std::size_t kReadVersionAt = 19;
constexpr std::size_t kApplicationIdAt = 68;
constexpr unsigned char kWalVersion = 2;
constexpr std::string_view kJournalMagic("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
constexpr std::string_view kLogMagic("\x37\x7f\x06", 3);  // the fourth byte says how its checksums are stored

bool begins_with(const std::string& path, std::string_view magic) {
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    std::array<char, 8> bytes{};
    return file && ::read(file.get(), bytes.data(), magic.size()) == static_cast<ssize_t>(magic.size()) &&
           std::string_view(bytes.data(), magic.size()) == magic;
}

// Whoever writes never makes the first bytes of the file differ, so nobody is in the middle of a commit now.
bool may_be_mended(const std::string& path) {
    return begins_with(path + "-journal", kJournalMagic) || begins_with(path + "-wal", kLogMagic);
}

Result<FileHeader> mended_header(Connection& connection) {
    FileHeader header;
    Query id(connection, "PRAGMA application_id");
    if (const Result<bool> row = id.step(); !row)
        return row.error().kind == ErrorKind::Damaged ? Result(header) : row.error();  // it cannot be mended
    header.application_id = static_cast<std::uint32_t>(id.take_integer());
    Query journal(connection, "PRAGMA journal_mode");
    if (const Result<bool> row = journal.step(); !row) return row.error();
    header.wal = journal.take_text() == "wal";
    header.sqlite = true;
    return header;
}

}  // namespace

Result<FileHeader> read_header(Connection& connection) {
    sqlite3_file* file = nullptr;
    sqlite3_file_control(connection.handle(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (!file || !file->pMethods) return Error{ErrorKind::Defect, "the store's file is not open"};
    // Through SQLite's own descriptor: closing another one of the same file would drop this process's locks on it.
    std::array<unsigned char, kHeaderBytes> bytes{};
    const int code = file->pMethods->xRead(file, bytes.data(), static_cast<int>(bytes.size()), 0);
    if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) return connection.error(code);

    FileHeader header;
    sqlite3_int64 size = 0;
    if (file->pMethods->xFileSize(file, &size) == SQLITE_OK) header.empty = size == 0;
    header.sqlite = code == SQLITE_OK && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
    header.wal = bytes[kReadVersionAt] == kWalVersion;
    for (std::size_t i = 0; i < 4; ++i)
        header.application_id = (header.application_id << 8) | bytes[kApplicationIdAt + i];
    if (!header.sqlite && !header.empty && may_be_mended(connection.path())) return mended_header(connection);
    return header;
}

}  // namespace hagi::sqlite
