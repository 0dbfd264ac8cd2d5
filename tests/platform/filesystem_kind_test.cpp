#include "platform/filesystem_kind.hpp"

#include "tests/platform/temporary_folder.hpp"
#include "tests/support/catch.hpp"

using namespace hagi;
using namespace hagi::test;

namespace {

constexpr std::uint64_t kExt4 = 0xef53, kOverlay = 0x794c7630, kNfs = 0x6969, kCifs = 0xff534d42, kCeph = 0x00c36400,
                        kFuse = 0x65735546, kNineP = 0x01021997, kTmpfs = 0x01021994, kXfs = 0x58465342;

const std::string kHost =
    "24 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,errors=remount-ro\n"
    "25 24 0:20 / /proc rw,nosuid - proc proc rw\n"
    "30 24 0:30 / /tmp rw - tmpfs tmpfs rw,size=1024k\n"
    "31 24 0:31 / /mnt/team rw,relatime shared:9 master:2 - nfs4 nas:/team rw,vers=4.2,hard,proto=tcp,local_lock=none\n"
    "32 24 0:32 / /mnt/ceph rw - ceph 10.0.0.1:6789:/ rw,acl\n"
    "33 24 0:33 / /mnt/share rw - cifs //nas/share rw,vers=3.1.1,cache=strict,hard,serverino\n"
    "34 24 0:34 / /mnt/vm rw - virtiofs shared rw\n"
    "35 24 0:35 / /mnt/c rw - 9p drvfs rw,trans=fd\n"
    "36 24 0:36 / /home/me/remote rw - fuse.sshfs me@host: rw,user_id=1000\n"
    "37 24 254:0 /srv/data /mnt/bound rw,relatime - ext4 /dev/vda rw\n"
    "38 24 0:38 / /mnt/with\\040space\\134 rw - xfs /dev/vdb rw\n";

FilesystemKind kind_at(const std::string& path, std::uint64_t magic, const std::string& table = kHost) {
    return judge_filesystem(table, path, magic).kind;
}

std::string nfs_with(const std::string& options, const std::string& type = "nfs") {
    return "1 0 254:0 / / rw - ext4 /dev/vda rw\n2 1 0:9 / /n rw,noatime - " + type + " nas:/x rw," + options + "\n";
}

std::string refusal(const std::string& table, std::uint64_t magic) {
    return judge_filesystem(table, "/n/locks.db", magic).refusal;
}

}  // namespace

TEST_CASE("a filesystem of one kernel is local") {
    CHECK(kind_at("/var/lib/hagi", kExt4) == FilesystemKind::Local);
    CHECK(kind_at("/tmp", kTmpfs) == FilesystemKind::Local);
    CHECK(kind_at("/tmp/a/b", kTmpfs) == FilesystemKind::Local);
    CHECK(kind_at("/mnt/bound/x", kExt4) == FilesystemKind::Local);
    CHECK(judge_filesystem(kHost, "/", kExt4).type == "ext4");
    CHECK(judge_filesystem(kHost, "/", kExt4).refusal.empty());
}

TEST_CASE("a container's overlay is local") {
    const std::string table =
        "600 500 0:50 / / rw,relatime master:1 - overlay overlay rw,lowerdir=/l1:/l2,upperdir=/u,workdir=/w\n"
        "601 600 0:51 / /dev/shm rw - tmpfs shm rw\n";
    CHECK(kind_at("/root/.local", kOverlay, table) == FilesystemKind::Local);
    CHECK(kind_at("/dev/shm/x", kTmpfs, table) == FilesystemKind::Local);
}

TEST_CASE("a filesystem of several hosts is shared") {
    CHECK(kind_at("/mnt/team/locks", kNfs) == FilesystemKind::Shared);
    CHECK(kind_at("/mnt/ceph", kCeph) == FilesystemKind::Shared);
    CHECK(kind_at("/mnt/share", kCifs) == FilesystemKind::Shared);
    CHECK(judge_filesystem(kHost, "/mnt/team/locks", kNfs).refusal.empty());
    CHECK(judge_filesystem(kHost, "/mnt/share", kCifs).refusal.empty());
}

TEST_CASE("a mount point ends at a whole name") {
    CHECK(kind_at("/mnt/teammates", kExt4) == FilesystemKind::Local);
    CHECK(kind_at("/mnt/teammates", kNfs) == FilesystemKind::Unknown);
}

TEST_CASE("blanks and backslashes of a mount point are understood") {
    CHECK(kind_at("/mnt/with space\\/x", kXfs) == FilesystemKind::Local);
    CHECK(kind_at("/mnt/with space", kXfs) == FilesystemKind::Unknown);
}

TEST_CASE("what is on no list is refused, by name and with the way out") {
    for (const auto& [path, magic, type] : {std::tuple{"/mnt/vm", kFuse, "virtiofs"},
                                            {"/mnt/c/x", kNineP, "9p"},
                                            {"/home/me/remote", kFuse, "fuse.sshfs"}}) {
        const FilesystemReport report = judge_filesystem(kHost, path, magic);
        CHECK(report.kind == FilesystemKind::Unknown);
        CHECK(report.type == type);
        CHECK(report.refusal == "the store's filesystem " + std::string(type) +
                                    " is not known to share locks: use a folder on a local disk, or let someone who "
                                    "knows set HAGI_LOCK_FILESYSTEM=local|shared");
        const auto usable = require_usable(report);
        REQUIRE_FALSE(usable.ok());
        CHECK(usable.error().kind == ErrorKind::Unusable);
    }
    CHECK(require_usable(judge_filesystem(kHost, "/", kExt4)).ok());
}

