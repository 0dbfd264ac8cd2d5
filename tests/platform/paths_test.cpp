#include "platform/paths.hpp"

#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <filesystem>

#include "tests/platform/temporary_folder.hpp"
#include "tests/support/catch.hpp"

using namespace hagi;
using namespace hagi::test;

namespace fs = std::filesystem;

namespace {

constexpr uid_t kMe = 12345, kStranger = 12346;
constexpr gid_t kMyGroup = 23456, kTeam = 23457;

// Acts as a user without privileges, in the group kTeam besides its own. Only root can.
class AsUser {
public:
    AsUser() {
        const gid_t groups[] = {kTeam};
        if (::setgroups(1, groups) != 0 || ::setegid(kMyGroup) != 0 || ::seteuid(kMe) != 0) std::abort();
    }
    ~AsUser() {
        if (::seteuid(0) != 0 || ::setegid(0) != 0 || ::setgroups(0, nullptr) != 0) std::abort();
    }
    AsUser(const AsUser&) = delete;
    AsUser& operator=(const AsUser&) = delete;
};

bool is_root() {
    if (::geteuid() == 0) return true;
    WARN("needs root to act as several users: not checked");
    return false;
}

void put(const std::string& path, uid_t owner, gid_t group, mode_t mode) {
    write_file(path);
    REQUIRE(::chown(path.c_str(), owner, group) == 0);
    REQUIRE(::chmod(path.c_str(), mode) == 0);
}

void set_folder(const std::string& path, uid_t owner, gid_t group, mode_t mode) {
    REQUIRE(::chown(path.c_str(), owner, group) == 0);
    REQUIRE(::chmod(path.c_str(), mode) == 0);
}

ErrorKind error_of(const std::string& path, Access access = Access::Write) {
    const auto place = check_store_place(path, access);
    REQUIRE_FALSE(place.ok());
    return place.error().kind;
}

bool accepted(const std::string& path, Access access = Access::Write) { return check_store_place(path, access).ok(); }

}  // namespace

TEST_CASE("the store is the first that is named") {
    const StoreChoice all{"/o/x.db", "/v/x.db", "/state", "/home/me"};
    CHECK(find_store(all)->path == "/o/x.db");
    CHECK(find_store({std::nullopt, "/v/x.db", "/state", "/home/me"})->path == "/v/x.db");
    CHECK(find_store({std::nullopt, "", "/state", "/home/me"})->path == "/state/hagi/locks.db");
    CHECK(find_store({std::nullopt, "", "", "/home/me"})->path == "/home/me/.local/state/hagi/locks.db");
    CHECK(find_store({std::nullopt, std::nullopt, "relative", "/home/me"})->path ==
          "/home/me/.local/state/hagi/locks.db");
    CHECK(find_store(all)->named_by == NamedBy::User);
    CHECK(find_store({std::nullopt, "x.db"})->named_by == NamedBy::User);
    CHECK(find_store({std::nullopt, std::nullopt, "/state"})->named_by == NamedBy::Default);
}

TEST_CASE("without any name for the store the answer says what to do") {
    for (const StoreChoice& choice : {StoreChoice{}, StoreChoice{"", "/v/x.db"}, StoreChoice{{}, {}, {}, "me"}}) {
        const auto store = find_store(choice);
        REQUIRE_FALSE(store.ok());
        CHECK(store.error().kind == ErrorKind::InvalidArgument);
        CHECK(store.error().message.find("--store") != std::string::npos);
    }
}

TEST_CASE("the default's folders are private whatever the umask, and those that exist are left alone") {
    const TemporaryFolder folder;
    ::chmod(folder.path().c_str(), 0755);
    {
        const Umask odd(0277);
        REQUIRE(ensure_default_folders(folder.file("a/b/locks.db")).ok());
    }
    CHECK(mode_of(folder.file("a")) == 0700);
    CHECK(mode_of(folder.file("a/b")) == 0700);
    CHECK_FALSE(fs::exists(folder.file("a/b/locks.db")));
    CHECK(mode_of(folder.path()) == 0755);
    CHECK(ensure_default_folders(folder.file("a/b/locks.db")).ok());
}

TEST_CASE("the default's folders cannot be made inside a file") {
    const TemporaryFolder folder;
    write_file(folder.file("a"));
    const auto made = ensure_default_folders(folder.file("a/b/locks.db"));
    REQUIRE_FALSE(made.ok());
    CHECK(made.error().kind == ErrorKind::NotFound);
}

