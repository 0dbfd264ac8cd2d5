#include "cmd/options.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <charconv>
#include <limits>

#include "cmd/answer_field.hpp"

namespace hagi {
namespace {

Error usage(std::string message) { return {ErrorKind::Usage, std::move(message)}; }

std::optional<std::int64_t> parse_digits(const std::string& text) {
    std::int64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (text.empty() || error != std::errc() || stop != end || text[0] == '-') return std::nullopt;
    return number;
}

std::int64_t seconds(Duration length) { return std::chrono::floor<std::chrono::seconds>(length).count(); }

// Of an option that has no value: whether it was given one that breaks its rules.
bool is_given(const CommonOptions& common, const std::string& name) {
    return std::find(common.invalid_names.begin(), common.invalid_names.end(), name) != common.invalid_names.end();
}

Result<LockId> resolve_lock_id(const CommonOptions& common) {
    const bool by_address = common.server || common.game;
    if (common.lock_id && by_address)
        return usage("--lock-id and --server/--game both name the lock: give one of them");
    if (common.lock_id) return *common.lock_id;
    if (!by_address) return usage("no lock is named: give --lock-id ID, or --server S --game G");
    if (!common.server || !common.game) return usage("half an address: --server and --game go together");
    return parse_address(*common.server, *common.game);
}

Result<Owner> resolve_owner(const Context& context, const CommonOptions& common) {
    if (common.owner) return *common.owner;
    if (const auto inherited = owner_of_environment(context)) return *inherited;
    return usage("no owner: give --owner ID, your own session id, or set HAGI_LOCK_OWNER or HAGI_SESSION_ID");
}

Result<Duration> resolve_stuck_after(const Context& context, const CommonOptions& common) {
    if (common.stuck_after) return *common.stuck_after;
    if (const auto value = context.environment("HAGI_LOCK_STUCK_AFTER"))
        return parse_seconds("HAGI_LOCK_STUCK_AFTER", *value, 1s, kMaxWaitTimeout);
    return Duration{kStuckAfter};
}

}  // namespace

Result<Duration> parse_seconds(const std::string& name, const std::string& text, Duration least, Duration most) {
    const auto number = parse_digits(text);
    if (number && seconds(least) <= *number && *number <= seconds(most)) return Duration{std::chrono::seconds{*number}};
    return usage(fmt::format("{} is whole seconds from {} to {}, not \"{}\": give such a number", name, seconds(least),
                             seconds(most), escaped(text)));
}

void note_invalid(CommonOptions& common, const std::string& name, const Error& error) {
    common.invalid_names.push_back(name);
    if (!common.invalid) common.invalid = error;
}

void add_flag(CLI::App& app, const std::string& name, bool& target, const std::string& help) {
    app.add_flag(name, target, help);
}

void add_command(CLI::App& app, std::vector<std::string>& target, const std::string& help) {
    app.add_option("command", target, help);
}

void add_text(CLI::App& app, const std::string& name, const std::function<void(const std::string&)>& take,
              const std::string& help) {
    app.add_option_function<std::string>(name, take, help)->type_name("TEXT");
}

namespace {

// "table, json or tsv"
std::string listed(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) {
        if (!text.empty()) text += word == words.back() ? " or " : ", ";
        text += word;
    }
    return text;
}

}  // namespace

void add_choice(CLI::App& app, const std::string& name, std::vector<std::string> words,
                std::function<void(const std::string&)> take, const std::string& help) {
    const auto check = [name, words = std::move(words), take = std::move(take)](const std::string& text) {
        if (std::find(words.begin(), words.end(), text) == words.end())
            throw CLI::ValidationError(
                fmt::format("{} is {}, not \"{}\": give one of these", name, listed(words), escaped(text)));
        take(text);
    };
    app.add_option_function<std::string>(name, check, help)->type_name("WORD");
}

void add_string(CLI::App& app, const std::string& name, std::optional<std::string>& target, const std::string& help) {
    app.add_option_function<std::string>(
           name, [&target](const std::string& text) { target = text; }, help)
        ->type_name("TEXT");
}

