// The command line, one word a line: whatever the words, the exit code is from the table, every line is safe for a
// terminal, and with --json there is JSON and nothing else. A vertical tab stands for a line break within a word. Words
// NAME=VALUE in front are the environment.
#include <algorithm>
#include <set>
#include <sstream>
#include <vector>

#include "tests/cli/world.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/support/terminal_text.hpp"

namespace hagi::test {
namespace {

using Words = std::vector<std::string>;

Words split(const std::string& text) {
    Words words;
    std::istringstream lines(text);
    for (std::string word; std::getline(lines, word);) {
        std::replace(word.begin(), word.end(), '\v', '\n');
        std::erase(word, '\0');  // no argument has one
        words.push_back(word);
    }
    return words;
}

bool has(const Words& words, const std::string& word) {
    return std::find(words.begin(), std::find(words.begin(), words.end(), "--"), word) !=
           std::find(words.begin(), words.end(), "--");
}

// Short options may stand together: -h is among them in -vh, too.
bool asks_for_help(const Words& words) {
    const auto end = std::find(words.begin(), words.end(), "--");
    return has(words, "help") || has(words, "--help") || has(words, "--version") ||
           std::any_of(words.begin(), end, [](const auto& word) {
               return word.starts_with('-') && !word.starts_with("--") && word.find('h') != std::string::npos;
           });
}

// Behind an option that wants a value it may be that value.
bool asks_for_json(const Words& words) {
    const auto end = std::find(words.begin(), words.end(), "--");
    const auto found = std::find(words.begin(), end, "--json");
    return found != end && (found == words.begin() || !std::prev(found)->starts_with('-'));
}

std::string lines_of(const std::vector<Written>& written) {
    std::string text;
    for (const Written& piece : written) text += piece.text;
    require(text.empty() || text.back() == '\n', "the last line has no end");
    return text;
}

void check_lines(const std::string& text, bool json) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        require(!is_obeyed(line), "a line is obeyed: " + line);
        if (json) require(is_json(line), "a line is no JSON: " + line);
    }
}

}  // namespace
}  // namespace hagi::test

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace hagi::test;
    Words words = split({reinterpret_cast<const char*>(data), size});
    // They would do to this machine what they are told: start a program, look after a file, listen to it.
    for (const std::string word : {"run", "doctor", "mcp"})
        if (std::find(words.begin(), words.end(), word) != words.end()) return 0;
    World world;
    world.plant(hagi::LockId("held"), {hagi::Owner("someone"), hagi::AcquireRequest{}});
    for (; !words.empty() && words[0].starts_with("HAGI_"); words.erase(words.begin())) {
        const auto equals = words[0].find('=');
        if (equals != std::string::npos) world.environment()[words[0].substr(0, equals)] = words[0].substr(equals + 1);
    }
    world.stop_when_it_sleeps();
    const Ran ran = world.run(words);
    static const std::set<int> kExpected{0, 2, 20, 24, 29, 30, 31, 32};
    require(kExpected.contains(ran.exit_code), "exit code " + std::to_string(ran.exit_code));
    const bool json = asks_for_json(words) && !asks_for_help(words);
    check_lines(lines_of(ran.out), json);
    check_lines(lines_of(ran.err), false);
    if (json) require(ran.err.empty(), "stderr has something beside the JSON");
    return 0;
}
