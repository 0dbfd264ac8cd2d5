#include "cmd/correction.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <array>
#include <utility>

#include "cmd/nearest.hpp"
#include "cmd/shell_word.hpp"
#include "lockcore/names.hpp"

namespace hagi {
namespace {

using Words = std::vector<std::string>;

constexpr std::array<std::string_view, 2> kPath = {"agent", "lock"};

// What other tools call what is a verb here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 20> kOtherNames = {{
    {"get", "acquire"},
    {"take", "acquire"},
    {"wait", "acquire"},
    {"enqueue", "acquire"},
    {"queue", "acquire"},
    {"unlock", "release"},
    {"free", "release"},
    {"leave", "release"},
    {"beat", "heartbeat"},
    {"watch", "heartbeat"},
    {"keepalive", "heartbeat"},
    {"refresh", "renew"},
    {"extend", "renew"},
    {"show", "status"},
    {"info", "status"},
    {"ls", "list"},
    {"ps", "list"},
    {"history", "log"},
    {"exec", "run"},
    {"check", "doctor"},
}};

// What is done to somebody else, on an order only: nobody is to come to it by a slip of the hand.
bool is_order(std::string_view verb) { return verb == "requisition" || verb == "stop"; }

std::optional<std::string> named_otherwise(const std::string& word) {
    for (const auto& [other, verb] : kOtherNames)
        if (other == word) return std::string(verb);
    return std::nullopt;
}

std::optional<std::string> verb_meant(const std::string& word, const std::vector<const Verb*>& verbs) {
    if (auto verb = named_otherwise(word)) return verb;
    Words names;
    for (const Verb* verb : verbs)
        if (!is_order(verb->name) || edit_distance(word, verb->name) <= 1) names.emplace_back(verb->name);
    return nearest(word, names);
}

bool is_option(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

bool is_near(const std::string& word, std::string_view meant) {
    return !named_otherwise(word) && nearest(word, {std::string(meant)}).has_value();
}

// `command` and the words from `at` on.
std::string with_rest(std::string command, const Words& words, std::size_t at) {
    for (; at < words.size(); ++at) {
        if (escaped(words[at]) != words[at]) return command + " ...";
        command += " " + shell_word(words[at]);
    }
    return command;
}

// The words as they may have been meant, from `hagi` on; absent where nothing comes near.
std::optional<std::string> command_meant(const Words& words, const std::vector<const Verb*>& verbs) {
    if (is_near(words[0], kMcpCommand.name)) return with_rest("hagi mcp", words, 1);
    const std::string command = "hagi agent lock";
    std::size_t at = 0;
    for (const std::string_view part : kPath)
        if (at < words.size() && is_near(words[at], part)) ++at;
    if (at == words.size() || is_option(words[at])) return at > 0 ? std::optional(command) : std::nullopt;
    const auto verb = verb_meant(words[at], verbs);
    if (!verb) return std::nullopt;
    return with_rest(command + " " + *verb, words, at + 1);
}

}  // namespace

std::string correct_command(const Words& words, std::size_t at, const std::vector<const Verb*>& verbs) {
    const bool is_verb = at == kPath.size();
    const std::string problem = fmt::format("unknown {} \"{}\"", is_verb ? "verb" : "command", escaped(words[at]));
    if (const auto meant = command_meant(words, verbs)) return fmt::format("{}: did you mean: {}", problem, *meant);
    return fmt::format("{}: type hagi agent lock VERB, see hagi --help", problem);
}

std::string correct_option(const CLI::App& app, const Words& remaining) {
    const std::string see = fmt::format("see {} --help", app.get_name());
    const auto option = std::find_if(remaining.begin(), remaining.end(), is_option);
    if (option != remaining.end()) {
        const bool runs_a_command = app.get_option_no_throw("command") != nullptr;
        const std::string name = option->substr(0, option->find('='));
        Words known;
        for (const CLI::Option* each : app.get_options())
            for (const std::string& long_name : each->get_lnames()) known.push_back("--" + long_name);
        const auto meant = nearest(name, known);
        const std::string hint = meant            ? "did you mean " + *meant + "? "
                                 : runs_a_command ? "an option of the command? give the command behind --; "
                                                  : "";
        return fmt::format("unknown option {}: {}{}", escaped(name), hint, see);
    }
    const std::string& word = remaining.front();
    const CLI::Option* lock_id = app.get_option_no_throw("--lock-id");
    if (lock_id != nullptr && lock_id->count() == 0 && parse_lock_id(word))
        return fmt::format("unexpected word \"{}\": is it the lock? write --lock-id {}", escaped(word),
                           shell_word(word));
    return fmt::format("unexpected word \"{}\": a text with blanks needs quotes; {}", escaped(word), see);
}

std::optional<std::string> misplaced_command(const CLI::App& app, const Words& words) {
    const CLI::Option* command = app.get_option_no_throw("command");
    if (command == nullptr || command->count() == 0) return std::nullopt;
    const auto own_end = std::find(words.begin(), words.end(), "--");
    const auto behind = own_end == words.end() ? 0 : words.end() - own_end - 1;
    if (static_cast<std::ptrdiff_t>(command->count()) == behind) return std::nullopt;
    return fmt::format("unexpected word \"{}\": the command goes behind --, after the options; see {} --help",
                       escaped(command->results().front()), app.get_name());
}

std::optional<std::string> correct_value(const CLI::ParseError& error) {
    const std::string text = error.what();
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
        const std::string name = escaped(text.substr(0, text.find(':')));
        if (text.ends_with(" missing")) return name + " needs a value";
        if (text.find(": At Most ") != std::string::npos) return name + " is given more than once";
    }
    constexpr std::string_view kUnconverted = "Could not convert: ";
    const std::size_t equals = text.find(" = ");
    if (text.starts_with(kUnconverted) && equals != std::string::npos)
        return escaped(text.substr(kUnconverted.size(), equals - kUnconverted.size())) + " takes no value";
    return std::nullopt;
}

}  // namespace hagi