void add_seconds(CLI::App& app, const std::string& name, std::optional<Duration>& target, Duration least, Duration most,
                 const std::string& help) {
    const auto take = [&target, name, least, most](const std::string& text) {
        const auto value = parse_seconds(name, text, least, most);
        if (!value) throw CLI::ValidationError(value.error().message);
        target = *value;
    };
    app.add_option_function<std::string>(name, take, help)->type_name("SECONDS");
}

void add_count(CLI::App& app, const std::string& name, std::optional<std::int64_t>& target, std::int64_t least,
               std::int64_t most, const std::string& help) {
    const auto take = [&target, name, least, most](const std::string& text) {
        const auto number = parse_digits(text);
        if (!number || *number < least || most < *number)
            throw CLI::ValidationError(fmt::format("{} is a whole number from {} to {}, not \"{}\": give such a number",
                                                   name, least, most, escaped(text)));
        target = *number;
    };
    app.add_option_function<std::string>(name, take, help)->type_name("N");
}

void add_days(CLI::App& app, const std::string& name, std::optional<std::int64_t>& target, std::int64_t when_bare,
              std::int64_t most, const std::string& help) {
    add_count(app, name, target, 0, most, help);
    app.get_option(name)->expected(0, 1)->default_str(std::to_string(when_bare))->type_name("DAYS");
}

void add_epoch(CLI::App& app, std::optional<Epoch>& target, const std::string& help) {
    const auto take = [&target](const std::string& text) {
        const auto number = parse_digits(text);
        if (!number || *number == 0)
            throw CLI::ValidationError("--epoch is a whole number from 1, not \"" + escaped(text) +
                                       "\": give the epoch of the grant");
        target = Epoch{*number};
    };
    app.add_option_function<std::string>("--epoch", take, help)->type_name("N");
}

void add_process(CLI::App& app, const std::string& name, std::optional<int>& target, const std::string& help) {
    const auto take = [&target, name](const std::string& text) {
        const auto number = parse_digits(text);
        if (!number || *number == 0 || *number > std::numeric_limits<int>::max())
            throw CLI::ValidationError(name + " is a process id, not \"" + escaped(text) + "\": give a whole number");
        target = static_cast<int>(*number);
    };
    app.add_option_function<std::string>(name, take, help)->type_name("PID");
}

void add_requirement(CLI::App& app, std::optional<Requirement>& target) {
    const auto take = [&target](const std::string& text) {
        Requirement requirement;
        for (std::string_view rest = text;;) {
            const std::size_t comma = rest.find(',');
            const std::string_view word = rest.substr(0, comma);
            if (word == "Holding")
                requirement.holding = true;
            else if (word == "Queued")
                requirement.queued = true;
            else
                throw CLI::ValidationError("--require is Holding or Holding,Queued, not \"" + escaped(text) + "\"");
            if (comma == std::string_view::npos) break;
            rest.remove_prefix(comma + 1);
        }
        target = requirement;
    };
    app.add_option_function<std::string>("--require", take,
                                         "Holding, or Holding,Queued: exit 29 or 32 when you stand otherwise")
        ->type_name("LIST");
}

bool is_met(const Requirement& requirement, Status status) {
    return (requirement.holding && status == Status::Holding) || (requirement.queued && status == Status::Queued);
}

void add_address_options(CLI::App& app, CommonOptions& common) {
    add_checked(app, "--lock-id", common, common.lock_id, parse_lock_id, "the lock, e.g. eu-1/duckov");
    add_string(app, "--server", common.server, "with --game: the lock SERVER/GAME");
    add_string(app, "--game", common.game, "with --server: the lock SERVER/GAME");
    add_checked(app, "--owner", common, common.owner, parse_owner,
                "your own session id; else HAGI_LOCK_OWNER, else HAGI_SESSION_ID");
}

