#include "cmd/chart.hpp"
#include "cmd/session.hpp"
#include "cmd/styled.hpp"
#include "cmd/timestamp.hpp"
#include "cmd/verb.hpp"

namespace hagi {
namespace {

constexpr std::int64_t kDefaultLines = 1000;
constexpr std::int64_t kMostLines = 1'000'000;
constexpr std::size_t kChartColumns = 120;  // where nobody looks at a terminal

struct Options {
    CommonOptions common;
    std::optional<std::string> prefix;
    std::optional<std::string> since;
    std::optional<std::int64_t> limit;
    bool follow = false;
    bool chart = false;
};

Result<LogQuery> query_for(Context& context, const Options& options) {
    LogQuery query;
    query.lock_id = options.common.lock_id;
    query.owner = options.common.owner;
    query.prefix = options.prefix.value_or("");
    query.limit = static_cast<std::size_t>(options.limit.value_or(kDefaultLines));
    if (!options.since) return query;
    query.since = parse_moment(*options.since, context.clock.read()->wall);
    if (!query.since)
        return Error{ErrorKind::Usage, "--since is a time such as 2026-11-30T06:20:11Z, or 45s, 30m, 2h, 7d, not \"" +
                                           escaped(*options.since) + "\": give one of these"};
    return query;
}

int follow(Session& session, LogQuery query) {
    const auto stop = session.context.listen_for_stop();
    const auto listener = session.engine->listen({}, {});
    while (!stop->requested()) {
        listener->arm();
        const auto events = session.engine->read_log(query);
        if (!events && code_for(events.error().kind) != ErrorCode::Transport) return session.fail(events.error());
        if (events) {
            for (const LoggedEvent& event : *events) session.report.log_line(event);
            if (!events->empty()) query.after = events->back().seq;
            query.limit = static_cast<std::size_t>(kMostLines);
        }
        listener->sleep(kWaiterPoll, stop->interrupts());
    }
    return kSuccess;
}

int draw(Session& session, const LogQuery& query) {
    const LockId& lock_id = *query.lock_id;
    auto events = session.engine->read_log(query);
    if (!events) return session.fail(events.error());
    const auto locks = session.engine->list({lock_id.str(), false});
    if (!locks) return session.fail(locks.error());
    History history{lock_id, *std::move(events), {}, locks->now, locks->wall_now};
    for (const LockView& lock : locks->locks)
        if (lock.lock_id == lock_id) history.current = lock;
    std::string text;
    const Colours colours = colours_for(session.context);
    for (const Line& line : chart(history, session.context.columns().value_or(kChartColumns)))
        text += styled(line, colours) + "\n";
    return session.report.text(text);
}

const char* unfit(const Options& options) {
    if (!options.chart) return nullptr;
    if (!options.common.lock_id && !options.common.invalid) return "--chart draws one lock: give --lock-id ID, too";
    if (options.common.owner || options.prefix)
        return "--chart draws a lock whole: give it without --owner and --prefix";
    if (options.follow || options.common.json) return "--chart is a picture: give it without --follow and --json";
    return nullptr;
}

Run prepare(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    add_checked(app, "--lock-id", options->common, options->common.lock_id, parse_lock_id, "only this lock");
    add_checked(app, "--owner", options->common, options->common.owner, parse_owner, "only what is by or about it");
    add_string(app, "--prefix", options->prefix, "only locks whose id begins with this");
    add_string(app, "--since", options->since, "RFC 3339, or 45s, 30m, 2h, 7d ago");
    add_count(app, "--limit", options->limit, 1, kMostLines, "the newest so many (default 1000)");
    add_flag(app, "--follow", options->follow, "go on with each new event, one a line, until stopped");
    add_store_options(app, options->common);
    add_flag(app, "--chart", options->chart, "with --lock-id: who held it when, as bars");
    return [options](Context& context) {
        if (const char* problem = unfit(*options))
            return Report(context, options->common.form()).failure({}, {ErrorCode::Usage, problem, {}});
        const auto query = query_for(context, *options);
        if (!query) return Report(context, options->common.form()).failure({}, failure_for(query.error()));
        return with_session(context, options->common, About::Store, StoreUse::ReadOnly, [&](Session& session) {
            if (options->follow) return follow(session, *query);
            if (options->chart) return draw(session, *query);
            const auto events = session.engine->read_log(*query);
            return events ? session.report.log(*events) : session.fail(events.error());
        });
    };
}

}  // namespace

const Verb kLogVerb = {
    "log",
    "the audit trail: every grant, hand-off, loss and order",
    "hagi agent lock log --lock-id eu-1/duckov --since 2h\n"
    "hagi agent lock log --lock-id eu-1/duckov --chart\n"
    "Newest last. A lapse is written by the next command on its lock, so the newest may not be here yet; list shows "
    "them.",
    prepare,
};

}  // namespace hagi
