#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "platform/file_server_clock.hpp"
#include "platform/machine_clock.hpp"
#include "tests/platform/temporary_folder.hpp"
#include "tests/support/catch.hpp"

using namespace hagi;
using namespace hagi::test;

TEST_CASE("the machine's clock names the boot and never goes back") {
    MachineClock clock;
    const ClockReading first = clock.read().value();
    const ClockReading second = clock.read().value();
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    CHECK(first.timeline == boot);
    CHECK(second.timeline == boot);
    CHECK(second.steady >= first.steady);
    CHECK(first.wall > std::chrono::hours{24 * 365 * 50});  // since 1970, in milliseconds
}

TEST_CASE("the file server's clock is the time that the server gives a file") {
    const TemporaryFolder folder;
    FileServerClock clock(folder.file("locks.db-clock-"));
    CHECK(std::filesystem::is_empty(folder.path()));

    const ClockReading reading = clock.read().value();
    CHECK(reading.timeline == "file server");
    CHECK(reading.steady == reading.wall);
    const auto file = std::filesystem::directory_iterator(folder.path())->path().string();
    CHECK(file.starts_with(folder.file("locks.db-clock-")));
    CHECK(mode_of(file) == 0600);
    struct stat found {};
    REQUIRE(::stat(file.c_str(), &found) == 0);
    CHECK(reading.wall.count() == found.st_mtim.tv_sec * 1000 + found.st_mtim.tv_nsec / 1'000'000);
}

TEST_CASE("every reading asks the server anew") {
    const TemporaryFolder folder;
    FileServerClock clock(folder.file("c-"));
    const ClockReading first = clock.read().value();
    const auto file = std::filesystem::directory_iterator(folder.path())->path().string();
    const timespec long_ago[2] = {{1, 0}, {1, 0}};
    REQUIRE(::utimensat(AT_FDCWD, file.c_str(), long_ago, 0) == 0);
    CHECK(clock.read().value().wall >= first.wall);
}

TEST_CASE("the clock's file goes with the clock, and two clocks have two files") {
    const TemporaryFolder folder;
    {
        FileServerClock one(folder.file("c-"));
        FileServerClock other(folder.file("c-"));
        REQUIRE(one.read().ok());
        REQUIRE(other.read().ok());
        CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 2);
    }
    CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a clock without a folder is an outage that ends when the folder is back") {
    const TemporaryFolder folder;
    FileServerClock clock(folder.file("gone/c-"));
    const auto failed = clock.read();
    REQUIRE_FALSE(failed.ok());
    CHECK(failed.error().kind == ErrorKind::Unreachable);
    std::filesystem::create_directory(folder.file("gone"));
    CHECK(clock.read().ok());
}
