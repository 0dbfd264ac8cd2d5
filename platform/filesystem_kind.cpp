#include "platform/filesystem_kind.hpp"

#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>
#include <vector>

#include "lockcore/names.hpp"
#include "platform/posix_error.hpp"
#include "platform/proc_file.hpp"

namespace hagi {

namespace {

struct Known {
    std::string_view type;  // in the mount table
    std::uint64_t magic;    // f_type of statfs
    FilesystemKind kind;
};

// overlayfs counts as local since its layers cannot be seen from inside a container.
constexpr std::array kKnown = {
    Known{"ext2", 0xef53, FilesystemKind::Local},        Known{"ext3", 0xef53, FilesystemKind::Local},
    Known{"ext4", 0xef53, FilesystemKind::Local},        Known{"xfs", 0x58465342, FilesystemKind::Local},
    Known{"btrfs", 0x9123683e, FilesystemKind::Local},   Known{"tmpfs", 0x01021994, FilesystemKind::Local},
    Known{"zfs", 0x2fc12fc1, FilesystemKind::Local},     Known{"f2fs", 0xf2f52010, FilesystemKind::Local},
    Known{"overlay", 0x794c7630, FilesystemKind::Local}, Known{"nfs", 0x6969, FilesystemKind::Shared},
    Known{"nfs4", 0x6969, FilesystemKind::Shared},       Known{"cifs", 0xff534d42, FilesystemKind::Shared},
    Known{"cifs", 0xfe534d42, FilesystemKind::Shared},   Known{"smb3", 0xff534d42, FilesystemKind::Shared},
    Known{"smb3", 0xfe534d42, FilesystemKind::Shared},   Known{"ceph", 0x00c36400, FilesystemKind::Shared},
    Known{"lustre", 0x0bd00bd0, FilesystemKind::Shared}, Known{"gpfs", 0x47504653, FilesystemKind::Shared},
    Known{"ocfs2", 0x7461636f, FilesystemKind::Shared},  Known{"gfs2", 0x01161970, FilesystemKind::Shared},
};

// These make locks local to one host, or let a write fail that was reported done.
constexpr std::array<std::string_view, 5> kRefusedOptions = {"nolock", "soft", "softerr", "nobrl", "cache=loose"};

constexpr std::string_view kOverride =
    "use a folder on a local disk, or let someone who knows set HAGI_LOCK_FILESYSTEM=local|shared";

// One line of the mount table, which must outlive it.
struct Mount {
    std::string_view id;
    std::string_view parent;
    std::string point;
    std::string_view type;
    std::string_view options;        // the mount's
    std::string_view super_options;  // the filesystem's
};

bool is_octal(char digit) { return digit >= '0' && digit <= '7'; }

// The table writes blanks and backslashes as \040.
std::string unescaped(std::string_view text) {
    std::string result;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '\\' && at + 3 < text.size() && is_octal(text[at + 1]) && is_octal(text[at + 2]) &&
            is_octal(text[at + 3])) {
            result += static_cast<char>((text[at + 1] - '0') * 64 + (text[at + 2] - '0') * 8 + (text[at + 3] - '0'));
            at += 3;
        } else {
            result += text[at];
        }
    }
    return result;
}

// The text before the next `separator`, which goes with it.
std::string_view take_until(char separator, std::string_view& text) {
    const std::string_view taken = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(text.size(), taken.size() + 1));
    return taken;
}

// "36 35 98:0 /root /point rw,noatime shared:1 - ext4 /dev/sda rw,errors=continue"
std::optional<Mount> parse_mount(std::string_view line) {
    const auto take_word = [&] { return take_until(' ', line); };
    Mount mount;
    mount.id = take_word();
    mount.parent = take_word();
    take_word();  // device
    take_word();  // root
    mount.point = unescaped(take_word());
    mount.options = take_word();
    while (!line.empty() && take_word() != "-") {
    }
    mount.type = take_word();
    const std::string_view source = take_word();
    mount.super_options = take_word();
    return source.empty() ? std::nullopt : std::optional(std::move(mount));
}

// Every command reads the whole table of a machine, which may have a hundred mounts: without a copy of each word.
std::vector<Mount> parse_mounts(std::string_view mountinfo) {
    std::vector<Mount> mounts;
    while (!mountinfo.empty())
        if (auto mount = parse_mount(take_until('\n', mountinfo))) mounts.push_back(*std::move(mount));
    return mounts;
}

bool lies_under(std::string_view path, std::string_view point) {
    if (point == "/") return true;
    return path.starts_with(point) && (path.size() == point.size() || path[point.size()] == '/');
}

