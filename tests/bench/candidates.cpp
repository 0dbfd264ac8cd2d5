#include "tests/bench/candidates.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>

namespace hagi::test {
namespace {

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

// When a side ran its first instruction (stamp.cpp).
Milliseconds read_stamp(const Child& side) {
    const auto line = side.read_line();
    if (!line) cannot_measure("a side of a hand-off said nothing");
    return static_cast<double>(std::strtoll(line->c_str(), nullptr, 10)) / 1e6;
}

Milliseconds steady_now() {
    return std::chrono::duration<Milliseconds, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Arguments stamped(const Programs& programs, const Arguments& command) {
    Arguments arguments = {programs.stamp};
    arguments.insert(arguments.end(), command.begin(), command.end());
    return arguments;
}

// From the first instruction of `release` (its exec included) to the end of the `acquire --wait` whose turn it is. The
// waiter is the next to leave.
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

        Child release(stamped(programs, command("release", leaving)), {Output::Piped});
        waiter.wait_for_success();
        const Milliseconds end = steady_now();
        const Milliseconds elapsed = end - read_stamp(release);
        release.wait_for_success();
        std::swap(leaving, entering);
        return elapsed;
    };
}

// From the first instruction of the end of one command to the first instruction of the next, each run under the lock by
// the words of `under(who)`.
std::function<Milliseconds()> hand_off_under(const Programs& programs, std::function<Arguments(const char*)> under) {
    return [=, under = std::move(under)] {
        const auto side = [&](const char* owner, const Arguments& command) {
            Arguments arguments = under(owner);
            arguments.insert(arguments.end(), command.begin(), command.end());
            return silenced(arguments);  // `run` says where it stands; before the time begins to count
        };
        Child leaving(side("alice", {programs.stamp, "--at-end"}), {Output::Piped, Input::Piped});
        if (!leaving.read_line()) cannot_measure("the first command did not start");
        Child entering(side("bob", {programs.stamp}), {Output::Piped});
        entering.await_sleep();
        leaving.close_input();
        const Milliseconds entered = read_stamp(entering);
        const Milliseconds elapsed = entered - read_stamp(leaving);
        entering.wait_for_success();
        leaving.wait_for_success();
        return elapsed;
    };
}

std::function<Milliseconds()> run_hand_off(const Programs& programs, const std::string& folder) {
    return hand_off_under(programs, [=](const char* owner) {
        Arguments words = lock_command(programs, folder, {"run", "--lock-id", "bench/hand-off", "--owner", owner});
        words.emplace_back("--");
        return words;
    });
}

std::function<Milliseconds()> flock_hand_off(const Programs& programs, const std::string& file) {
    return hand_off_under(programs, [=](const char*) { return Arguments{programs.flock, file}; });
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

// With a command that takes and one that gives back, as in a script that has the file open: from the first instruction
// of `flock -u` (its exec included) to the end of the `flock` whose turn it is.
std::function<Milliseconds()> flock_unlock(const Programs& programs, const std::string& file) {
    return [=] {
        const OpenFile of_leaving(file);
        const OpenFile of_entering(file);
        Child({programs.flock, "0"}, of_leaving.lend()).wait_for_success();
        Child entering({programs.flock, "0"}, of_entering.lend());
        entering.await_sleep();

        Streams streams = of_leaving.lend();
        streams.output = Output::Piped;
        Child leaving(stamped(programs, {programs.flock, "-u", "0"}), streams);
        entering.wait_for_success();
        const Milliseconds end = steady_now();
        const Milliseconds elapsed = end - read_stamp(leaving);
        leaving.wait_for_success();
        return elapsed;
    };
}

}  // namespace

std::function<Milliseconds()> commands(std::vector<Arguments> each) {
    return [each = std::move(each)] {
        const Stopwatch watch;
        for (const Arguments& arguments : each) run(arguments);
        return watch.elapsed();
    };
}

Arguments silenced(const Arguments& command) {
    Arguments words = {"/bin/sh", "-c", "exec \"$@\" 2>/dev/null", "sh"};
    words.insert(words.end(), command.begin(), command.end());
    return words;
}

std::string make_folder(const std::string& parent, const std::string& name) {
    std::string folder = parent + "/" + name;
    std::filesystem::create_directory(folder);
    return folder;
}

// The turn starts one further each round, so that nobody always follows the same neighbour's dirty caches.
std::vector<Series> take_turns(const std::vector<Candidate>& candidates, const Effort& effort) {
    std::vector<Series> series;
    series.reserve(candidates.size());
    for (const Candidate& candidate : candidates) series.push_back({candidate.name, {}});
    for (int round = -effort.warm_up; round < effort.rounds; ++round) {
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            const std::size_t turn = (i + static_cast<std::size_t>(round + effort.warm_up)) % candidates.size();
            const Milliseconds elapsed = candidates[turn].round();
            if (round >= 0) series[turn].rounds.push_back(elapsed);
        }
    }
    return series;
}

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
        {names::kRunHandOff, run_hand_off(programs, make_folder(folder, "run-hand-off"))},
        {names::kFlockUnlock, flock_unlock(programs, folder + "/unlock")},
        {names::kHandOff, hand_off(programs, make_folder(folder, "hand-off-store"))},
        {names::kRun, run_command(programs, make_folder(folder, "run"))},
        {names::kKilledRun, killed_run(programs, make_folder(folder, "killed-run"))},
    };
}

}  // namespace hagi::test
