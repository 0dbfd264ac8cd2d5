#include "cmd/session.hpp"

namespace hagi {

Result<Answer> Session::submit(decltype(Request::action) action, std::optional<Watcher> watcher) {
    auto answer = engine->submit(subject.lock_id, {subject.owner, std::move(action), binding, std::move(watcher)});
    subject.store = engine->describe();
    return answer;
}

int Session::ask(decltype(Request::action) action) { return ask_for(std::move(action), std::nullopt); }

int Session::ask_for(decltype(Request::action) action, const std::optional<Requirement>& requirement) {
    const auto answer = submit(std::move(action));
    return answer ? tell(*answer, requirement) : fail(answer.error());
}

int Session::tell(const Answer& answer, const std::optional<Requirement>& requirement) {
    if (answer.refusal) return report.failure(subject, failure_for(subject, answer));
    const int told = report.answer(subject, answer);
    if (!requirement || is_met(*requirement, answer.status)) return told;
    const bool lost = answer.status == Status::Expired || answer.status == Status::Requisitioned;
    return exit_code(lost ? ErrorCode::LockLost : ErrorCode::Conflict);
}

int Session::fail(const Error& error) { return report.failure(subject, failure_for(error)); }

Result<Session> open_session(Context& context, Subject subject, const EngineTerms& terms, StoreUse use, Report report) {
    auto engine = context.open_engine(terms, use);
    if (!engine) return engine.error();
    subject.store = (*engine)->describe();
    return Session{context, std::move(subject), *std::move(engine), std::move(report), std::nullopt};
}

int with_session(Context& context, const CommonOptions& common, About about, StoreUse use,
                 const std::function<int(Session&)>& verb) {
    Report report(context, common.form(), common.fields);
    auto subject = about == About::Lock ? resolve_subject(context, common) : resolve_store(context, common);
    if (!subject) return report.failure({}, failure_for(subject.error()));

    auto session =
        open_session(context, *subject, {common.store, common.busy_timeout.value_or(kBusyTimeout)}, use, report);
    return session ? verb(*session) : report.failure(*subject, failure_for(session.error()));
}

}  // namespace hagi
