// Options that verbs share, and how the words of a command line become typed values.
// A value that breaks a name's rules is kept as the command's first InvalidArgument; a number that is none, or is out
// of range, is a parse error: both before any store is touched, usage errors first.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cmd/report.hpp"
#include "lockcore/limits.hpp"
#include "lockcore/names.hpp"

// CLI11 makes a dozen objects in every file that includes it, before main() and again at its end: half a tenth of a
// command, when each verb did. So they go through the functions below.
namespace CLI {  // NOLINT(readability-identifier-naming): its name
class App;
}

namespace hagi {

struct CommonOptions {
    std::optional<LockId> lock_id;
    std::optional<std::string> server;
    std::optional<std::string> game;
    std::optional<Owner> owner;
    std::optional<std::string> store;
    std::optional<Duration> busy_timeout;
    std::optional<Duration> stuck_after;
    bool json = false;
    bool quiet = false;
    std::vector<std::string> fields;         // of --print
    std::optional<Error> invalid;            // the first text that breaks its rules
    std::vector<std::string> invalid_names;  // the options that have such a text

    [[nodiscard]] Form form() const {
        if (json) return Form::Json;
        if (quiet) return Form::Quiet;
        return fields.empty() ? Form::Text : Form::Fields;
    }
};

// --lock-id, --server, --game, --owner.
void add_address_options(CLI::App& app, CommonOptions& common);

// --json, --store, --busy-timeout.
void add_store_options(CLI::App& app, CommonOptions& common);

// --quiet and --print, of verbs that answer.
void add_answer_options(CLI::App& app, CommonOptions& common);

// --quiet alone.
void add_quiet_option(CLI::App& app, CommonOptions& common, const std::string& help);

// --stuck-after.
void add_stuck_option(CLI::App& app, CommonOptions& common);

void add_flag(CLI::App& app, const std::string& name, bool& target, const std::string& help);

// Everything behind --.
void add_command(CLI::App& app, std::vector<std::string>& target, const std::string& help);

void add_string(CLI::App& app, const std::string& name, std::optional<std::string>& target, const std::string& help);

// Whole seconds within [least, most].
void add_seconds(CLI::App& app, const std::string& name, std::optional<Duration>& target, Duration least, Duration most,
                 const std::string& help);

// A whole number within [least, most].
void add_count(CLI::App& app, const std::string& name, std::optional<std::int64_t>& target, std::int64_t least,
               std::int64_t most, const std::string& help);

// The same with a value that may be left out, `when_bare`, in whole days.
void add_days(CLI::App& app, const std::string& name, std::optional<std::int64_t>& target, std::int64_t when_bare,
              std::int64_t most, const std::string& help);

void add_epoch(CLI::App& app, std::optional<Epoch>& target, const std::string& help);

// A process id.
void add_process(CLI::App& app, const std::string& name, std::optional<int>& target, const std::string& help);

// --require: which standings a script takes for success.
struct Requirement {
    bool holding = false;
    bool queued = false;
};
void add_requirement(CLI::App& app, std::optional<Requirement>& target);
bool is_met(const Requirement& requirement, Status status);

// `name` was given, with a text that breaks its rules.
void note_invalid(CommonOptions& common, const std::string& name, const Error& error);

// `take` is given one of the words.
void add_choice(CLI::App& app, const std::string& name, std::vector<std::string> words,
                std::function<void(const std::string&)> take, const std::string& help);

// `take` is given the text.
void add_text(CLI::App& app, const std::string& name, const std::function<void(const std::string&)>& take,
              const std::string& help);

// A text with rules: label, note, phase, reason.
template <class Value>
void add_checked(CLI::App& app, const std::string& name, CommonOptions& common, std::optional<Value>& target,
                 Result<Value> (*parse)(std::string_view), const std::string& help) {
    const auto take = [&common, &target, parse, name](const std::string& text) {
        Result<Value> value = parse(text);
        if (value)
            target = *std::move(value);
        else
            note_invalid(common, name, value.error());
    };
    add_text(app, name, take, help);
}

// --reason, which stop, nudge and requisition must have: the holder reads it.
void add_reason(CLI::App& app, CommonOptions& common, std::optional<Reason>& target);
std::optional<Error> missing_reason(const std::string& verb, const CommonOptions& common,
                                    const std::optional<Reason>& reason);

// Whole seconds written in decimal digits, within [least, most]; the Error is of kind Usage and speaks of `name`.
Result<Duration> parse_seconds(const std::string& name, const std::string& text, Duration least, Duration most);

// Whom a call is about: from the options, then from the environment; an owner is never invented.
Result<Subject> resolve_subject(const Context& context, const CommonOptions& common);

// Who the caller is by its environment; absent: it does not say.
std::optional<Result<Owner>> owner_of_environment(const Context& context);

// The same without a lock and an owner, for verbs that need neither.
Result<Subject> resolve_store(const Context& context, const CommonOptions& common);

}  // namespace hagi