TEST_CASE("the table and statfs must agree") {
    const FilesystemReport report = judge_filesystem(kHost, "/srv", kFuse);
    CHECK(report.kind == FilesystemKind::Unknown);
    CHECK(report.refusal.starts_with("the store's filesystem ext4 calls itself type 0x65735546, so it is not known"));
    CHECK(kind_at("/mnt/vm", kExt4) == FilesystemKind::Unknown);
    CHECK(kind_at("/mnt/team", kExt4) == FilesystemKind::Unknown);
}

TEST_CASE("mount options that make locks or errors local are refused by name") {
    for (const std::string option :
         {"nolock", "soft", "softerr", "local_lock=all", "local_lock=flock", "local_lock=posix"}) {
        const std::string text = refusal(nfs_with("vers=3," + option + ",addr=10.0.0.1"), kNfs);
        CHECK(text.find(" nfs is mounted with " + option + ",") != std::string::npos);
        CHECK(text.find("HAGI_LOCK_FILESYSTEM=local|shared") != std::string::npos);
    }
    for (const std::string option : {"nobrl", "cache=loose", "soft"})
        CHECK(refusal(nfs_with("hard," + option, "cifs"), kCifs).find("with " + option) != std::string::npos);
    CHECK(refusal(nfs_with("soft"), kNfs).find("with soft,") != std::string::npos);  // the last option of the line
}

TEST_CASE("options that only look alike are not refused") {
    CHECK(refusal(nfs_with("hard,local_lock=none,softreval,addr=soft.example"), kNfs).empty());
    CHECK(refusal("1 0 254:0 / / rw - ext4 /dev/vda rw,nolock\n", kExt4).empty());
}

TEST_CASE("of mounts on one place the last counts") {
    const std::string table = kHost + "50 36 0:50 / /home/me/remote rw - tmpfs tmpfs rw\n";
    CHECK(kind_at("/home/me/remote/x", kTmpfs, table) == FilesystemKind::Local);
    CHECK(kind_at("/home/me/remote/x", kFuse, table) == FilesystemKind::Unknown);
    const std::string propagated = kHost + "50 24 0:50 / /home/me/remote rw - tmpfs tmpfs rw\n";
    CHECK(kind_at("/home/me/remote/x", kTmpfs, propagated) == FilesystemKind::Local);
}

TEST_CASE("a mount hides the deeper ones that were there before") {
    const std::string table = kHost + "50 24 0:50 / /mnt rw - nfs4 nas:/mnt rw,hard,local_lock=none\n";
    CHECK(kind_at("/mnt/bound/x", kNfs, table) == FilesystemKind::Shared);
    const std::string again = table + "51 50 254:3 / /mnt/bound rw - ext4 /dev/vdc rw\n";
    CHECK(kind_at("/mnt/bound/x", kExt4, again) == FilesystemKind::Local);
}

TEST_CASE("the order of the table does not matter where mounts were moved under a new root") {
    const std::string table =
        "5 9 0:5 / /dev rw - devtmpfs udev rw\n6 5 0:6 / /dev/shm rw - tmpfs tmpfs rw\n9 1 254:0 / / rw - ext4 r rw\n";
    CHECK(kind_at("/dev/shm/x", kTmpfs, table) == FilesystemKind::Local);
    CHECK(kind_at("/srv", kExt4, table) == FilesystemKind::Local);
}

TEST_CASE("without a mount table statfs decides") {
    CHECK(kind_at("/x", kExt4, "") == FilesystemKind::Local);
    CHECK(kind_at("/x", kNfs, "") == FilesystemKind::Shared);
    const FilesystemReport report = judge_filesystem("", "/x", kFuse);
    CHECK(report.kind == FilesystemKind::Unknown);
    CHECK(report.refusal.find("(type 0x65735546)") != std::string::npos);
}

TEST_CASE("nonsense in the table is passed over") {
    CHECK(kind_at("/x", kExt4, "garbage\n\n7 7 - - -\n" + kHost) == FilesystemKind::Local);
    CHECK(kind_at("/x", kExt4, "1 2 254:0 / / rw - ext4 /dev/vda rw\n2 1 254:0 / / rw - ext4 /dev/vda rw\n") ==
          FilesystemKind::Local);  // a circle
}

TEST_CASE("a type that the table invents is shown escaped") {
    const std::string table = "1 0 0:1 / / rw - fuse.\x1b[31m x rw\n";
    CHECK(judge_filesystem(table, "/", kFuse).type == "fuse.\\x1b[31m");
}

TEST_CASE("someone who knows is believed") {
    const TemporaryFolder folder;
    for (const auto& [told, kind] : {std::pair{"local", FilesystemKind::Local}, {"shared", FilesystemKind::Shared}}) {
        const auto report = examine_filesystem("/proc", told);  // on no list
        REQUIRE(report.ok());
        CHECK(report->kind == kind);
        CHECK(report->type == "proc");
        CHECK(report->refusal.empty());
    }
    const auto refused = examine_filesystem("/proc", std::nullopt);
    REQUIRE(refused.ok());
    CHECK_FALSE(refused->refusal.empty());
    CHECK(examine_filesystem("/proc", "")->kind == FilesystemKind::Unknown);
}

TEST_CASE("what is told must be one of two words, and the path must exist") {
    const auto wrong = examine_filesystem("/", "nfs");
    REQUIRE_FALSE(wrong.ok());
    CHECK(wrong.error().kind == ErrorKind::InvalidArgument);
    const auto missing = examine_filesystem("/no/such/place", std::nullopt);
    REQUIRE_FALSE(missing.ok());
    CHECK(missing.error().kind == ErrorKind::Unreachable);
}
