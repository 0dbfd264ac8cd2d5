// Every system call of every verb: killed there, or told that the disk fails or is full. Whatever happens, the store is
// whole, what was answered is in it, nothing is half done, and the next command works.
#include <algorithm>
#include <iostream>
#include <set>

#include "tests/faults/dice.hpp"
#include "tests/faults/judge.hpp"
#include "tests/faults/scenario.hpp"
#include "tests/faults/tracer.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

constexpr int kKilled = 128 + 9;

struct Disturbance {
    Call call;
    Fault fault = Fault::Kill;
    Form form = Form::Document;
};

const std::set<std::string>& calls_that_write() {
    static const std::set<std::string> names{"pwrite64", "write", "fdatasync", "fsync",   "ftruncate",
                                             "openat",   "link",  "mkdir",     "mknodat", "renameat2"};
    return names;
}

// brk is among them: where it fails, it says so by its value, which strace cannot do.
bool can_fail(const std::string& name) {
    static const std::set<std::string> cannot{
        "brk",     "getpid", "gettid",       "getuid",         "geteuid",      "getgid",         "getegid",
        "getppid", "munmap", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "restart_syscall"};
    return cannot.count(name) == 0;
}

std::vector<Disturbance> disturbances_of(const Stage& stage) {
    std::vector<Disturbance> all;
    for (const Call& call : calls_of(stage.hagi(), stage.line(stage.scenario().command))) {
        const Form form = call.nth % 2 == 0 ? Form::Text : Form::Document;
        const bool memory = call.name == "mmap";
        all.push_back({call, Fault::Kill, form});
        if (memory) all.push_back({call, Fault::NoMemory, form});
        if (!memory && !call.frees && can_fail(call.name)) all.push_back({call, Fault::InputOutput, form});
        const Fault full = call.nth % 2 == 0 ? Fault::NoSpace : Fault::Quota;
        if (calls_that_write().count(call.name) != 0) all.push_back({call, full, form});
    }
    return all;
}

Answered judge_answer(const Stage& stage, const Finished& finished, const Disturbance& disturbance) {
    if (disturbance.fault == Fault::Kill && finished.code == kKilled)
        return finished.out.empty() ? Answered::No : Answered::Yes;
    return judge_end(stage, finished, disturbance.form);
}

bool disturb(Stage& stage, const Disturbance& disturbance) {
    for (;;) {
        const TemporaryFolder folder;
        stage.reset();
        const Words line = stage.line(command_in(disturbance.form, stage.scenario().command));
        const Finished finished =
            stage.hagi().run_other(disturbed(line, disturbance.call, disturbance.fault, folder.file("trace")));
        INFO("exit " << finished.code << "\n" << finished.out << finished.err);
        if (stage.too_old()) continue;
        judge_store(stage, judge_answer(stage, finished, disturbance));
        return was_disturbed(folder.file("trace"));
    }
}

struct Tried {
    std::size_t all = 0;
    std::size_t came_so_far = 0;
};

void disturb_all(Stage& stage, const std::vector<Disturbance>& disturbances, Tried& tried) {
    for (const Disturbance& disturbance : disturbances) {
        CAPTURE(disturbance.call.name, disturbance.call.nth, name_of(disturbance.fault));
        CAPTURE(disturbance.form == Form::Document);
        ++tried.all;
        if (disturb(stage, disturbance)) ++tried.came_so_far;
    }
}

// How often a command reads its own name, say, may differ from run to run.
void judge_numbers(const Tried& tried) {
    std::cout << tried.came_so_far << " of " << tried.all << " system calls were disturbed\n";
    CHECK(tried.came_so_far * 10 >= tried.all * 9);
}

// To be killed before a read is to be killed before the write that follows it.
bool goes_to_the_store(const Disturbance& disturbance) {
    const bool reads = disturbance.call.name == "pread64" || disturbance.call.name == "openat";
    if (reads) return disturbance.fault == Fault::InputOutput;
    return calls_that_write().count(disturbance.call.name) != 0;
}

}  // namespace

TEST_CASE("whatever system call fails or is the last, nothing is lost and the next command works") {
    if (!can_disturb()) return;
    constexpr std::size_t kFew = 4;
    const auto seed = test_seed();
    CAPTURE(seed);
    std::mt19937_64 dice(seed);
    Tried tried;
    for (const Scenario& scenario : scenarios()) {
        CAPTURE(scenario.name);
        Stage stage(scenario);
        stage.reset();
        disturb_all(stage, chosen(disturbances_of(stage), kFew, dice), tried);
    }
    judge_numbers(tried);
}

// The same, but not by chance: all of the calls through which a grant goes into the store.
TEST_CASE("whatever call of a grant to the store fails or is the last, nothing is lost") {
    if (!can_disturb()) return;
    const auto* const name = GENERATE("acquire makes the store", "release hands off", "renew in a shared store");
    const auto all = scenarios();
    const auto scenario = std::find_if(all.begin(), all.end(), [&](const Scenario& some) { return some.name == name; });
    REQUIRE(scenario != all.end());
    CAPTURE(scenario->name);
    Stage stage(*scenario);
    stage.reset();
    auto disturbances = disturbances_of(stage);
    std::erase_if(disturbances, [](const Disturbance& some) { return !goes_to_the_store(some); });
    Tried tried;
    disturb_all(stage, disturbances, tried);
    judge_numbers(tried);
}

}  // namespace hagi::test