void add_store_options(CLI::App& app, CommonOptions& common) {
    app.add_flag("--json", common.json, "one JSON document instead of text");
    add_string(app, "--store", common.store,
               "the store's file; else HAGI_LOCK_STORE, else $XDG_STATE_HOME/hagi/locks.db");
    add_seconds(app, "--busy-timeout", common.busy_timeout, 0s, kMaxBusyTimeout,
                "how long to wait for a busy store (default 5)");
}

namespace {

std::vector<std::string> parse_fields(const std::string& text) {
    std::vector<std::string> fields;
    for (std::string_view rest = text;;) {
        const std::size_t comma = rest.find(',');
        fields.emplace_back(rest.substr(0, comma));
        if (!is_answer_field(fields.back()))
            throw CLI::ValidationError("--print knows no field \"" + escaped(fields.back()) +
                                       "\": give one of the answer's in --json, e.g. status, epoch, position, "
                                       "windows.validUntil");
        if (comma == std::string_view::npos) return fields;
        rest.remove_prefix(comma + 1);
    }
}

}  // namespace

void add_quiet_option(CLI::App& app, CommonOptions& common, const std::string& help) {
    app.add_flag("--quiet", common.quiet, help);
}

void add_answer_options(CLI::App& app, CommonOptions& common) {
    add_quiet_option(app, common, "print nothing but what went wrong: the exit code says the rest, 29 and 31, too");
    const auto take = [&common](const std::string& text) { common.fields = parse_fields(text); };
    app.add_option_function<std::string>(
           "--print", take, "only these fields of the answer in JSON, one a line; empty where there is none")
        ->type_name("FIELD[,FIELD]");
}

void add_reason(CLI::App& app, CommonOptions& common, std::optional<Reason>& target) {
    add_checked(app, "--reason", common, target, parse_reason, "why, in words that the holder reads (required)");
}

std::optional<Error> missing_reason(const std::string& verb, const CommonOptions& common,
                                    const std::optional<Reason>& reason) {
    if (reason || is_given(common, "--reason")) return std::nullopt;
    return usage(verb + " needs --reason TEXT: say why, in words that the holder reads");
}

void add_stuck_option(CLI::App& app, CommonOptions& common) {
    add_seconds(app, "--stuck-after", common.stuck_after, 1s, kMaxWaitTimeout,
                "a phase unchanged for this long is shown as stuck; else HAGI_LOCK_STUCK_AFTER (default 1800)");
}

std::optional<Result<Owner>> owner_of_environment(const Context& context) {
    for (const char* name : {"HAGI_LOCK_OWNER", "HAGI_SESSION_ID"})
        if (const auto value = context.environment(name)) return parse_owner(*value);
    return std::nullopt;
}

Result<Subject> resolve_store(const Context& context, const CommonOptions& common) {
    if (static_cast<int>(common.json) + static_cast<int>(common.quiet) + static_cast<int>(!common.fields.empty()) > 1)
        return usage("--json, --quiet and --print contradict each other: give one of them");
    const auto stuck_after = resolve_stuck_after(context, common);
    if (!stuck_after) return stuck_after.error();
    if (common.invalid) return *common.invalid;
    Subject subject;
    subject.store_option = common.store;
    subject.stuck_after = *stuck_after;
    return subject;
}

Result<Subject> resolve_subject(const Context& context, const CommonOptions& common) {
    // Usage errors come first, whatever else is wrong; an invalid text was at least given.
    const auto lock_id = resolve_lock_id(common);
    const auto owner = resolve_owner(context, common);
    const auto is_usage = [&](const auto& result) { return !result && result.error().kind == ErrorKind::Usage; };
    if (is_usage(lock_id) && !is_given(common, "--lock-id")) return lock_id.error();
    if (is_usage(owner) && !is_given(common, "--owner")) return owner.error();

    auto subject = resolve_store(context, common);
    if (!subject) return subject;
    if (!lock_id) return lock_id.error();
    if (!owner) return owner.error();
    subject->lock_id = *lock_id;
    subject->owner = *owner;
    return subject;
}

}  // namespace hagi
