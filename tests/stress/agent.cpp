// One owner of the crowd: asks for its turn, uses the resource, gives the lock back, and writes down what it saw. Now
// and then a command of its dies or stops in the middle of what it does, as its seed has it.
//
//     stress_agent take LOCK OWNER HISTORY COUNTER SEED UNTIL    with acquire --wait, accept and release
//     stress_agent run  LOCK OWNER HISTORY COUNTER SEED UNTIL    with run
//     stress_agent work HISTORY COUNTER SEED                     what `run` runs
//
// It has one turn at least, and begins no other after UNTIL (a Moment). A command whose end was no answer is repeated,
// as the protocol has it. The program under test is HAGI_TEST_BINARY.
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "platform/unique_fd.hpp"
#include "tests/stress/guarded_counter.hpp"
#include "tests/stress/history.hpp"

namespace hagi::test {
namespace {

using Words = std::vector<std::string>;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kKilled = 128 + SIGKILL;
constexpr int kConflict = 29;
constexpr int kLost = 32;
constexpr int kTransport = 60;

// What `accept` is asked to promise.
constexpr seconds kSureFor{10};

[[noreturn]] void give_up(const std::string& why) {
    std::fprintf(stderr, "stress_agent: %s\n", why.c_str());
    std::exit(1);
}

void pause(Moment length) {
    const timespec time{0, static_cast<long>(length.count())};
    ::nanosleep(&time, nullptr);
}

// What happens to a command on its way: nothing, a kill, or a stop for a while.
struct Fate {
    enum class Kind { Spared, Killed, Stopped };
    Kind kind = Kind::Spared;
    Moment after{};
    Moment stopped_for{};
};

struct Agent {
    std::string lock;
    std::string owner;
    History history;
    GuardedCounter counter;
    std::mt19937_64 dice;
    pid_t parent = ::getppid();  // as it was at the start: an orphan has another one

    std::int64_t roll(std::int64_t sides) { return std::uniform_int_distribution<std::int64_t>(0, sides - 1)(dice); }

