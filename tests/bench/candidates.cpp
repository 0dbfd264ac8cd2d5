#include "tests/bench/candidates.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <utility>

namespace hagi::test {
namespace {

class Stopwatch {
public:
    [[nodiscard]] Milliseconds elapsed() const {
        return std::chrono::duration<Milliseconds, std::milli>(std::chrono::steady_clock::now() - start_).count();
    }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// One after the other, as a script would.
std::function<Milliseconds()> commands(std::vector<Arguments> each) {
    return [each = std::move(each)] {
        const Stopwatch watch;
        for (const Arguments& arguments : each) run(arguments);
        return watch.elapsed();
    };
}

std::string make_folder(const std::string& parent, const char* name) {
    std::string folder = parent + "/" + name;
    std::filesystem::create_directory(folder);
    return folder;
}

std::function<Milliseconds()> acquire_and_release(const Programs& programs, const std::string& folder) {
    return commands({lock_command(programs, folder, {"acquire", "--lock-id", "bench/pair", "--owner", "alice"}),
                     lock_command(programs, folder, {"release", "--lock-id", "bench/pair", "--owner", "alice"})});
}

// The same, while another process has the store open all the time.
std::function<Milliseconds()> watched_pair(const Programs& programs, const std::string& folder) {
    const Arguments watched = {"--lock-id", "bench/watched", "--owner", "bob"};
    Arguments acquire = {"acquire"};
    Arguments heartbeat = {"heartbeat"};
    acquire.insert(acquire.end(), watched.begin(), watched.end());
    heartbeat.insert(heartbeat.end(), watched.begin(), watched.end());
    run(lock_command(programs, folder, acquire));
    auto watcher = std::make_shared<Child>(lock_command(programs, folder, heartbeat), Streams{Output::Piped});
    if (!watcher->read_line()) cannot_measure("heartbeat did not start");
    return [watcher, pair = acquire_and_release(programs, folder)] { return pair(); };
}

std::function<Milliseconds()> status(const Programs& programs, const std::string& folder) {
    run(lock_command(programs, folder, {"acquire", "--lock-id", "bench/status", "--owner", "alice"}));
    return commands({lock_command(programs, folder, {"status", "--lock-id", "bench/status", "--owner", "alice"})});
}

// From the start of `release` to the end of the `acquire --wait` whose turn it is. The waiter is the next to leave.
std::function<Milliseconds()> hand_off(const Programs& programs, const std::string& folder) {
    const auto command = [=](const char* verb, const std::string& owner) {
        return lock_command(programs, folder, {verb, "--lock-id", "bench/hand-off", "--owner", owner});
    };
    run(command("acquire", "alice"));
    auto turn = std::make_shared<std::pair<std::string, std::string>>("alice", "bob");
    return [=] {
        auto& [leaving, entering] = *turn;
        Arguments wait = command("acquire", entering);
        wait.emplace_back("--wait");
        Child waiter(wait, {Output::Piped});
        const auto line = waiter.read_line();
        if (!line || line->find("ueued") == std::string::npos) cannot_measure("acquire --wait did not queue");
        waiter.await_sleep();

        const Stopwatch watch;
        Child release(command("release", leaving));
        waiter.wait_for_success();
        const Milliseconds elapsed = watch.elapsed();
        release.wait_for_success();
        std::swap(leaving, entering);
        return elapsed;
    };
}

std::function<Milliseconds()> run_command(const Programs& programs, const std::string& folder) {
    Arguments arguments = lock_command(programs, folder, {"run", "--lock-id", "bench/run", "--owner", "alice"});
    arguments.insert(arguments.end(), {"--", programs.idle});
    return commands({arguments});
}

// From the kill of a `run` to the end of the `acquire --wait` whose turn it is.
std::function<Milliseconds()> killed_run(const Programs& programs, const std::string& folder) {
    const Arguments leaving = {"run", "--lock-id", "bench/killed", "--owner", "alice"};
    Arguments wait =
        lock_command(programs, folder, {"acquire", "--wait", "--lock-id", "bench/killed", "--owner", "bob"});
    const Arguments release =
        lock_command(programs, folder, {"release", "--lock-id", "bench/killed", "--owner", "bob"});
    Arguments hold = lock_command(programs, folder, leaving);
    hold.insert(hold.end(), {"--", programs.cat});
    return [=] {
        Child holder(hold, {Output::Piped, Input::Piped});
        holder.write_line();
        if (!holder.read_line()) cannot_measure("the command under run did not start");
        Child waiter(wait, {Output::Piped});
        const auto line = waiter.read_line();
        if (!line || line->find("ueued") == std::string::npos) cannot_measure("acquire --wait did not queue");
        waiter.await_sleep();

        const Stopwatch watch;
        ::kill(holder.pid(), SIGKILL);
        waiter.wait_for_success();
        const Milliseconds elapsed = watch.elapsed();
        run(release);
        return elapsed;
    };
}

// From the moment the holder's command may end to the end of the flock command whose turn it is.
std::function<Milliseconds()> flock_hand_off(const Programs& programs, const std::string& file) {
    return [=] {
        Child leaving({programs.flock, file, programs.cat}, {Output::Piped, Input::Piped});
        leaving.write_line();
        if (!leaving.read_line()) cannot_measure("the command under flock did not start");
        Child entering({programs.flock, file, programs.idle});
        entering.await_sleep();

        const Stopwatch watch;
        leaving.close_input();
        entering.wait_for_success();
        const Milliseconds elapsed = watch.elapsed();
        leaving.wait_for_success();
        return elapsed;
    };
}

class OpenFile {
public:
    explicit OpenFile(const std::string& path)
        : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {  // NOLINT(*-vararg)
        if (descriptor_ < 0) cannot_measure("cannot open " + path);
    }
    ~OpenFile() { ::close(descriptor_); }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;

