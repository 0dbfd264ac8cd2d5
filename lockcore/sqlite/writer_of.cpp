#include "lockcore/sqlite/writer_of.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdio>
#include <sstream>

#include "lockcore/names.hpp"
#include "platform/proc_file.hpp"

namespace hagi::sqlite {
namespace {

// As /proc/locks writes it.
std::optional<std::string> file_name_in_locks(const std::string& path) {
    struct stat file {};
    if (::stat(path.c_str(), &file) != 0) return std::nullopt;
    char name[64];
    std::snprintf(name, sizeof name, "%02x:%02x:%ju", major(file.st_dev), minor(file.st_dev),
                  static_cast<std::uintmax_t>(file.st_ino));
    return name;
}

// Lines like "1: POSIX  ADVISORY  WRITE 4711 fd:00:1234 120 120"; those of who still waits have "->" after the number.
std::optional<pid_t> find_writer(const std::string& locks, const std::string& file) {
    std::istringstream lines(locks);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream fields(line);
        std::string number, kind, advisory, access, name;
        pid_t pid = 0;
        if (fields >> number >> kind >> advisory >> access >> pid >> name && kind == "POSIX" && access == "WRITE" &&
            name == file && pid > 0 && pid != ::getpid())
            return pid;
    }
    return std::nullopt;
}

std::string command_of(pid_t pid) {
    std::string command = read_proc_file("/proc/" + std::to_string(pid) + "/comm").value_or("");
    if (!command.empty() && command.back() == '\n') command.pop_back();
    return escaped(command);
}

}  // namespace

std::optional<GateHolder> writer_of(const std::string& path) {
    const auto locks = read_proc_file("/proc/locks");
    if (!locks) return std::nullopt;
    // With a write-ahead log the locks lie on its index.
    for (const std::string& name : {path + "-shm", path}) {
        const auto file = file_name_in_locks(name);
        const auto pid = file ? find_writer(*locks, *file) : std::nullopt;
        if (pid) return GateHolder{*pid, command_of(*pid)};
    }
    return std::nullopt;
}

}  // namespace hagi::sqlite
