#include "cmd/await_grant.hpp"
#include "cmd/verb.hpp"

namespace hagi {
namespace {

struct Options {
    CommonOptions common;
    std::optional<Duration> wait;
    std::optional<Requirement> requirement;
};

int tell_standing(Session& session, const Options& options) {
    const auto satisfied = [&](const Answer& answer) {
        return options.requirement && is_met(*options.requirement, answer.status);
    };
    const Duration at_most = std::min<Duration>(options.wait.value_or(0s), kLongPollCap);
    if (at_most == Duration::zero()) return session.ask_for(StatusRequest{}, options.requirement);
    const auto answer = await_change(session, at_most, satisfied);
    if (!answer) return session.fail(answer.error());
    return session.tell(*answer, options.requirement);
}

Run prepare(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    add_address_options(app, options->common);
    add_seconds(app, "--wait-seconds", options->wait, 0s, kMaxWaitTimeout,
                "return when something changes, or after so long (more than 25 is taken as 25)");
    add_requirement(app, options->requirement);
    add_stuck_option(app, options->common);
    add_store_options(app, options->common);
    add_answer_options(app, options->common);
    return [options](Context& context) {
        return with_session(context, options->common, About::Lock, StoreUse::Change,
                            [&](Session& session) { return tell_standing(session, *options); });
    };
}

}  // namespace

const Verb kStatusVerb = {
    "status",
    "where you stand; keeps a place in the queue alive",
    "hagi agent lock status --lock-id eu-1/duckov --owner sess-7f2c --require Holding && ./deploy\n"
    "Holding, Queued, Expired, Requisitioned or None; exit 0 for each of them without --require.",
    prepare,
};

}  // namespace hagi
