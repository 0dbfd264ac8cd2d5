#include "platform/proc_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "platform/unique_fd.hpp"

namespace hagi {

namespace {

// Mount tables of big container hosts have some hundred kilobytes.
constexpr std::size_t kMaxProcFile = std::size_t{1} << 20;

}  // namespace

std::optional<std::string> read_proc_file(const std::string& path) {
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (!file) return std::nullopt;
    std::string text;
    char buffer[4096];
    for (;;) {
        const ssize_t count = ::read(file.get(), buffer, sizeof buffer);
        if (count == 0) return text;
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 || text.size() > kMaxProcFile) return std::nullopt;
        text.append(buffer, static_cast<std::size_t>(count));
    }
}

const std::string& boot_id() {
    static const std::string id = [] {
        std::string text = read_proc_file("/proc/sys/kernel/random/boot_id").value_or("");
        while (!text.empty() && text.back() == '\n') text.pop_back();
        return text;
    }();
    return id;
}

}  // namespace hagi
