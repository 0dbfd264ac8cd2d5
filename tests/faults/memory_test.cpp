// The n-th request for memory is refused, once or from then on, whole commands in a child of this program: whatever
// happens, the command ends as usual or with exit 60, and the store with one of two whole stories.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iostream>

#include "cmd/cli.hpp"
#include "cmd/last_words.hpp"
#include "cmd/open_engine.hpp"
#include "platform/machine_clock.hpp"
#include "platform/process_identity.hpp"
#include "tests/faults/dice.hpp"
#include "tests/faults/judge.hpp"
#include "tests/faults/scarce_memory.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

class Descriptor : public Output {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    bool write(std::string_view text) override {
        return ::write(fd_, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    }

private:
    int fd_;
};

class NeverAsked : public StopSource {
public:
    [[nodiscard]] Interrupts interrupts() const override { return {}; }
    bool requested() override { return false; }
};

struct Shortage {
    Asking asking = Asking::Program;
    std::size_t nth = 0;  // 0: never
    Lasting lasting = Lasting::Once;
    Form form = Form::Text;
};

struct Ended {
    Finished finished;
    std::size_t requests = 0;
    bool refused = false;
};

int run_in_child(const Stage& stage, const Words& words, const Shortage& shortage) {
    const std::string store = stage.hagi().store();
    const std::string filesystem = stage.scenario().filesystem;
    const auto environment = [&](std::string_view name) -> std::optional<std::string> {
        if (name == "HAGI_LOCK_STORE") return store;
        if (name == "HAGI_LOCK_FILESYSTEM" && !filesystem.empty()) return filesystem;
        return std::nullopt;
    };
    Descriptor out(STDOUT_FILENO);
    Descriptor err(STDERR_FILENO);
    MachineClock clock;
    Context context{out,
                    err,
                    environment,
                    [&](const EngineTerms& terms, StoreUse use) { return open_engine(terms, use, environment); },
                    clock,
                    this_process,
                    [] { return std::make_unique<NeverAsked>(); }};
    prepare_last_words(form_of(words));
    const ScarceMemory memory(shortage.asking, shortage.nth, shortage.lasting);
    return run_cli(context, words);
}

std::string text_of(int fd) {
    std::string text(static_cast<std::size_t>(::lseek(fd, 0, SEEK_END)), '\0');
    const ssize_t got = ::pread(fd, text.data(), text.size(), 0);
    REQUIRE(got == static_cast<ssize_t>(text.size()));
    return text;
}

// In a process of its own, since running out of memory may end it.
Ended run_here(const Stage& stage, const Words& command, const Shortage& shortage) {
    Words words{"agent", "lock"};
    words.insert(words.end(), command.begin(), command.end());
    const UniqueFd out(::memfd_create("out", MFD_CLOEXEC));
    const UniqueFd err(::memfd_create("err", MFD_CLOEXEC));
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::dup2(out.get(), STDOUT_FILENO);
        ::dup2(err.get(), STDERR_FILENO);
        for (const int signal : {SIGABRT, SIGSEGV}) ::signal(signal, SIG_DFL);  // Catch2 would say that it crashed
        ::_exit(run_in_child(stage, words, shortage));
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return {{code, text_of(out.get()), text_of(err.get())}, ScarceMemory::requests(), ScarceMemory::refused()};
}

std::vector<Shortage> shortages_of(Stage& stage, Asking asking) {
    std::vector<Shortage> all;
    for (const Lasting lasting : {Lasting::Once, Lasting::ForEver}) {
        stage.reset();
        const std::size_t requests = run_here(stage, stage.scenario().command, {asking, 0, lasting, {}}).requests;
        for (std::size_t nth = 1; nth <= requests; ++nth)
            all.push_back({asking, nth, lasting, nth % 2 == 0 ? Form::Document : Form::Text});
    }
    return all;
}

bool run_short(Stage& stage, const Shortage& shortage) {
    for (;;) {
        stage.reset();
        const Ended ended = run_here(stage, command_in(shortage.form, stage.scenario().command), shortage);
        if (stage.too_old()) continue;
        INFO("exit " << ended.finished.code << "\n" << ended.finished.out << ended.finished.err);
        judge_store(stage, judge_end(stage, ended.finished, shortage.form));
        return ended.refused;
    }
}

Finished run_undisturbed(const Stage& stage, const Words& command) { return run_here(stage, command, {}).finished; }

struct Tried {
    std::size_t all = 0;
    std::size_t refused = 0;
};

void run_short_of_all(Stage& stage, const std::vector<Shortage>& shortages, Tried& tried) {
    for (const Shortage& shortage : shortages) {
        CAPTURE(shortage.asking == Asking::Sqlite, shortage.nth, shortage.lasting == Lasting::ForEver);
        ++tried.all;
        if (run_short(stage, shortage)) ++tried.refused;
    }
}

void judge_numbers(const Tried& tried) {
    std::cout << tried.refused << " of " << tried.all << " commands were refused memory\n";
    CHECK(tried.refused * 10 >= tried.all * 9);
}

void place_scarce_memory_once() {
    static const bool placed = (ScarceMemory::prepare(), true);
    REQUIRE(placed);
}

}  // namespace

TEST_CASE("whichever request for memory is refused, nothing is half written and the next command works") {
    place_scarce_memory_once();
    constexpr std::size_t kFew = 1;
    const auto seed = test_seed();
    CAPTURE(seed);
    std::mt19937_64 dice(seed);
    Tried tried;
    for (const Scenario& scenario : scenarios()) {
        CAPTURE(scenario.name);
        Stage stage(scenario, run_undisturbed);
        for (const Asking asking : {Asking::Program, Asking::Sqlite})
            run_short_of_all(stage, chosen(shortages_of(stage, asking), kFew, dice), tried);
    }
    judge_numbers(tried);
}

// The same, but not by chance: all that SQLite asks for during one command.
TEST_CASE("whichever request of SQLite's is refused, nothing is half written") {
    if (std::getenv("HAGI_TEST_LONG") == nullptr) {
        WARN("SKIPPED: takes minutes; set HAGI_TEST_LONG to run it");
        return;
    }
    place_scarce_memory_once();
    const auto all = scenarios();
    const auto scenario =
        std::find_if(all.begin(), all.end(), [](const Scenario& some) { return some.name == "release hands off"; });
    REQUIRE(scenario != all.end());
    Stage stage(*scenario, run_undisturbed);
    Tried tried;
    run_short_of_all(stage, shortages_of(stage, Asking::Sqlite), tried);
    judge_numbers(tried);
}

}  // namespace hagi::test
