#include <fmt/format.h>

#include "cmd/open_engine.hpp"
#include "cmd/session.hpp"
#include "cmd/verb.hpp"
#include "platform/lock_probe.hpp"

namespace hagi {
namespace {

constexpr std::int64_t kMostDays = 36'500;
constexpr std::int64_t kDefaultDays = 30;
constexpr Duration kProbeStays = 60s;

struct Options {
    CommonOptions common;
    bool convert = false;
    bool rebuild = false;
    bool probe = false;
    std::optional<std::string> rebuild_to;
    std::optional<std::int64_t> prune_days;

    [[nodiscard]] bool rebuilds() const { return rebuild || rebuild_to; }
    [[nodiscard]] int actions() const {
        return static_cast<int>(convert) + static_cast<int>(rebuilds()) + static_cast<int>(probe) +
               static_cast<int>(prune_days.has_value());
    }
};

struct Visit {
    Context& context;
    const Options& options;
    Subject subject;
    EngineTerms terms;
    Report report;

    int fail(const Error& error) { return report.failure(subject, failure_for(error)); }
};

std::string other_side(const LockProbe& probe) { return probe.other().empty() ? "the other side" : probe.other(); }

int locks_do_not_cross(Visit& visit, const LockProbe& probe) {
    return visit.fail({ErrorKind::Unusable, "the locks do NOT cross: " + other_side(probe) +
                                                " holds what could be had here, too: do not share a store here"});
}

// Stays until nobody needs its locks any more, which it cannot know: its user does.
int stay_for_the_other_side(Visit& visit, LockProbe& probe) {
    const auto stop = visit.context.listen_for_stop();
    visit.report.event(visit.subject,
                       {WatchEventKind::Started,
                        fmt::format("Holding locks for {} s: run the same command on the other machine now; what it "
                                    "says counts",
                                    kProbeStays.count() / 1000),
                        {},
                        {}});
    if (probe.stay(kProbeStays, stop->interrupts()) == LockProbe::Verdict::DoNotCross)
        return locks_do_not_cross(visit, probe);
    visit.report.event(visit.subject, {WatchEventKind::Stopped, "Gave the locks back", {}, {}});
    return kSuccess;
}

int probe_locks(Visit& visit) {
    const auto place = place_of_store(visit.terms, Access::Write, visit.context.environment);
    if (!place) return visit.fail(place.error());
    visit.subject.store.store = place->path;
    LockProbe probe(place->path + "-probe", place->mode);
    const auto verdict = probe.look();
    if (!verdict) return visit.fail(verdict.error());
    if (*verdict == LockProbe::Verdict::First) return stay_for_the_other_side(visit, probe);

    if (*verdict == LockProbe::Verdict::DoNotCross) return locks_do_not_cross(visit, probe);

    const char* const kind = probe.same_machine() ? ", on this very machine, which proves nothing about others" : "";
    visit.report.event(visit.subject, {WatchEventKind::Stopped,
                                       fmt::format("The locks cross: {} holds them, and they were refused here{}",
                                                   other_side(probe), kind),
                                       {},
                                       {}});
    return kSuccess;
}

int convert(Visit& visit, Upkeep& upkeep) {
    const auto converted = upkeep.convert_to_shared();
    return converted ? visit.report.conversion(visit.subject, *converted) : visit.fail(converted.error());
}

int rebuild(Visit& visit, Upkeep& upkeep) {
    const auto rebuilt = upkeep.rebuild(visit.options.rebuild_to);
    return rebuilt ? visit.report.rebuilding(*rebuilt) : visit.fail(rebuilt.error());
}

int prune(Visit& visit, Upkeep& upkeep) {
    const auto pruned = upkeep.prune_idle(std::chrono::hours{24 * *visit.options.prune_days});
    return pruned ? visit.report.pruning(visit.subject, *pruned) : visit.fail(pruned.error());
}

int examine(Visit& visit, Upkeep& upkeep) {
    const auto examined = upkeep.examine();
    return examined ? visit.report.examination(visit.subject, *examined) : visit.fail(examined.error());
}

int attend(Visit& visit) {
    const auto upkeep = open_upkeep(visit.terms, visit.context.environment);
    if (!upkeep) return visit.fail(upkeep.error());
    const auto place = place_of_store(visit.terms, Access::Read, visit.context.environment);
    if (place) visit.subject.store.store = place->path;
    if (visit.options.actions() == 0) return examine(visit, **upkeep);
    // Where there is no store there is nothing to mend, and the report says so.
    const bool missing = place ? !place->exists : place.error().kind == ErrorKind::NotFound;
    if (missing) return examine(visit, **upkeep);
    if (!place) return visit.fail(place.error());
    if (visit.options.convert) return convert(visit, **upkeep);
    if (visit.options.rebuilds()) return rebuild(visit, **upkeep);
    return prune(visit, **upkeep);
}

int run(Context& context, const Options& options) {
    Report report(context, options.common.form());
    if (options.actions() > 1)
        return report.failure({}, {ErrorCode::Usage,
                                   "--convert-to-shared, --rebuild, --prune-idle and --probe-lock go one at a time: "
                                   "give one of them",
                                   {}});
    auto subject = resolve_store(context, options.common);
    if (!subject) return report.failure({}, failure_for(subject.error()));
    const EngineTerms terms{options.common.store, options.common.busy_timeout.value_or(kBusyTimeout)};
    Visit visit{context, options, *std::move(subject), terms, report};
    return options.probe ? probe_locks(visit) : attend(visit);
}

Run prepare(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    add_flag(app, "--convert-to-shared", options->convert, "give the store the journal that hosts can share");
    add_flag(app, "--rebuild", options->rebuild, "copy what can be read of a damaged store into a new one");
    add_string(app, "--rebuild-to", options->rebuild_to, "where to (default: the store's name and .rebuilt)");
    add_days(app, "--prune-idle", options->prune_days, kDefaultDays, kMostDays,
             "forget free locks without an event in so many days (default 30)");
    add_flag(app, "--probe-lock", options->probe, "try out whether locks are seen from another machine, too");
    add_store_options(app, options->common);
    return [options](Context& context) { return run(context, *options); };
}

}  // namespace

const Verb kDoctorVerb = {
    "doctor",
    "examine the store; mend it where asked to",
    "hagi agent lock doctor\n"
    "Exit 0 when all is well, else by the worst problem: 50 damaged, 23 permissions, 30 unusable here, 60 busy.\n"
    "--convert-to-shared  before a store that was made on a local disk moves to a shared filesystem; or after.\n"
    "--rebuild            locks come back free and with greater epochs, nobody holds or waits; it prints the\n"
    "                     command that puts the new file in place. Nothing is overwritten.\n"
    "--probe-lock         run it on two machines within a minute, for a store on a filesystem that they share.",
    prepare,
};

}  // namespace hagi