    Fate fate(Moment longest) {
        const std::int64_t rolled = roll(10);
        if (rolled >= 3) return {};
        return {rolled < 2 ? Fate::Kind::Killed : Fate::Kind::Stopped, Moment{roll(longest.count())},
                microseconds{roll(200'000)}};
    }

    void saw(Saw what, std::int64_t epoch = 0, Moment until = {}) const {
        history.add({moment(), what, lock, owner, epoch, 0, until, ::getpid(), parent});
    }
};

Words words_for(const Agent& agent, const std::string& verb, const Words& more) {
    const char* const binary = std::getenv("HAGI_TEST_BINARY");
    if (!binary) give_up("HAGI_TEST_BINARY is not set");
    Words words{binary, "agent", "lock", verb, "--lock-id", agent.lock, "--owner", agent.owner, "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

// One command, its output line by line. It dies with this process, as the children of a session do.
class Command {
public:
    Command(Agent& agent, Words words) : agent_(agent) {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) give_up("no pipe");
        output_.reset(ends[0]);
        UniqueFd writer(ends[1]);
        const pid_t self = ::getpid();
        pid_ = ::fork();
        if (pid_ < 0) give_up("no process");
        if (pid_ == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (::getppid() != self) ::_exit(1);
            ::dup2(writer.get(), STDOUT_FILENO);
            ::dup2(writer.get(), STDERR_FILENO);
            std::vector<char*> pointers;
            for (std::string& word : words) pointers.push_back(word.data());
            pointers.push_back(nullptr);
            ::execv(pointers[0], pointers.data());
            ::_exit(127);
        }
    }

    // The exit code, or 128 and the signal. `fate` counts from the start, or from the line that has `from`.
    int follow(const Fate& fate, const std::function<void(const std::string&)>& on_line, const std::string& from = "") {
        Moment due = from.empty() ? moment() + fate.after : Moment::max();
        std::string unread;
        for (bool open = true; open;) {
            open = read_until(fate.kind == Fate::Kind::Spared ? Moment::max() : due, unread);
            for (auto end = unread.find('\n'); end != std::string::npos; end = unread.find('\n')) {
                const std::string line = unread.substr(0, end);
                unread.erase(0, end + 1);
                said_ += line + "\n";
                if (!from.empty() && line.find(from) != std::string::npos) due = moment() + fate.after;
                on_line(line);
            }
            if (open && fate.kind != Fate::Kind::Spared && moment() >= due) {
                meet(fate);
                due = Moment::max();
            }
        }
        int status = 0;
        while (::waitpid(pid_, &status, 0) < 0) {
        }
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

    [[nodiscard]] const std::string& said() const { return said_; }

private:
    // False at the end.
    bool read_until(Moment due, std::string& unread) {
        int patience = -1;
        if (due != Moment::max()) {
            const auto left = std::chrono::ceil<milliseconds>(std::max(due - moment(), Moment{}));
            patience = static_cast<int>(left.count());
        }
        pollfd waited{output_.get(), POLLIN, 0};
        if (::poll(&waited, 1, patience) <= 0) return true;
        std::array<char, 4096> bytes{};
        const ssize_t count = ::read(output_.get(), bytes.data(), bytes.size());
        if (count > 0) unread.append(bytes.data(), static_cast<std::size_t>(count));
        return count > 0;
    }

    // This process is its parent and has not awaited it: the number is its own still.
    void meet(const Fate& fate) {
        if (fate.kind == Fate::Kind::Killed) {
            agent_.history.add({moment(), Saw::Killed, agent_.lock, agent_.owner, 0, 0, {}, pid_, 0});
            ::kill(pid_, SIGKILL);
            return;
        }
        ::kill(pid_, SIGSTOP);
        pause(fate.stopped_for);
        ::kill(pid_, SIGCONT);
    }

    Agent& agent_;
    UniqueFd output_;
    pid_t pid_ = -1;
    std::string said_;
};

bool is_event(const std::string& line, const std::string& event) {
    return line.starts_with("{\"event\":\"" + event + "\"");
}

std::int64_t epoch_in(const std::string& line) {
    const std::string field = "\"epoch\":";
    const auto at = line.find(field);
    if (at == std::string::npos) give_up("no epoch in: " + line);
    return std::stoll(line.substr(at + field.size()));
}

// Reads, thinks, writes back greater by one.
void use(Agent& agent, std::int64_t epoch, Moment until) {
    agent.saw(Saw::Entered, epoch, until);
    const auto value = agent.counter.read(epoch);
    pause(microseconds{agent.roll(3000)});
    if (!value || !agent.counter.write(epoch, *value + 1)) agent.saw(Saw::Refused, epoch, until);
    agent.saw(Saw::Left, epoch);
}

// ---- acquire, accept, release ----

// The epoch of the grant; absent: the place was lost.
std::optional<std::int64_t> wait_for_turn(Agent& agent) {
    for (;;) {
        std::optional<std::int64_t> epoch;
        Command command(agent, words_for(agent, "acquire", {"--wait", "--lease-seconds", "30"}));
        const int code = command.follow(agent.fate(milliseconds{500}), [&](const std::string& line) {
            if (is_event(line, "queued")) agent.saw(Saw::Queued);
            if (!is_event(line, "holding")) return;
            epoch = epoch_in(line);
            agent.saw(Saw::Granted, *epoch);
        });
        if (epoch) return epoch;
        if (code == kLost) return agent.saw(Saw::Lost), std::nullopt;
        if (code != kKilled && code != kTransport) give_up("acquire: " + std::to_string(code) + " " + command.said());
    }
}

// When the resource is the owner's for sure until; absent: it must not start.
std::optional<Moment> accepted(Agent& agent, std::int64_t epoch) {
    for (;;) {
        const Moment asked = moment();
        Command command(agent,
                        words_for(agent, "accept",
                                  {"--epoch", std::to_string(epoch), "--min-left", std::to_string(kSureFor.count())}));
        const int code = command.follow(agent.fate(milliseconds{3}), [](const std::string&) {});
        if (code == 0) return asked + kSureFor;
        if (code == kLost) return agent.saw(Saw::Lost, epoch), std::nullopt;
        if (code != kKilled && code != kTransport) give_up("accept: " + std::to_string(code) + " " + command.said());
    }
}

void give_back(Agent& agent, std::int64_t epoch) {
    for (;;) {
        Command command(agent, words_for(agent, "release", {"--epoch", std::to_string(epoch)}));
        const int code = command.follow(agent.fate(milliseconds{3}), [](const std::string&) {});
        if (code == 0) return;
        if (code != kKilled && code != kTransport) give_up("release: " + std::to_string(code) + " " + command.said());
    }
}

void take_a_turn(Agent& agent) {
    agent.saw(Saw::Asked);
    const auto epoch = wait_for_turn(agent);
    if (!epoch) return;
    if (const auto until = accepted(agent, *epoch)) use(agent, *epoch, *until);
    give_back(agent, *epoch);
}

// ---- run ----

void run_a_turn(Agent& agent, const std::string& history, const std::string& counter) {
    static const std::string kSelf = std::filesystem::read_symlink("/proc/self/exe").string();
    agent.saw(Saw::Asked);
    for (;;) {
        Command command(agent, words_for(agent, "run",
                                         {"--lease-seconds", "30", "--", kSelf, "work", history, counter,
                                          std::to_string(agent.roll(1'000'000))}));
        // Killed only once it has its turn: the place of a dead waiter would be in the way for a minute.
        const Fate fate = agent.fate(milliseconds{4});
        const int code = command.follow(
            fate,
            [&](const std::string& line) {
                if (is_event(line, "queued")) agent.saw(Saw::Queued);
            },
            "working");
        if (code == 0 || code == kKilled) return;
        if (code == kLost) return agent.saw(Saw::Lost);
        if (code != kConflict && code != kTransport) give_up("run: " + std::to_string(code) + " " + command.said());
        pause(milliseconds{20});  // what it ran before is just dying
    }
}

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value ? value : "";
}

int work(const Words& words) {
    Agent agent{variable("HAGI_LOCK_ID"), variable("HAGI_LOCK_OWNER"), History(words.at(1)),
                GuardedCounter(words.at(2)), std::mt19937_64(std::stoull(words.at(3)))};
    const std::int64_t epoch = std::stoll(variable("HAGI_LOCK_EPOCH"));
    agent.saw(Saw::Granted, epoch);
    std::puts("working");
    std::fflush(stdout);
    use(agent, epoch, Moment::max());
    return 0;
}

int take_part(const Words& words) {
    const std::string& history = words.at(3);
    const std::string& counter = words.at(4);
    Agent agent{words.at(1), words.at(2), History(history), GuardedCounter(counter),
                std::mt19937_64(std::stoull(words.at(5)))};
    const Moment until{std::stoll(words.at(6))};
    do {
        if (words[0] == "run")
            run_a_turn(agent, history, counter);
        else
            take_a_turn(agent);
    } while (moment() < until);
    return 0;
}

}  // namespace
}  // namespace hagi::test

int main(int argc, char* argv[]) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    return !words.empty() && words[0] == "work" ? hagi::test::work(words) : hagi::test::take_part(words);
}
