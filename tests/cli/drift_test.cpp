// What is written about the program is what the program is, no less and no more: its verbs, options, variables of the
// environment and exit codes in --help, the manual, the README and the guide. What the completions offer is asked of
// the shells themselves, in tests/house.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "cmd/exit_code.hpp"
#include "tests/cli/world.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

namespace fs = std::filesystem;
using Words = std::set<std::string>;

// ---- Reading ----

std::string contents(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    INFO(path);
    REQUIRE_FALSE(text.str().empty());
    return text.str();
}

// The first group of every match.
Words all(const std::string& text, const std::string& pattern) {
    const std::regex expression(pattern);
    Words found;
    for (std::sregex_iterator match(text.begin(), text.end(), expression), end; match != end; ++match)
        found.insert((*match)[1]);
    return found;
}

std::string lines_where(const std::string& text, const std::function<bool(const std::string&)>& wanted) {
    std::istringstream lines(text);
    std::string kept;
    for (std::string line; std::getline(lines, line);)
        if (wanted(line)) kept += line + "\n";
    return kept;
}

// From a line of its own to the next that begins with `end`.
std::string section(const std::string& text, const std::string& heading, const std::string& end) {
    const auto begin = text.find("\n" + heading + "\n");
    return begin == std::string::npos ? "" : text.substr(begin, text.find("\n" + end, begin + 1) - begin);
}

std::string printed(const std::vector<std::string>& words) {
    World world;
    const Ran ran = world.run(words);
    REQUIRE(ran.exit_code == 0);
    std::string text;
    for (const Written& piece : ran.out) text += piece.text;
    return text;
}

Words options_of(const std::string& help) {
    Words options;
    for (const std::string& names : all(help, "\n  (-[A-Za-z,-]+)"))
        for (const std::string& name : all(names + ",", "([^,]+),")) options.insert(name);
    return options;
}

const std::string kOption = "(--[a-z][a-z-]*[a-z])";

// In mdoc; what is shown literally is an example of many commands.
Words options_in(const std::string& page) {
    bool literal = false;
    const std::string macros = lines_where(page, [&](const std::string& line) {
        literal = line.starts_with(".Bd") || (literal && !line.starts_with(".Ed"));
        return !literal && line.starts_with(".");
    });
    Words options;
    for (const std::string& name : all(macros, "Fl Fl ([a-z][a-z-]*)")) options.insert("--" + name);
    for (const std::string& name : all(macros, "Fl ([A-Za-z])(?![A-Za-z])")) options.insert("-" + name);
    return options;
}

// ---- What is compared ----

struct Texts {
    std::map<std::string, std::string> help;    // of each verb
    std::map<std::string, std::string> others;  // of each command beside `agent`, by its page
    std::map<std::string, std::string> files;   // by their path in the project

    [[nodiscard]] Words verbs() const {
        Words verbs;
        for (const auto& [verb, text] : help) verbs.insert(verb);
        return verbs;
    }
    [[nodiscard]] Words options() const {
        Words options{"--version"};
        for (const auto& [verb, text] : help) options.merge(options_of(text));
        for (const auto& [page, text] : others) options.merge(options_of(text));
        return options;
    }
    [[nodiscard]] std::string below(const std::string& folder) const {
        std::string texts;
        for (const auto& [path, text] : files)
            if (path.starts_with(folder)) texts += text;
        return texts;
    }
};

const std::string kManual = "man/hagi-agent-lock.1";
const std::string kGuide = "skills/hagi/references/resource-lock.md";
const std::string kSkill = "skills/hagi/SKILL.md";
const std::string kReadme = "README.md";

Texts texts_of_the_project() {
    Texts texts;
    for (const std::string& verb : all(printed({"--help"}), "\n  ([a-z]+) {2,}[a-z]"))
        texts.help[verb] = printed({"agent", "lock", verb, "--help"});
    const fs::path project(HAGI_PROJECT);
    for (const char* folder : {"man", "cmd", "platform"})
        for (const auto& entry : fs::recursive_directory_iterator(project / folder))
            if (entry.path().extension() == ".1" || entry.path().extension() == ".cpp")
                texts.files[fs::relative(entry.path(), project)] = contents(entry.path());
    for (const std::string& command : all(texts.below("man/"), "\n\\.Dt HAGI-([A-Z]+) 1\n")) {
        std::string name = command;
        std::transform(name.begin(), name.end(), name.begin(), [](char c) { return static_cast<char>(c - 'A' + 'a'); });
        texts.others["man/hagi-" + name + ".1"] = printed({name, "--help"});
    }
    for (const std::string& file : {kGuide, kSkill, kReadme}) texts.files[file] = contents(project / file);
    return texts;
}