// Walks down as the kernel does, from mount to mounted, so that what a later mount covers is not found. Each step
// takes the mount nearest to the root; the last of several in one place lies on top.
const Mount* mount_of(const std::vector<Mount>& mounts, std::string_view path) {
    const auto is_listed = [&](std::string_view id) {
        return std::any_of(mounts.begin(), mounts.end(), [&](const Mount& mount) { return mount.id == id; });
    };
    const Mount* current = nullptr;
    for (std::size_t step = 0; step <= mounts.size(); ++step) {
        const Mount* next = nullptr;
        for (const Mount& mount : mounts) {
            if (&mount == current || !lies_under(path, mount.point)) continue;
            const bool is_root = mount.parent == mount.id || !is_listed(mount.parent);
            const bool is_child = current != nullptr ? !is_root && mount.parent == current->id : is_root;
            if (is_child && (next == nullptr || mount.point.size() <= next->point.size())) next = &mount;
        }
        if (next == nullptr) return current;
        current = next;
    }
    return current;
}

const Known* find_known(std::uint64_t magic, const Mount* mount) {
    const auto* found = std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& known) {
        return known.magic == magic && (mount == nullptr || known.type == mount->type);
    });
    return found == kKnown.end() ? nullptr : found;
}

std::string refused_option(const Mount& mount) {
    std::string options = ",";
    options.append(mount.options).append(",").append(mount.super_options).append(",");
    for (const std::string_view option : kRefusedOptions)
        if (options.find("," + std::string(option) + ",") != std::string::npos) return std::string(option);
    constexpr std::string_view kLocalLock = ",local_lock=";
    const auto at = options.find(kLocalLock);
    if (at == std::string::npos) return "";
    const std::string option = options.substr(at + 1, options.find(',', at + 1) - at - 1);
    return option == "local_lock=none" ? "" : option;
}

std::string in_hex(std::uint64_t number) {
    std::array<char, 24> digits{};
    std::snprintf(digits.data(), digits.size(), "0x%llx", static_cast<unsigned long long>(number));
    return digits.data();
}

std::string refusal_of_unknown(const Mount* mount, std::uint64_t magic) {
    if (mount == nullptr)
        return "the store's filesystem (type " + in_hex(magic) +
               ") is not known to share locks: " + std::string(kOverride);
    const bool known_by_name =
        std::any_of(kKnown.begin(), kKnown.end(), [&](const Known& known) { return known.type == mount->type; });
    std::string text = "the store's filesystem " + escaped(mount->type);
    if (known_by_name) text += " calls itself type " + in_hex(magic) + ", so it";
    return text + " is not known to share locks: " + std::string(kOverride);
}

}  // namespace

FilesystemReport judge_filesystem(std::string_view mountinfo, std::string_view resolved_path,
                                  std::uint64_t statfs_type) {
    const std::vector<Mount> mounts = parse_mounts(mountinfo);
    const Mount* mount = mount_of(mounts, resolved_path);
    const Known* known = find_known(statfs_type, mount);
    if (known == nullptr)
        return {FilesystemKind::Unknown, mount != nullptr ? escaped(mount->type) : in_hex(statfs_type),
                refusal_of_unknown(mount, statfs_type)};

    FilesystemReport report{known->kind, std::string(known->type), ""};
    const std::string option = mount != nullptr && known->kind == FilesystemKind::Shared ? refused_option(*mount) : "";
    if (!option.empty())
        report.refusal = "the store's filesystem " + report.type + " is mounted with " + escaped(option) +
                         ", which can lose locks or writes: mount it without, or " + std::string(kOverride);
    return report;
}

Result<FilesystemReport> examine_filesystem(const std::string& resolved_path, const std::optional<std::string>& told) {
    const bool is_told = told && !told->empty();
    if (is_told && *told != "local" && *told != "shared")
        return Error{ErrorKind::InvalidArgument,
                     "HAGI_LOCK_FILESYSTEM is '" + escaped(*told) + "': set it to local or shared, or unset it"};
    struct statfs found {};
    if (::statfs(resolved_path.c_str(), &found) != 0)
        return posix_error(errno, "cannot ask for the filesystem of " + resolved_path);
    // Some architectures have a signed 32-bit f_type.
    const auto magic = static_cast<std::uint64_t>(static_cast<std::uint32_t>(found.f_type));
    FilesystemReport report =
        judge_filesystem(read_proc_file("/proc/self/mountinfo").value_or(""), resolved_path, magic);
    if (is_told) {
        report.kind = *told == "local" ? FilesystemKind::Local : FilesystemKind::Shared;
        report.refusal.clear();
    }
    return report;
}

Outcome require_usable(const FilesystemReport& report) {
    if (report.refusal.empty()) return Done{};
    return Error{ErrorKind::Unusable, report.refusal};
}

}  // namespace hagi