TEST_CASE("a store that is not there yet is private") {
    const TemporaryFolder folder;
    const auto place = check_store_place(folder.file("x/../locks.db"), Access::Write);
    CHECK_FALSE(place.ok());  // x does not exist
    fs::create_directory(folder.file("x"));
    const auto found = check_store_place(folder.file("x/../locks.db"), Access::Write);
    REQUIRE(found.ok());
    CHECK(found->path == folder.file("locks.db"));
    CHECK(found->folder == folder.path());
    CHECK_FALSE(found->exists);
    CHECK(found->mode.mode == 0600);
    CHECK_FALSE(found->mode.set_group);
}

TEST_CASE("a path without a folder lies in the current one") {
    const TemporaryFolder folder;
    const fs::path before = fs::current_path();
    fs::current_path(folder.path());
    const auto place = check_store_place("locks.db", Access::Write);
    fs::current_path(before);
    REQUIRE(place.ok());
    CHECK(place->path == folder.file("locks.db"));
}

TEST_CASE("in a set-group-id folder the store is the group's") {
    const TemporaryFolder folder;
    REQUIRE(::chmod(folder.path().c_str(), 02770) == 0);
    const SideFileMode mode = side_file_mode(folder.file("locks.db"));
    CHECK(mode.mode == 0660);
    CHECK(mode.set_group);
    CHECK(mode.group == group_of(folder.path()));
}

TEST_CASE("beside an existing store everything has its mode") {
    const TemporaryFolder folder;
    write_file(folder.file("locks.db"));
    ::chmod(folder.file("locks.db").c_str(), 0640);
    const auto place = check_store_place(folder.file("locks.db"), Access::Write);
    REQUIRE(place.ok());
    CHECK(place->exists);
    CHECK(place->mode.mode == 0640);
    CHECK(place->mode.group == group_of(folder.file("locks.db")));
}

TEST_CASE("a folder has x where its files have r") {
    CHECK(folder_mode(0600) == 0700);
    CHECK(folder_mode(0660) == 0770);
    CHECK(folder_mode(0644) == 0755);
}

TEST_CASE("a folder that does not exist was not found") {
    const TemporaryFolder folder;
    write_file(folder.file("file"));
    CHECK(error_of(folder.file("gone/locks.db")) == ErrorKind::NotFound);
    CHECK(error_of(folder.file("file/locks.db")) == ErrorKind::NotFound);
}

TEST_CASE("a folder is no store, and the message says to name a file") {
    const TemporaryFolder folder;
    for (const std::string& path :
         {folder.path(), folder.path() + "/", std::string("."), std::string("/"), std::string("")}) {
        const auto place = check_store_place(path, Access::Read);
        REQUIRE_FALSE(place.ok());
        CHECK(place.error().kind == ErrorKind::PermissionDenied);
        CHECK(place.error().message.find("name a file in it") != std::string::npos);
    }
}

TEST_CASE("what is no regular file is no store") {
    const TemporaryFolder folder;
    REQUIRE(::mkfifo(folder.file("pipe").c_str(), 0600) == 0);
    CHECK(error_of(folder.file("pipe")) == ErrorKind::PermissionDenied);
    CHECK(error_of("/dev/null") == ErrorKind::PermissionDenied);
}

TEST_CASE("a path that leaves no room for the files beside the store is refused") {
    const TemporaryFolder folder;
    CHECK(error_of(folder.file(std::string(NAME_MAX, 'a'))) == ErrorKind::InvalidArgument);
    CHECK(error_of(folder.file(std::string(PATH_MAX + 1, 'a') + "/b")) == ErrorKind::InvalidArgument);
    CHECK(error_of(std::string("/a\0b", 4)) == ErrorKind::InvalidArgument);
    CHECK(accepted(folder.file(std::string(100, 'a'))));
}

TEST_CASE("a symbolic link is followed in a folder of one's own") {
    const TemporaryFolder folder;
    fs::create_directory(folder.file("real"));
    write_file(folder.file("real/locks.db"));
    fs::create_symlink("real/locks.db", folder.file("link"));
    fs::create_symlink(folder.file("link"), folder.file("link2"));
    fs::create_symlink("real/new.db", folder.file("dangling"));
    CHECK(check_store_place(folder.file("link2"), Access::Write)->path == folder.file("real/locks.db"));
    const auto fresh = check_store_place(folder.file("dangling"), Access::Write);
    REQUIRE(fresh.ok());
    CHECK(fresh->path == folder.file("real/new.db"));
    CHECK_FALSE(fresh->exists);
    fs::create_symlink("circle", folder.file("circle"));
    CHECK(error_of(folder.file("circle")) == ErrorKind::PermissionDenied);
}