class Drift {
public:
    explicit Drift(const Texts& texts) : texts_(texts) {
        compare_verbs_and_options();
        compare_environment();
        compare_exit_codes();
    }
    [[nodiscard]] std::string found() const { return found_; }

private:
    void same(const std::string& where, const Words& program, const Words& text) {
        missing(where + " lacks", program, text);
        missing(where + " alone has", text, program);
    }
    void missing(const std::string& what, const Words& wanted, const Words& there) {
        Words rest;
        std::set_difference(wanted.begin(), wanted.end(), there.begin(), there.end(), std::inserter(rest, rest.end()));
        if (!rest.empty()) found_ += fmt::format("{}: {}\n", what, fmt::join(rest, " "));
    }
    void known(const std::string& where, const Words& text, const Words& program) {
        missing(where + " names what is not there", text, program);
    }

    [[nodiscard]] const std::string& file(const std::string& path) const { return texts_.files.at(path); }

    void compare_verbs_and_options() {
        const Words verbs = texts_.verbs();
        const Words options = texts_.options();
        same(kManual, verbs, all(file(kManual), "\n\\.It Xr hagi-agent-lock-([a-z]+) 1\n"));
        same(kReadme, verbs, all(section(file(kReadme), "## Verbs", "## "), "\n\\| `([a-z]+)` \\|"));
        for (const std::string& verb : verbs) {
            const std::string page = "man/hagi-agent-lock-" + verb + ".1";
            const std::string& help = texts_.help.at(verb);
            same(page, options_of(help), texts_.files.count(page) == 0 ? Words() : options_in(file(page)));
            known("the help of " + verb, all(help, kOption), options);
        }
        for (const auto& [path, text] : texts_.files) {
            if (path.starts_with("man/hagi-agent-lock-"))
                known("man/", {path}, all_pages(verbs));
            else if (texts_.others.count(path) > 0)
                same(path, options_of(texts_.others.at(path)), options_in(text));
            else if (path.starts_with("man/hagi"))
                known(path, options_in(text), Words(options));
        }
        for (const std::string& path : {kReadme, kGuide, kSkill}) {
            const auto ours = [](const std::string& line) { return line.find("cmake ") == std::string::npos; };
            known(path, all(lines_where(file(path), ours), kOption), options);
            known(path, all(file(path), "hagi agent lock ([a-z]+)"), verbs);
        }
    }

    static Words all_pages(const Words& verbs) {
        Words pages;
        for (const std::string& verb : verbs) pages.insert("man/hagi-agent-lock-" + verb + ".1");
        return pages;
    }

    void compare_environment() {
        const Words variables = all(texts_.below("cmd/") + texts_.below("platform/"),
                                    "\"((?:HAGI|XDG)_[A-Z_]+|HOME|NO_COLOR|COLUMNS|TERM)\"");
        same("the manual", variables, all(texts_.below("man/"), "Ev ([A-Z_]+)"));
        Words own;
        for (const std::string& variable : variables)
            if (variable.starts_with("HAGI_")) own.insert(variable);
        same(kReadme, own, all(file(kReadme), "(HAGI_[A-Z_]+)"));
        known(kGuide, all(file(kGuide), "(HAGI_[A-Z_]+)"), own);
    }

    void compare_exit_codes() {
        Words codes{"0"};
        Words local_codes{"0"};
        Words named;
        for (int i = 0; i <= static_cast<int>(ErrorCode::Unknown); ++i) {
            const auto error = static_cast<ErrorCode>(i);
            const std::string code = std::to_string(exit_code(error));
            codes.insert(code);
            named.insert(fmt::format("{} {}", code, name_of(error)));
            // Engines that ask for credentials, or refuse for reasons of their own, are yet to come.
            if (error != ErrorCode::Unauthenticated && error != ErrorCode::BackendRefused) local_codes.insert(code);
        }
        same(kReadme, local_codes, all(section(file(kReadme), "## Exit codes", "## "), "\n\\| ([0-9]+) \\|"));
        same(kManual, named, codes_in_manual());
        const std::string stated = "[Ee]xit ([0-9]+)";
        for (const std::string& path : {kReadme, kGuide, kSkill}) known(path, all(file(path), stated), codes);
        for (const auto& [verb, help] : texts_.help) known("the help of " + verb, all(help, stated), codes);
    }

