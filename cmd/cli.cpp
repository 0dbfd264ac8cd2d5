#include "cmd/cli.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <exception>
#include <new>

#include "cmd/correction.hpp"
#include "cmd/help.hpp"
#include "cmd/report.hpp"
#include "cmd/verb.hpp"
#include "cmd/version.hpp"
#include "lockcore/names.hpp"

namespace hagi {
namespace {

using Words = std::vector<std::string>;

// NOLINTNEXTLINE(cppcoreguidelines-interfaces-global-init): their addresses only
const std::vector<const Verb*> kVerbs = {
    &kAcceptVerb, &kAcquireVerb, &kDoctorVerb, &kGuideVerb,       &kHeartbeatVerb, &kListVerb,   &kLogVerb,
    &kNudgeVerb,  &kReleaseVerb, &kRenewVerb,  &kRequisitionVerb, &kRunVerb,       &kStatusVerb, &kStopVerb,
};

const Verb* find_verb(std::string_view name) {
    const auto found = std::find_if(kVerbs.begin(), kVerbs.end(), [&](const Verb* verb) { return verb->name == name; });
    return found == kVerbs.end() ? nullptr : *found;
}

int usage_error(Context& context, const Words& words, const std::string& message) {
    Report report(context, form_of(words));
    return report.failure({}, {ErrorCode::Usage, message, {}});
}

// Whoever types no verb, or nothing behind it, asks what to type.
int missing_verb(Context& context, const Words& words) {
    const int code = usage_error(context, words, "no verb was given: type hagi agent lock VERB");
    if (form_of(words) == Form::Text) context.err.write("\n" + overview(kVerbs));
    return code;
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

// `path`: the words of the command line up to the name of the verb.
int run_verb(Context& context, std::string_view path, const Verb& verb, const Words& words) {
    CLI::App app{std::string(verb.summary), fmt::format("{} {}", path, verb.name)};
    shape_help(app, verb);
    const Run run = verb.prepare(app);
    try {
        Words backwards = with_empty_values(words);
        std::reverse(backwards.begin(), backwards.end());
        app.parse(backwards);
        if (const auto misplaced = misplaced_command(app, words)) return usage_error(context, words, *misplaced);
    } catch (const CLI::CallForHelp&) {
        context.out.write(app.help());
        return kSuccess;
    } catch (const CLI::ValidationError& error) {
        return usage_error(context, words, one_line(error));
    } catch (const CLI::ExtrasError&) {
        return usage_error(context, words, correct_option(app, app.remaining()));
    } catch (const CLI::ParseError& error) {
        return usage_error(
            context, words,
            fmt::format("{}: see {} --help", correct_value(error).value_or(one_line(error)), app.get_name()));
    }
    const int code = run(context);
    if (words.empty() && code == exit_code(ErrorCode::Usage)) context.err.write(short_usage(verb));
    return code;
}

int help(Context& context, const Words& words, std::size_t at) {
    if (at < words.size() && words[at] == kMcpCommand.name) return run_verb(context, "hagi", kMcpCommand, {"--help"});
    if (const Verb* verb = at < words.size() ? find_verb(words[at]) : nullptr)
        return run_verb(context, "hagi agent lock", *verb, {"--help"});
    context.out.write(overview(kVerbs));
    return kSuccess;
}

int dispatch(Context& context, const Words& words) {
    if (!words.empty() && words[0] == kMcpCommand.name)
        return run_verb(context, "hagi", kMcpCommand, Words(words.begin() + 1, words.end()));
    constexpr std::array<std::string_view, 2> kPath = {"agent", "lock"};
    for (std::size_t i = 0;; ++i) {
        if (i == words.size() || words[i] == "--json") return missing_verb(context, words);
        const std::string& word = words[i];
        if (word == "--help" || word == "-h" || word == "help") return help(context, words, i + 1);
        if (word == "--version") return context.out.write(fmt::format("hagi {}\n", kVersion)), kSuccess;
        if (i < kPath.size()) {
            if (word == kPath[i]) continue;
            return usage_error(context, words, correct_command(words, i, kVerbs));
        }
        if (const Verb* verb = find_verb(word))
            return run_verb(context, "hagi agent lock", *verb,
                            Words(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end()));
        return usage_error(context, words, correct_command(words, i, kVerbs));
    }
}

}  // namespace

// Before the command that `run` starts: its words are its own.
Form form_of(const Words& words) {
    const auto own_end = std::find(words.begin(), words.end(), "--");
    const auto has = [&](const Words& wanted) {
        return std::search(words.begin(), own_end, wanted.begin(), wanted.end()) != own_end;
    };
    const bool json = has({"--json"}) || has({"--format", "json"}) || has({"--format=json"});
    return json ? Form::Json : Form::Text;
}

int run_cli(Context& context, const std::vector<std::string>& words) {
    const Form form = form_of(words);
    try {
        try {
            return dispatch(context, words);
        } catch (const std::bad_alloc&) {
            throw;
        } catch (const std::exception& error) {
            return Report(context, form)
                .failure({}, {ErrorCode::Unknown,
                              fmt::format("a defect of hagi itself ({}): please report it", error.what()),
                              {}});
        }
    } catch (const std::bad_alloc&) {
        return Report(context, form).out_of_memory();
    }
}

}  // namespace hagi
