// hagi_bench: what hagi costs beside flock and others, in whole processes. README.md says how. It measures and judges
// nothing: exit 1 only where it could not measure.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>

#include "tests/bench/sections.hpp"

namespace hagi::test {
namespace {

struct Options {
    std::string hagi;
    std::string json;
    std::string folder = ".";
    std::vector<std::string> sections = {"commands", "idle"};
    Bench bench;
};

struct Part {
    const char* name;
    Section (*measure)(const Bench& bench);
};
constexpr Part kParts[] = {{"commands", measure_commands}, {"contention", measure_contention},
                           {"growth", measure_growth},     {"crowd", measure_crowd},
                           {"fairness", measure_fairness}, {"idle", measure_idle}};

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

void measure(const Options& options) {
    std::vector<Section> measured;
    for (const Part& part : kParts) {
        const auto wanted = std::find(options.sections.begin(), options.sections.end(), part.name);
        if (wanted == options.sections.end()) continue;
        const TemporaryFolder folder(options.folder);
        Bench bench = options.bench;
        bench.folder = folder.path();
        measured.push_back(part.measure(bench));
        print(measured.back());
        // After each, so that a run that is cut short has not been for nothing.
        if (!options.json.empty()) write_json(measured, options.json);
    }
}

int run_bench(int argc, char** argv) {
    Options options;
    CLI::App app("What hagi costs beside flock, in whole processes");
    app.add_option("--hagi", options.hagi, "the binary to measure")->required()->check(CLI::ExistingFile);
    app.add_option("--json", options.json, "where the figures go as JSON");
    app.add_option("--folder", options.folder, "where the stores and lock files go")->check(CLI::ExistingDirectory);
    std::vector<std::string> names = {"all"};
    for (const Part& part : kParts) names.emplace_back(part.name);
    app.add_option("--sections", options.sections,
                   "what to measure: some of commands, contention, growth, crowd, fairness, idle; or all")
        ->delimiter(',')
        ->check(CLI::IsMember(names));
    Bench& bench = options.bench;
    app.add_option("-n,--rounds", bench.effort.rounds, "of each candidate")->check(CLI::Range(1, 100000));
    app.add_option("--warm-up", bench.effort.warm_up, "rounds before them")->check(CLI::Range(0, 100000));
    app.add_option("--seconds", bench.seconds, "of each throughput")->check(CLI::Range(1, 600));
    app.add_option("--fair-seconds", bench.fair_seconds, "how long 64 processes compete")->check(CLI::Range(1, 600));
    app.add_option("--idle-seconds", bench.idle_seconds, "how long to watch idle watchers")->check(CLI::Range(1, 600));
    app.add_option("--crowd", bench.crowd, "watchers in the crowd")->check(CLI::Range(2, 10000));
    app.add_flag("--peers", bench.peers, "beside etcdctl, redis-cli, psql and sem, too, where they are installed");
    CLI11_PARSE(app, argc, argv);
    if (options.sections == std::vector<std::string>{"all"}) options.sections = names;
    bench.programs = {std::filesystem::absolute(options.hagi).string(), find_program("flock"), find_program("true"),
                      find_program("cat"), HAGI_STAMP};
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
