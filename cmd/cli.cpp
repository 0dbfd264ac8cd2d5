#include "cmd/cli.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <exception>
#include <new>

#include "cmd/report.hpp"
#include "cmd/verb.hpp"
#include "cmd/version.hpp"
#include "lockcore/names.hpp"

namespace hagi {
namespace {

using Words = std::vector<std::string>;

constexpr std::array kVerbs = {
    &kAcceptVerb,  &kAcquireVerb, &kDoctorVerb,      &kHeartbeatVerb, &kListVerb,   &kLogVerb,  &kNudgeVerb,
    &kReleaseVerb, &kRenewVerb,   &kRequisitionVerb, &kRunVerb,       &kStatusVerb, &kStopVerb,
};

const Verb* find_verb(std::string_view name) {
    const auto found = std::find_if(kVerbs.begin(), kVerbs.end(), [&](const Verb* verb) { return verb->name == name; });
    return found == kVerbs.end() ? nullptr : *found;
}

std::string overview() {
    std::string text =
        "hagi: turns on a shared resource, for agents\n\n"
        "Usage: hagi agent lock VERB [OPTIONS]\n\n";
    for (const Verb* verb : kVerbs) text += fmt::format("  {:<12} {}\n", verb->name, verb->summary);
    return text +
           "\nExample, for one turn on eu-1/duckov:\n"
           "  hagi agent lock acquire --wait --lock-id eu-1/duckov --owner sess-7f2c\n"
           "  hagi agent lock heartbeat --lock-id eu-1/duckov --owner sess-7f2c --while-pid $$ &\n"
           "  ./deploy\n"
           "  hagi agent lock release --lock-id eu-1/duckov --owner sess-7f2c\n\n"
           "`hagi agent lock VERB --help` says more about a verb; `hagi --version` prints the version.\n";
}

// Before the command that `run` starts: its words are its own.
bool wants_json(const Words& words) {
    const auto own_end = std::find(words.begin(), words.end(), "--");
    return std::find(words.begin(), own_end, "--json") != own_end;
}

int usage_error(Context& context, const Words& words, const std::string& message) {
    Report report(context, wants_json(words) ? Form::Json : Form::Text);
    return report.failure({}, {ErrorCode::Usage, message, {}});
}

// CLI11 writes for people at a terminal; here it is one line in which nothing is obeyed.
std::string one_line(const CLI::ParseError& error) {
    std::string text = error.what();
    std::replace(text.begin(), text.end(), '\n', ' ');
    while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
    return escaped(text);
}

// CLI11 takes the word after "--label=" for its value; an empty value is meant.
Words with_empty_values(const Words& words) {
    Words split;
    bool own = true;
    for (const std::string& word : words) {
        own = own && word != "--";
        const bool empty_value = own && word.size() > 3 && word.starts_with("--") && word.find('=') == word.size() - 1;
        split.push_back(empty_value ? word.substr(0, word.size() - 1) : word);
        if (empty_value) split.emplace_back();
    }
    return split;
}

int run_verb(Context& context, const Verb& verb, const Words& words) {
    CLI::App app{std::string(verb.summary), fmt::format("hagi agent lock {}", verb.name)};
    app.footer(fmt::format("Example:\n{}", verb.example));
    const Run run = verb.prepare(app);
    try {
        Words backwards = with_empty_values(words);
        std::reverse(backwards.begin(), backwards.end());
        app.parse(backwards);
    } catch (const CLI::CallForHelp&) {
        context.out.write(app.help());
        return kSuccess;
    } catch (const CLI::ValidationError& error) {
        return usage_error(context, words, one_line(error));
    } catch (const CLI::ParseError& error) {
        return usage_error(context, words,
                           fmt::format("{}: see hagi agent lock {} --help", one_line(error), verb.name));
    }
    return run(context);
}

int dispatch(Context& context, const Words& words) {
    constexpr std::array<std::string_view, 2> kPath = {"agent", "lock"};
    for (std::size_t i = 0;; ++i) {
        if (i == words.size()) return usage_error(context, words, "no verb: see hagi --help");
        const std::string& word = words[i];
        if (word == "--help" || word == "-h") return context.out.write(overview()), kSuccess;
        if (word == "--version") return context.out.write(fmt::format("hagi {}\n", kVersion)), kSuccess;
        if (i < kPath.size()) {
            if (word == kPath[i]) continue;
            return usage_error(
                context, words,
                fmt::format("unknown command \"{}\": type hagi agent lock VERB, see hagi --help", escaped(word)));
        }
        if (const Verb* verb = find_verb(word))
            return run_verb(context, *verb, Words(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end()));
        return usage_error(context, words,
                           fmt::format("unknown verb \"{}\": see hagi agent lock --help", escaped(word)));
    }
}

}  // namespace

int run_cli(Context& context, const std::vector<std::string>& words) {
    Failure failure;
    try {
        return dispatch(context, words);
    } catch (const std::bad_alloc&) {
        failure = {ErrorCode::Transport, "out of memory: free some and repeat the command, which is safe", {}};
    } catch (const std::exception& error) {
        failure = {ErrorCode::Unknown, fmt::format("a defect of hagi itself ({}): please report it", error.what()), {}};
    }
    return Report(context, wants_json(words) ? Form::Json : Form::Text).failure({}, failure);
}

}  // namespace hagi
