#include "cmd/lock_table.hpp"
#include "cmd/session.hpp"
#include "cmd/styled.hpp"
#include "cmd/verb.hpp"
#include "cmd/watch_locks.hpp"

namespace hagi {
namespace {

struct Options {
    CommonOptions common;
    std::optional<std::string> prefix;
    std::optional<ListFormat> format;
    ListTerms terms;
    bool watch = false;

    // Once parsed.
    void settle() {
        if (format == ListFormat::Json) common.json = true;
        terms.format = common.json ? ListFormat::Json : format.value_or(ListFormat::Table);
        terms.query.prefix = prefix.value_or("");
        if (watch) common.busy_timeout = common.busy_timeout.value_or(kWatcherBusyTimeout);
    }
};

void add_format(CLI::App& app, std::optional<ListFormat>& target) {
    const auto take = [&target](const std::string& word) {
        target = word == "tsv" ? ListFormat::Tsv : word == "json" ? ListFormat::Json : ListFormat::Table;
    };
    add_choice(app, "--format", {"table", "json", "tsv"}, take, "table (default), json, or tsv with every field");
}

void add_sort(CLI::App& app, SortBy& target) {
    const auto take = [&target](const std::string& word) { target = *sort_by_from(word); };
    add_choice(app, "--sort", {"lock", "holder", "phase", "held", "age", "left", "queue"}, take,
               "by lock (default), holder, phase, held, age, left or queue");
}

std::string table(const Session& session, const ListAnswer& answer, const Rows& rows) {
    if (rows.empty()) return "no lock is held or waited for\n";
    const auto columns = session.context.columns();
    const Colours colours = colours_for(session.context);
    std::string text;
    for (const Line& line : lock_table(answer, rows, session.subject.stuck_after, columns))
        text += styled(line, colours) + "\n";
    return text;
}

int tell(Session& session, const ListTerms& terms, const ListAnswer& answer) {
    if (terms.format == ListFormat::Json) return session.report.list(session.subject, answer);
    const Rows rows = arranged(answer, terms.arrangement, session.subject.stuck_after);
    if (terms.format == ListFormat::Table) return session.report.text(table(session, answer, rows));
    std::string text = tsv_heading();
    for (const LockView* lock : rows) text += tsv_line(answer, *lock, session.subject.stuck_after);
    return session.report.text(text);
}

int list(Session& session, const Options& options) {
    if (options.watch) return watch_locks(session, options.terms);
    const auto answer = session.engine->list(options.terms.query);
    return answer ? tell(session, options.terms, *answer) : session.fail(answer.error());
}

Run prepare(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    ListTerms& terms = options->terms;
    add_string(app, "--prefix", options->prefix, "only locks whose id begins with this");
    add_flag(app, "--all", terms.query.idle_too, "also locks that are idle");
    add_sort(app, terms.arrangement.order);
    add_flag(app, "--watch", options->watch, "live on a terminal, else a line for each change; until stopped");
    add_stuck_option(app, options->common);
    add_store_options(app, options->common);
    add_format(app, options->format);
    return [options](Context& context) {
        const bool contradict = options->common.json && options->format.value_or(ListFormat::Json) != ListFormat::Json;
        options->settle();
        if (contradict)
            return Report(context, Form::Json)
                .failure({}, {ErrorCode::Usage, "--json and --format contradict each other: give one of them", {}});
        return with_session(context, options->common, About::Store, StoreUse::ReadOnly,
                            [&](Session& session) { return list(session, *options); });
    };
}

}  // namespace

const Verb kListVerb = {
    "list",
    "who holds what, and who waits; changes nothing, needs no owner",
    "hagi agent lock list --prefix eu-1/ --sort left\n"
    "HELD is the time since the grant, AGE since the last heartbeat, LEFT until it lapses unless renewed. On a "
    "terminal\n"
    "the table fits it; elsewhere nothing is cut, and an empty cell is \"-\". --watch: q ends it, s sorts, r "
    "reverses,\n"
    "/ filters, a shows idle locks, too.",
    prepare,
};

}  // namespace hagi