    [[nodiscard]] Streams lend() const { return {Output::Discarded, Input::Lent, descriptor_}; }

private:
    int descriptor_;
};

// The same with a command that takes and one that gives back, as in a script that has the file open: from the start
// of `flock -u` to the end of the `flock` whose turn it is. Neither command has anything else to do.
std::function<Milliseconds()> flock_unlock(const Programs& programs, const std::string& file) {
    return [=] {
        const OpenFile of_leaving(file);
        const OpenFile of_entering(file);
        Child({programs.flock, "0"}, of_leaving.lend()).wait_for_success();
        Child entering({programs.flock, "0"}, of_entering.lend());
        entering.await_sleep();

        const Stopwatch watch;
        Child leaving({programs.flock, "-u", "0"}, of_leaving.lend());
        entering.wait_for_success();
        const Milliseconds elapsed = watch.elapsed();
        leaving.wait_for_success();
        return elapsed;
    };
}

}  // namespace

Arguments lock_command(const Programs& programs, const std::string& folder, const Arguments& words) {
    Arguments arguments = {programs.hagi, "agent", "lock"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    arguments.insert(arguments.end(), {"--store", folder + "/locks.db"});
    return arguments;
}

std::vector<Candidate> make_candidates(const Programs& programs, const std::string& folder) {
    namespace names = candidate_names;
    const auto flock_once = [&](const char* file) {
        return Arguments{programs.flock, folder + "/" + file, programs.idle};
    };
    return {
        {names::kTrue, commands({{programs.idle}})},
        {names::kFlock, commands({flock_once("once")})},
        {names::kTwoFlocks, commands({flock_once("twice"), flock_once("twice")})},
        {names::kPair, acquire_and_release(programs, make_folder(folder, "alone"))},
        {names::kWatchedPair, watched_pair(programs, make_folder(folder, "watched"))},
        {names::kStatus, status(programs, make_folder(folder, "status"))},
        {names::kFlockHandOff, flock_hand_off(programs, folder + "/hand-off")},
        {names::kFlockUnlock, flock_unlock(programs, folder + "/unlock")},
        {names::kHandOff, hand_off(programs, make_folder(folder, "hand-off-store"))},
        {names::kRun, run_command(programs, make_folder(folder, "run"))},
        {names::kKilledRun, killed_run(programs, make_folder(folder, "killed-run"))},
    };
}

}  // namespace hagi::test