    // "31 WAIT_TIMEOUT", from an item and the names below it.
    [[nodiscard]] Words codes_in_manual() const {
        std::istringstream lines(section(file(kManual), ".Sh EXIT STATUS", ".Sh"));
        Words codes;
        std::string code;
        for (std::string line; std::getline(lines, line);) {
            if (line.starts_with(".It ")) code = line.substr(4);
            if (line.starts_with(".Pq Dv "))
                for (const std::string& name : all(line, "([A-Z_]{3,})"))
                    codes.insert(fmt::format("{} {}", code, name));
        }
        return codes;
    }

    const Texts& texts_;
    std::string found_;
};

bool says(const Drift& drift, const std::string& words) { return drift.found().find(words) != std::string::npos; }

TEST_CASE("help, manual, README and guide say of the program what it is") {
    CHECK(Drift(texts_of_the_project()).found() == "");
}

TEST_CASE("one word too many or too few in any text is seen") {
    struct Edit {
        std::string file;
        std::string from;
        std::string to;
        std::string seen;
    };
    const std::vector<Edit> edits = {
        {"man/hagi-agent-lock-acquire.1", "Fl Fl keep-place", "Fl Fl keep-a-place", "lacks: --keep-place"},
        {"man/hagi-agent-lock-run.1", "Fl E Ar n", "Ar n", "lacks: -E"},
        {"man/hagi-agent-lock-release.1", "Fl Fl epoch", "Ar epoch", "lacks: --epoch"},
        {"man/hagi-agent-lock-stop.1", ".Sh DESC", ".Fl Fl force\n.Sh DESC", "alone has: --force"},
        {kManual, "\n.It Xr hagi-agent-lock-nudge 1\n", "\n", "lacks: nudge"},
        {kManual, ".It 31\n", ".It 33\n", "lacks: 31 WAIT_TIMEOUT"},
        {kManual, "WORK_LEASE_LOST", "LEASE_LOST", "lacks: 32 WORK_LEASE_LOST"},
        {kManual, "HAGI_LOCK_FILESYSTEM", "HAGI_FILESYSTEM", "lacks: HAGI_LOCK_FILESYSTEM"},
        {kManual, "Fl Fl stuck-after", "Fl Fl stuck", "not there: --stuck"},
        {kReadme, "| `nudge` |", "| nudge |", "lacks: nudge"},
        {kReadme, "--no-queue", "--no-waiting", "not there: --no-waiting"},
        {kReadme, "HAGI_LOCK_STUCK_AFTER", "HAGI_STUCK_AFTER", "lacks: HAGI_LOCK_STUCK_AFTER"},
        {kReadme, "| 31 |", "| 33 |", "lacks: 31"},
        {kGuide, "--keep-place", "--keep-the-place", "not there: --keep-the-place"},
        {kGuide, "Exit 29", "Exit 28", "not there: 28"},
        {kGuide, "hagi agent lock renew", "hagi agent lock refresh", "not there: refresh"},
        {kSkill, "hagi agent lock accept", "hagi agent lock begin", "not there: begin"},
        {"cmd/options.cpp", "\"HAGI_LOCK_OWNER\"", "\"HAGI_OWNER\"", "lacks: HAGI_OWNER"},
    };
    const Texts project = texts_of_the_project();
    for (const Edit& edit : edits) {
        CAPTURE(edit.file, edit.from, edit.to);
        Texts edited = project;
        std::string& text = edited.files.at(edit.file);
        REQUIRE(text.find(edit.from) != std::string::npos);
        for (std::size_t at = 0; (at = text.find(edit.from, at)) != std::string::npos; at += edit.to.size())
            text.replace(at, edit.from.size(), edit.to);
        CHECK(says(Drift(edited), edit.seen));
    }
    Texts without_page = project;
    without_page.files.erase("man/hagi-agent-lock-stop.1");
    CHECK(says(Drift(without_page), "man/hagi-agent-lock-stop.1 lacks"));
    Texts without_verb = project;
    without_verb.help.erase("stop");
    CHECK(says(Drift(without_verb), "alone has: stop"));
}

TEST_CASE("the options of a verb's help fit a terminal of 80 columns") {
    for (const auto& [verb, help] : texts_of_the_project().help) {
        std::istringstream lines(help.substr(0, help.find("\nExample:")));
        for (std::string line; std::getline(lines, line);) {
            CAPTURE(verb, line);
            CHECK(line.size() <= 80);
        }
    }
}

}  // namespace
}  // namespace hagi::test
