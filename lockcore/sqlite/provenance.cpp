#include "lockcore/sqlite/provenance.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "lockcore/names.hpp"
#include "lockcore/sqlite/connection.hpp"

namespace hagi::sqlite {
namespace {

// So that a shorter number leaves nothing of the longer one before it.
constexpr std::size_t kNoteDigits = 20;

constexpr char kReadStoreId[] = "SELECT store_id FROM store";

std::string in_digits(std::uint64_t number) {
    const std::string text = std::to_string(number);
    return std::string(kNoteDigits - std::min(text.size(), kNoteDigits), '0') + text;
}

struct Note {
    std::string_view store_id;
    std::uint64_t newest_event = 0;
    FileNumber file{};
};

std::optional<std::uint64_t> number_in(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

std::optional<Note> read(std::string_view text) {
    const std::size_t numbers = 2 * (kNoteDigits + 1) + 1;
    if (text.size() <= numbers || text.back() != '\n') return std::nullopt;
    const std::string_view id = text.substr(0, text.size() - numbers);
    const auto event = number_in(text.substr(id.size() + 1, kNoteDigits));
    const auto file = number_in(text.substr(id.size() + kNoteDigits + 2, kNoteDigits));
    if (!event || !file) return std::nullopt;
    return Note{id, *event, FileNumber{*file}};
}

Error lost_changes(const std::string& path) {
    return {ErrorKind::Damaged,
            "the store " + escaped(path) +
                " has lost changes that were answered (its log was damaged or removed, or an older copy was put in its "
                "place): run `hagi agent lock doctor`"};
}

Error strange_log(const std::string& path) {
    return {ErrorKind::Damaged, "the log beside the store " + escaped(path) +
                                    " is another store's: end every hagi that uses it and move " + escaped(path) +
                                    "-wal and -shm away, then run `hagi agent lock doctor`"};
}

// Empty: it cannot be read.
std::string store_id_in(Connection& connection) {
    Query query(connection, kReadStoreId);
    const Result<bool> row = query.step();
    return row && *row ? query.take_text() : "";
}

// `store_id` was read with the log.
Outcome check_log_of(const std::string& path, const std::string& store_id) {
    const auto file = Connection::open_without_log(path);
    if (!file) return Done{};
    const std::string found = store_id_in(**file);
    // What cannot be read without the log may be whole with it: a power cut may have torn the page.
    if (found.size() != store_id.size() || found.find_first_not_of("0123456789abcdef") != std::string::npos)
        return Done{};
    return found == store_id ? Outcome(Done{}) : strange_log(path);
}

}  // namespace

// An inode alone would not tell: the next file may get a number that has just become free.
FileNumber file_number(const std::string& path) {
    struct statx file {};
    if (::statx(AT_FDCWD, path.c_str(), 0, STATX_INO | STATX_BTIME, &file) != 0) return {};
    constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio: small differences do not cancel out
    constexpr std::uint64_t kSecond = 1'000'000'000;
    const auto born = static_cast<std::uint64_t>(file.stx_btime.tv_sec) * kSecond + file.stx_btime.tv_nsec;
    return FileNumber{file.stx_ino * kSpread ^ born};
}

std::string note_of(FileNumber file, const std::string& store_id, std::int64_t newest_event) {
    return store_id + " " + in_digits(static_cast<std::uint64_t>(newest_event)) + " " +
           in_digits(static_cast<std::uint64_t>(file)) + "\n";
}

Outcome check_log(Connection& connection) {
    const std::string with_log = store_id_in(connection);
    return with_log.empty() ? Outcome(Done{}) : check_log_of(connection.path(), with_log);
}

Outcome check_provenance(const std::string& path, FileNumber file, const StoreRow& store, std::string_view note) {
    const auto known = read(note);
    const bool ours = known && known->store_id == store.store_id;
    if (ours && static_cast<std::uint64_t>(store.newest_event) < known->newest_event) return lost_changes(path);
    if (file == FileNumber{} || (ours && known->file == file)) return Done{};
    return check_log_of(path, store.store_id);
}

}  // namespace hagi::sqlite
