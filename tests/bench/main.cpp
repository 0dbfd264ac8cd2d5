// hagi_bench: what hagi costs beside flock, in whole processes. The candidates take turns, round by round, so that
// the noise of the machine hits all alike. It measures and judges nothing: exit 1 only where it could not measure.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>

#include "tests/bench/report.hpp"

namespace hagi::test {
namespace {

struct Options {
    std::string hagi;
    std::string json;
    std::string folder = ".";
    int rounds = 300;
    int warm_up = 20;
    int idle_seconds = 15;
};

// Everything that a run leaves behind goes with it.
class TemporaryFolder {
public:
    explicit TemporaryFolder(const std::string& parent) : path_(parent + "/hagi-bench-XXXXXX") {
        if (!::mkdtemp(path_.data())) cannot_measure("cannot create a folder in " + parent);
        path_ = std::filesystem::canonical(path_).string();
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

// The turn starts one further each round, so that nobody always follows the same neighbour's dirty caches.
std::vector<Series> take_turns(const std::vector<Candidate>& candidates, const Options& options) {
    std::vector<Series> series;
    series.reserve(candidates.size());
    for (const Candidate& candidate : candidates) series.push_back({candidate.name, {}});
    for (int round = -options.warm_up; round < options.rounds; ++round) {
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            const std::size_t turn = (i + static_cast<std::size_t>(round + options.warm_up)) % candidates.size();
            const Milliseconds elapsed = candidates[turn].round();
            if (round >= 0) series[turn].rounds.push_back(elapsed);
        }
    }
    return series;
}

void measure(const Options& options) {
    const Programs programs{std::filesystem::absolute(options.hagi).string(), find_program("flock"),
                            find_program("true"), find_program("cat")};
    const TemporaryFolder folder(options.folder);
    Report report;
    {
        const auto candidates = make_candidates(programs, folder.path());
        fmt::print("{} rounds, {} of warm-up before them, in {}\n", options.rounds, options.warm_up, folder.path());
        report.series = take_turns(candidates, options);
    }
    report.comparisons = compare(report.series);
    report.idle_seconds = options.idle_seconds;
    if (options.idle_seconds > 0) report.idle = measure_idle(programs, folder.path(), options.idle_seconds);
    print(report);
    if (!options.json.empty()) write_json(report, options.json);
}

int run_bench(int argc, char** argv) {
    Options options;
    CLI::App app("What hagi costs beside flock, in whole processes");
    app.add_option("--hagi", options.hagi, "the binary to measure")->required()->check(CLI::ExistingFile);
    app.add_option("--json", options.json, "where the figures go as JSON");
    app.add_option("--folder", options.folder, "where the stores and lock files go")->check(CLI::ExistingDirectory);
    app.add_option("-n,--rounds", options.rounds, "of each candidate")->check(CLI::Range(1, 100000));
    app.add_option("--warm-up", options.warm_up, "rounds before them")->check(CLI::Range(0, 100000));
    app.add_option("--idle-seconds", options.idle_seconds, "how long to watch idle watchers; 0: not at all");
    CLI11_PARSE(app, argc, argv);
    for (const char* name : {"HAGI_LOCK_OWNER", "HAGI_SESSION_ID", "HAGI_LOCK_STORE"}) ::unsetenv(name);
    measure(options);
    return EXIT_SUCCESS;
}

}  // namespace
}  // namespace hagi::test

int main(int argc, char** argv) {
    try {
        return hagi::test::run_bench(argc, argv);
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "hagi_bench: %s\n", failure.what());
        return EXIT_FAILURE;
    }
}
