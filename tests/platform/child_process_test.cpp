#include "platform/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <stdexcept>

#include "platform/process_identity.hpp"
#include "tests/platform/temporary_folder.hpp"
#include "tests/support/await.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

using Words = std::vector<std::string>;

const sigset_t& no_signals() {
    static const sigset_t none = [] {
        sigset_t set;
        ::sigemptyset(&set);
        return set;
    }();
    return none;
}

ChildProcess held(const std::string& script, const sigset_t& mask = no_signals()) {
    return ChildProcess::hold({"sh", "-c", script}, mask).value();
}

ChildProcess::Change await_change(ChildProcess& child) {
    std::optional<ChildProcess::Change> change;
    await([&] { return (change = child.take_change()).has_value(); });
    return *change;
}

std::string content(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

TEST_CASE("a held command runs only when it is let go, and knows what it was told by then") {
    const TemporaryFolder folder;
    const std::string said = folder.file("said");
    ChildProcess child = held("echo \"$ONE-$TWO\" >" + said + "; exit 7");
    CHECK(::kill(child.pid(), 0) == 0);
    CHECK(::getpgid(child.pid()) == child.pid());
    CHECK_FALSE(child.group_is_empty());
    CHECK_FALSE(child.take_change());
    CHECK_FALSE(std::filesystem::exists(said));

    CHECK(child.let_go({{"ONE", "a b\nc"}, {"TWO", ""}}) == 0);
    const auto change = await_change(child);
    CHECK_FALSE(change.stopped);
    CHECK(change.exit_code == 7);
    CHECK(content(said) == "a b");
    CHECK(child.group_is_empty());
}

TEST_CASE("a command that is never let go ends without having run") {
    const TemporaryFolder folder;
    UniqueFd end;
    {
        ChildProcess child = held("touch " + folder.file("ran"));
        end = open_process(child.pid());
    }
    await([&] { return is_readable(end.get()); });
    CHECK_FALSE(std::filesystem::exists(folder.file("ran")));
    while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;
}

TEST_CASE("the errno of an exec that fails is told") {
    const TemporaryFolder folder;
    write_file(folder.file("plain"));
    const auto [name, error] =
        GENERATE(table<const char*, int>({{"no-such-command", ENOENT}, {"/dev/null/x", ENOTDIR}, {"/", EACCES}}));
    CAPTURE(name);
    ChildProcess child = ChildProcess::hold({name}, no_signals()).value();
    CHECK(child.let_go({}) == error);
    CHECK(child.group_is_empty());
    CHECK_FALSE(child.take_change());
}

TEST_CASE("a stop is told, too, and a signal's death as a shell tells it") {
    ChildProcess child = held("kill -STOP $$; exec sleep 300");
    REQUIRE(child.let_go({}) == 0);
    CHECK(await_change(child).stopped);
    child.signal_group(SIGCONT);
    child.signal_group(SIGTERM);
    CHECK(await_change(child).exit_code == 128 + SIGTERM);
}

TEST_CASE("the group is empty only when its last process has ended") {
    ChildProcess child = held("sleep 300 & exit 3");
    REQUIRE(child.let_go({}) == 0);
    CHECK(await_change(child).exit_code == 3);
    CHECK_FALSE(child.group_is_empty());
    child.signal_group(SIGKILL);
    await([&] { return child.take_change(), child.group_is_empty(); });
}

TEST_CASE("whoever has ended by then is reaped in one look, whoever ended first") {
    const TemporaryFolder folder;
    ChildProcess child = held("sh -c 'echo $$ >" + folder.file("pid") + "; exec sleep 300' & until [ -s " +
                              folder.file("pid") + " ]; do :; done; exit 3");
    REQUIRE(child.let_go({}) == 0);
    // Both have ended before the look, and wait to be reaped.
    siginfo_t ended{};
    REQUIRE(::waitid(P_PID, static_cast<id_t>(child.pid()), &ended, WEXITED | WNOWAIT) == 0);
    const auto orphan = static_cast<pid_t>(std::stol(content(folder.file("pid"))));
    ::kill(orphan, SIGKILL);
    REQUIRE(::waitid(P_PID, static_cast<id_t>(orphan), &ended, WEXITED | WNOWAIT) == 0);
    CHECK(child.take_change()->exit_code == 3);
    CHECK(child.group_is_empty());
}

TEST_CASE("a group that may not be signalled is not taken for an empty one") {
    if (::geteuid() != 0) {
        WARN("SKIPPED: needs root, to be somebody else");
        return;
    }
    // Its starter gives up its rights after the start, so that the command is another user's.
    const pid_t starter = ::fork();
    if (starter == 0) {
        ChildProcess child = held("exec sleep 300");
        const bool started = child.let_go({}) == 0;
        const bool lowered = ::setresuid(65534, 65534, 65534) == 0;
        const bool forbidden = ::kill(-child.pid(), 0) != 0 && errno == EPERM;
        ::_exit(started && lowered && forbidden ? (child.group_is_empty() ? 1 : 0) : 2);
    }
    int status = 0;
    REQUIRE(::waitpid(starter, &status, 0) == starter);
    CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("the command has the signal mask that it was promised") {
    sigset_t mask;
    ::sigemptyset(&mask);
    ::sigaddset(&mask, SIGUSR1);
    const Words command{"grep", "-qx", "SigBlk:\t0000000000000200", "/proc/self/status"};
    ChildProcess child = ChildProcess::hold(command, mask).value();
    REQUIRE(child.let_go({}) == 0);
    CHECK(await_change(child).exit_code == 0);
}

TEST_CASE("the command has nothing of what its starter opens after it was held") {
    constexpr int kNumber = 200;
    const std::string look = "[ ! -e /proc/self/fd/" + std::to_string(kNumber) + " ]";
    ChildProcess child = held(look);
    const UniqueFd opened_later(::fcntl(STDERR_FILENO, F_DUPFD, kNumber));
    REQUIRE(opened_later.get() == kNumber);
    REQUIRE(child.let_go({}) == 0);
    CHECK(await_change(child).exit_code == 0);

    ChildProcess late = held(look);  // the test can see one where there is one
    REQUIRE(late.let_go({}) == 0);
    CHECK(await_change(late).exit_code == 1);
}

TEST_CASE("when the starter is killed, the guardian kills the group") {
    std::array<int, 2> pipe{};
    REQUIRE(::pipe(pipe.data()) == 0);
    const UniqueFd reader(pipe[0]);
    const pid_t starter = ::fork();
    if (starter == 0) {
        ::close(pipe[0]);
        ::dup2(pipe[1], STDOUT_FILENO);
        ::close(pipe[1]);
        ChildProcess child = held("(trap '' TERM HUP INT; echo ready; exec sleep 300) & exec sleep 300");
        if (child.let_go({}) != 0) ::_exit(1);
        for (;;) ::pause();
    }
    ::close(pipe[1]);
    std::array<char, 16> bytes{};
    REQUIRE(::read(reader.get(), bytes.data(), bytes.size()) == 6);
    ::kill(starter, SIGKILL);
    REQUIRE(::waitpid(starter, nullptr, 0) == starter);
    // The end of the last process that could write.
    await([&] { return is_readable(reader.get()); });
    CHECK(::read(reader.get(), bytes.data(), bytes.size()) == 0);
}

}  // namespace
}  // namespace hagi::test
