// The README may say no more and no less than the program does.
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "cmd/exit_code.hpp"
#include "tests/cli/world.hpp"
#include "tests/support/catch.hpp"

namespace hagi::test {
namespace {

using Words = std::set<std::string>;

std::string readme() {
    std::ifstream file(HAGI_README);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

// The part below the heading.
std::string section(const std::string& text, const std::string& heading) {
    const auto begin = text.find("\n## " + heading + "\n");
    REQUIRE(begin != std::string::npos);
    return text.substr(begin, text.find("\n## ", begin + 1) - begin);
}

// The first group of every match.
Words all(const std::string& text, const std::string& pattern) {
    const std::regex expression(pattern);
    Words found;
    for (std::sregex_iterator match(text.begin(), text.end(), expression), end; match != end; ++match)
        found.insert((*match)[1]);
    return found;
}

std::string printed(const std::vector<std::string>& words) {
    World world;
    std::string text;
    const Ran ran = world.run(words);
    REQUIRE(ran.exit_code == 0);
    for (const Written& piece : ran.out) text += piece.text;
    return text;
}

Words verbs_of_program() { return all(printed({"--help"}), "\n  ([a-z]+) {2,}[a-z]"); }

TEST_CASE("the README's table of verbs is the program's") {
    CHECK(all(section(readme(), "Verbs"), "\n\\| `([a-z]+)` \\|") == verbs_of_program());
}

TEST_CASE("every option that the README names is one of a verb") {
    std::string help = "--help --version";
    for (const std::string& verb : verbs_of_program()) help += printed({"agent", "lock", verb, "--help"});
    const Words known = all(help, "(--[a-z][a-z-]*)");
    for (const std::string& option : all(readme(), "hagi agent lock [^\n]*?(--[a-z][a-z-]*)")) {
        INFO(option);
        CHECK(known.count(option) == 1);
    }
    for (const std::string& option : all(readme(), "`(--[a-z][a-z-]*)")) {
        INFO(option);
        CHECK(known.count(option) == 1);
    }
}

TEST_CASE("the README's table of exit codes is what can happen with a local store") {
    Words codes{"0"};
    for (int code = 0; code <= static_cast<int>(ErrorCode::Unknown); ++code) {
        const auto error = static_cast<ErrorCode>(code);
        // Engines that ask for credentials, or refuse for reasons of their own, are yet to come.
        if (error == ErrorCode::Unauthenticated || error == ErrorCode::BackendRefused) continue;
        codes.insert(std::to_string(exit_code(error)));
    }
    CHECK(all(section(readme(), "Exit codes"), "\n\\| ([0-9]+) \\|") == codes);
}

}  // namespace
}  // namespace hagi::test
