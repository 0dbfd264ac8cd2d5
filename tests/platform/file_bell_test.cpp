#include "platform/file_bell.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "platform/proc_file.hpp"
#include "tests/platform/child.hpp"
#include "tests/platform/temporary_folder.hpp"
#include "tests/support/catch.hpp"

using namespace hagi;
using namespace hagi::test;
using namespace std::chrono_literals;

namespace fs = std::filesystem;

namespace {

// A sleep that nobody ends shows as a hanging test.
constexpr Duration kForEver = 1h;

const LockId kLock{"eu-1/duckov"};
const Owner kOwner{"sess-a"};

struct Store {
    TemporaryFolder folder;
    std::string path = folder.file("locks.db");
    FileBell bell{path};

    Store() {
        write_file(path);
        ::chmod(path.c_str(), 0600);
    }
    [[nodiscard]] std::string pipe() const { return bell.folder() + "/" + bell_name(kLock, kOwner); }
};

bool is_deaf(const Listener& listener) { return dynamic_cast<const FileListener&>(listener).deaf(); }

// Whether a sleep of `listener` lasts, seen by the state of the thread that sleeps.
bool stays_asleep(Listener& listener) {
    const UniqueFd interrupt(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    std::atomic<pid_t> thread = 0;
    std::atomic<bool> awake = false;
    std::thread sleeper([&] {
        thread = ::gettid();
        listener.sleep(kForEver, {interrupt.get()});
        awake = true;
        pollfd until_asked{interrupt.get(), POLLIN, 0};
        ::poll(&until_asked, 1, -1);
    });
    const auto state = [&] {
        const auto text = read_proc_file("/proc/self/task/" + std::to_string(thread) + "/stat").value_or("");
        const auto end_of_name = text.rfind(") ");
        return end_of_name == std::string::npos ? '?' : text[end_of_name + 2];
    };
    while (thread == 0 || state() != 'S') std::this_thread::yield();
    const bool asleep = !awake;
    ::eventfd_write(interrupt.get(), 1);
    sleeper.join();
    return asleep;
}

}  // namespace

TEST_CASE("a ring ends the sleep") {
    Store store;
    const auto listener = store.bell.listen(kLock, kOwner);
    CHECK_FALSE(is_deaf(*listener));
    listener->arm();
    store.bell.ring(kLock, kOwner);  // between arm and sleep: not lost
    listener->sleep(kForEver, {});
    listener->arm();
    std::thread ringer([&] { FileBell(store.path).ring(kLock, kOwner); });
    listener->sleep(kForEver, {});
    ringer.join();
}

TEST_CASE("a ring ends the sleep of everyone who listens for the same owner") {
    Store store;
    const auto one = store.bell.listen(kLock, kOwner);
    const auto other = store.bell.listen(kLock, kOwner);
    store.bell.ring(kLock, kOwner);
    one->sleep(kForEver, {});
    one->arm();
    other->sleep(kForEver, {});
}

TEST_CASE("each owner of each lock has a bell of its own") {
    CHECK(bell_name(kLock, kOwner) == bell_name(LockId{"eu-1/duckov"}, Owner{"sess-a"}));
    CHECK(bell_name(kLock, kOwner) != bell_name(kLock, Owner{"sess-b"}));
    CHECK(bell_name(LockId{"a"}, Owner{"bc"}) != bell_name(LockId{"ab"}, Owner{"c"}));
    CHECK(bell_name(LockId{""}, Owner{""}) == "af63bd4c8601b7df");  // FNV-1a of one zero byte
}

TEST_CASE("no ring is lost however it meets the arming") {
    Store store;
    constexpr int kRings = 2000;
    std::atomic<int> committed = 0;
    std::atomic<int> seen = 0;
    std::thread ringer([&] {
        for (int ring = 1; ring <= kRings; ++ring) {
            committed = ring;
            store.bell.ring(kLock, kOwner);
            while (seen != ring) std::this_thread::yield();
        }
    });
    const auto listener = store.bell.listen(kLock, kOwner);
    while (seen != kRings) {
        listener->arm();
        if (const int now = committed; now != seen)
            seen = now;
        else
            listener->sleep(kForEver, {});
    }
    ringer.join();
    CHECK(seen == kRings);
}

TEST_CASE("listeners that come and go never lose their pipe to a ring") {
    Store store;
    std::atomic<bool> done = false;
    std::thread ringer([&] {
        while (!done) store.bell.ring(kLock, kOwner);
    });
    constexpr int kRounds = 3000;
    bool heard = true;
    for (int round = 0; round < kRounds && heard; ++round) {
        const auto listener = store.bell.listen(kLock, kOwner);
        heard = !is_deaf(*listener) && fs::exists(store.pipe());
        if (heard) listener->sleep(kForEver, {});
    }
    done = true;
    ringer.join();
    CHECK(heard);
}

TEST_CASE("an interrupt ends the sleep and is left to be read") {
    Store store;
    const auto listener = store.bell.listen(kLock, kOwner);
    const UniqueFd interrupt(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
    listener->sleep(kForEver, {-1, interrupt.get()});
    eventfd_t value = 0;
    CHECK(::eventfd_read(interrupt.get(), &value) == 0);
}

TEST_CASE("time ends the sleep") {
    Store store;
    const auto listener = store.bell.listen(kLock, kOwner);
    listener->sleep(1ms, {});
    listener->sleep(0ms, {});
    listener->sleep(-5ms, {});
    SUCCEED("came back");
}

TEST_CASE("ringing where nobody listens does nothing") {
    Store store;
    store.bell.ring(kLock, kOwner);
    CHECK_FALSE(fs::exists(store.bell.folder()));
}

TEST_CASE("the last listener takes its pipe away") {
    Store store;
    auto one = store.bell.listen(kLock, kOwner);
    auto other = store.bell.listen(kLock, kOwner);
    one.reset();
    CHECK(fs::exists(store.pipe()));
    store.bell.ring(kLock, kOwner);
    other->sleep(kForEver, {});
    other.reset();
    CHECK_FALSE(fs::exists(store.pipe()));
    CHECK(fs::exists(store.bell.folder()));
}

TEST_CASE("the pipe of a killed listener goes with the next ring") {
    Store store;
    Child child([&] { static const auto listener = store.bell.listen(kLock, kOwner); });
    child.kill_and_wait();
    REQUIRE(fs::exists(store.pipe()));
    store.bell.ring(kLock, kOwner);
    CHECK_FALSE(fs::exists(store.pipe()));
}

TEST_CASE("folder and pipe have the store's mode, whatever the umask") {
    Store store;
    ::chmod(store.path.c_str(), 0660);
    const Umask strict(0077);
    const auto listener = store.bell.listen(kLock, kOwner);
    CHECK(mode_of(store.bell.folder()) == 0770);
    CHECK(mode_of(store.pipe()) == 0660);
}

TEST_CASE("folder and pipe have the store's group") {
    if (::geteuid() != 0) return;
    Store store;
    REQUIRE(::chown(store.path.c_str(), 12345, 23456) == 0);
    const auto listener = store.bell.listen(kLock, kOwner);
    CHECK(group_of(store.bell.folder()) == 23456);
    CHECK(group_of(store.pipe()) == 23456);
}

TEST_CASE("a folder that was removed comes back with the next arming") {
    Store store;
    const auto listener = store.bell.listen(kLock, kOwner);
    fs::remove_all(store.bell.folder());
    listener->arm();
    CHECK_FALSE(is_deaf(*listener));
    store.bell.ring(kLock, kOwner);
    listener->sleep(kForEver, {});
}

TEST_CASE("what is no folder of ours makes deaf, and only that") {
    Store store;
    SECTION("a symbolic link") {
        fs::create_directory(store.folder.file("elsewhere"));
        fs::create_symlink(store.folder.file("elsewhere"), store.bell.folder());
    }
    SECTION("a file") { write_file(store.bell.folder()); }
    const auto listener = store.bell.listen(kLock, kOwner);
    CHECK(is_deaf(*listener));
    CHECK(listener->weakness().value_or("").starts_with("No bell can be made in "));
    listener->sleep(1ms, {});
    store.bell.ring(kLock, kOwner);
    fs::remove(store.bell.folder());
    listener->arm();
    CHECK_FALSE(is_deaf(*listener));
    CHECK_FALSE(listener->weakness());
}

TEST_CASE("what lies in the pipe's place makes deaf and is left alone") {
    Store store;
    fs::create_directory(store.bell.folder());
    SECTION("a file") { write_file(store.pipe()); }
    SECTION("a symbolic link") {
        REQUIRE(::mkfifo(store.folder.file("pipe").c_str(), 0600) == 0);
        fs::create_symlink(store.folder.file("pipe"), store.pipe());
    }
    {
        const auto listener = store.bell.listen(kLock, kOwner);
        CHECK(is_deaf(*listener));
        store.bell.ring(kLock, kOwner);
    }
    CHECK(fs::symlink_status(store.pipe()).type() != fs::file_type::not_found);
}

TEST_CASE("without descriptors a listener is deaf and still sleeps") {
    Store store;
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const rlimit none{0, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    const auto listener = store.bell.listen(kLock, kOwner);
    const bool deaf = is_deaf(*listener);
    store.bell.ring(kLock, kOwner);
    ::setrlimit(RLIMIT_NOFILE, &before);
    CHECK(deaf);
    listener->sleep(1ms, {});
    listener->arm();
    CHECK_FALSE(is_deaf(*listener));
}

TEST_CASE("a store that is deleted or replaced ends the sleep, each time") {
    Store store;
    const UniqueFd still_open(::open(store.path.c_str(), O_RDONLY | O_CLOEXEC));
    const auto listener = store.bell.listen(kLock, kOwner);
    fs::remove(store.path);
    listener->sleep(kForEver, {});

    write_file(store.path);
    listener->arm();
    write_file(store.folder.file("other"));
    fs::rename(store.folder.file("other"), store.path);
    listener->sleep(kForEver, {});

    listener->arm();
    fs::rename(store.path, store.folder.file("moved"));
    listener->sleep(kForEver, {});
}

TEST_CASE("a store that is deleted ends the sleep also of who finds no inotify instance left") {
    Store store;
    constexpr int kSkipped = 77;
    // A user of its own, who may have none.
    const auto without_instances = [] {
        if (::unshare(CLONE_NEWUSER) != 0) return false;
        const UniqueFd limit(::open("/proc/sys/user/max_inotify_instances", O_WRONLY | O_CLOEXEC));
        return limit && ::write(limit.get(), "0", 1) == 1 && ::inotify_init1(IN_CLOEXEC) < 0;
    };
    const pid_t child = ::fork();
    if (child == 0) {
        if (!without_instances()) ::_exit(kSkipped);
        const auto listener = store.bell.listen(kLock, kOwner);
        if (is_deaf(*listener)) ::_exit(1);
        if (listener->weakness().value_or("").find("inotify") == std::string::npos) ::_exit(2);
        store.bell.ring(kLock, kOwner);  // rings need no instance
        listener->sleep(kForEver, {});
        listener->arm();
        fs::remove(store.path);
        listener->sleep(kForEver, {});
        ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code == kSkipped) WARN("SKIPPED: this machine does not let a process be a user of its own");
    CHECK((code == 0 || code == kSkipped));
}

TEST_CASE("bytes that a stranger writes into the pipe do not keep a listener awake") {
    Store store;
    const auto listener = store.bell.listen(kLock, kOwner);
    const UniqueFd writer(::open(store.pipe().c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    REQUIRE(::write(writer.get(), "spam", 4) == 4);
    CHECK(stays_asleep(*listener));
}

TEST_CASE("only one's own bell ends the sleep, and only once") {
    Store store;
    const auto listener = store.bell.listen(kLock, kOwner);
    const auto other = store.bell.listen(kLock, Owner{"sess-b"});
    store.bell.ring(kLock, Owner{"sess-b"});
    CHECK(stays_asleep(*listener));
    other->sleep(kForEver, {});
    other->arm();
    CHECK(stays_asleep(*other));
}

TEST_CASE("a store that was deleted ends one sleep, not every later one") {
    Store store;
    const auto listener = store.bell.listen(kLock, kOwner);
    fs::remove(store.path);
    listener->sleep(kForEver, {});
    CHECK(stays_asleep(*listener));
    listener->arm();
    CHECK(stays_asleep(*listener));
}

TEST_CASE("a process that sits on the folder's lock makes nobody wait or deaf") {
    Store store;
    fs::create_directory(store.bell.folder());
    const UniqueFd folder(::open(store.bell.folder().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    REQUIRE(::flock(folder.get(), LOCK_EX) == 0);
    auto listener = store.bell.listen(kLock, kOwner);
    CHECK_FALSE(is_deaf(*listener));
    store.bell.ring(kLock, kOwner);
    listener->sleep(kForEver, {});
    listener.reset();
    CHECK(fs::exists(store.pipe()));  // left for the next one
    store.bell.ring(kLock, kOwner);
    ::flock(folder.get(), LOCK_UN);
    store.bell.ring(kLock, kOwner);
    CHECK_FALSE(fs::exists(store.pipe()));
}