TEST_CASE("a symbolic link or a second name is refused where everybody may put one") {
    const TemporaryFolder folder;
    fs::create_directory(folder.file("open"));
    ::chmod(folder.file("open").c_str(), 01777);
    write_file(folder.file("locks.db"));
    fs::create_symlink(folder.file("locks.db"), folder.file("open/link"));
    fs::create_hard_link(folder.file("locks.db"), folder.file("open/second"));
    fs::create_symlink("open/link", folder.file("chain"));
    CHECK(error_of(folder.file("open/link")) == ErrorKind::PermissionDenied);
    CHECK(error_of(folder.file("chain")) == ErrorKind::PermissionDenied);
    CHECK(error_of(folder.file("open/second")) == ErrorKind::PermissionDenied);
    CHECK(accepted(folder.file("locks.db")));
    write_file(folder.file("open/own.db"));
    CHECK(accepted(folder.file("open/own.db")));
}

TEST_CASE("one's own store and root's are safe, a stranger's may at most be read") {
    if (!is_root()) return;
    const TemporaryFolder folder;
    set_folder(folder.path(), 0, 0, 0755);
    put(folder.file("mine"), kMe, kMyGroup, 0600);
    put(folder.file("roots"), 0, 0, 0666);
    put(folder.file("strange"), kStranger, kMyGroup, 0666);
    CHECK(accepted(folder.file("strange")));  // an administrator helps out
    const AsUser user;
    CHECK(accepted(folder.file("mine")));
    CHECK(accepted(folder.file("roots")));
    CHECK(accepted(folder.file("strange"), Access::Read));
    CHECK(error_of(folder.file("strange")) == ErrorKind::PermissionDenied);
}

TEST_CASE("in /tmp one's own store is safe and nobody else's is") {
    if (!is_root()) return;
    const TemporaryFolder folder;
    set_folder(folder.path(), 0, 0, 01777);
    put(folder.file("mine"), kMe, kMyGroup, 0600);
    put(folder.file("roots"), 0, 0, 0666);
    put(folder.file("strange"), kStranger, kMyGroup, 0666);
    CHECK_FALSE(accepted(folder.file("strange")));
    const AsUser user;
    CHECK(accepted(folder.file("mine")));
    CHECK(accepted(folder.file("new")));
    CHECK(error_of(folder.file("roots")) == ErrorKind::PermissionDenied);
    CHECK(error_of(folder.file("strange")) == ErrorKind::PermissionDenied);
    CHECK(error_of(folder.file("strange"), Access::Read) == ErrorKind::PermissionDenied);
}

TEST_CASE("a team shares a store through a set-group-id folder") {
    if (!is_root()) return;
    const TemporaryFolder folder;
    fs::create_directory(folder.file("team"));
    fs::create_directory(folder.file("others"));
    set_folder(folder.path(), 0, 0, 0755);
    set_folder(folder.file("team"), kStranger, kTeam, 02775);
    set_folder(folder.file("others"), kStranger, kTeam + 1, 02775);
    put(folder.file("team/locks.db"), kStranger, kTeam, 0660);
    put(folder.file("team/private.db"), kStranger, kMyGroup, 0660);
    put(folder.file("others/locks.db"), kStranger, kTeam + 1, 0666);
    const AsUser user;
    CHECK(accepted(folder.file("team/locks.db")));
    CHECK(error_of(folder.file("team/private.db")) == ErrorKind::PermissionDenied);
    CHECK(error_of(folder.file("others/locks.db")) == ErrorKind::PermissionDenied);
}

TEST_CASE("what root creates beside a user's store is the user's") {
    if (!is_root()) return;
    const TemporaryFolder folder;
    put(folder.file("locks.db"), kMe, kMyGroup, 0600);
    const auto opened = open_side_file(folder.file("locks.db-gate"), O_RDWR, side_file_mode(folder.file("locks.db")));
    REQUIRE(opened.ok());
    struct stat found {};
    REQUIRE(::stat(folder.file("locks.db-gate").c_str(), &found) == 0);
    CHECK(found.st_uid == kMe);
    CHECK(found.st_gid == kMyGroup);
}

TEST_CASE("the group's rights go to no other group") {
    if (!is_root()) return;
    const TemporaryFolder folder;
    set_folder(folder.path(), kMe, kMyGroup, 0700);
    const AsUser user;
    const SideFileMode not_mine{0660, kTeam + 1, true};
    REQUIRE(open_side_file(folder.file("side"), O_RDWR, not_mine).ok());
    CHECK(mode_of(folder.file("side")) == 0600);
    const SideFileMode mine{0660, kTeam, true};
    REQUIRE(open_side_file(folder.file("shared"), O_RDWR, mine).ok());
    CHECK(mode_of(folder.file("shared")) == 0660);
    CHECK(group_of(folder.file("shared")) == kTeam);
}

TEST_CASE("a folder that may not be looked into is a matter of permission") {
    if (!is_root()) return;
    const TemporaryFolder folder;
    set_folder(folder.path(), 0, 0, 0700);
    const AsUser user;
    CHECK(error_of(folder.file("locks.db")) == ErrorKind::PermissionDenied);
}
