#include "cmd/report.hpp"

#include <array>
#include <utility>

#include "cmd/json.hpp"
#include "cmd/text.hpp"
#include "lockcore/names.hpp"

namespace hagi {
namespace {

Failure with_store(const Subject& subject, const Failure& failure) {
    return {failure.code, text::with_store(subject, failure.message), failure.answer};
}

}  // namespace

Failure failure_for(const Error& error) { return {code_for(error.kind), error.message, std::nullopt}; }

Failure failure_for(const Subject& subject, const Answer& answer) {
    return {code_for(answer.refusal->code), text::refusal(subject, answer), answer};
}

// What loses grants first, what passes by itself last.
std::optional<ErrorKind> worst_trouble(const Examination& examination) {
    constexpr std::array kWorstFirst = {ErrorKind::Damaged, ErrorKind::PermissionDenied, ErrorKind::Unusable};
    std::optional<ErrorKind> other;
    for (const Finding& finding : examination.findings)
        if (finding.trouble) other = finding.trouble;
    for (const ErrorKind kind : kWorstFirst)
        for (const Finding& finding : examination.findings)
            if (finding.trouble == kind) return kind;
    return other;
}

void Report::print(Output& output, const std::string& text) {
    if (text.empty()) return;
    // What was done stays done: the exit code speaks of the lock, this line of the lost text.
    if (!output.write(text) && &output != &context_.err)
        context_.err.write("hagi: the answer could not be written: the command itself was carried out\n");
}

int Report::answer(const Subject& subject, const Answer& answer) {
    switch (form_) {
        case Form::Text: print(context_.out, text::answer(subject, answer)); break;
        case Form::Json: print(context_.out, json::answer(subject, answer)); break;
        case Form::Fields: tell_fields(subject, answer); break;
        case Form::Quiet: break;
    }
    return kSuccess;
}

// A forgotten mount must show, also to a script that asked for one number.
void Report::tell_fields(const Subject& subject, const Answer& answer) {
    if (subject.store.created) print(context_.err, "hagi: store created: " + escaped(subject.store.store) + "\n");
    print(context_.out, json::fields(subject, answer, fields_));
}

int Report::list(const Subject& subject, const ListAnswer& answer) {
    print(context_.out, json::list(subject, answer));
    return kSuccess;
}

int Report::text(const std::string& lines) {
    print(context_.out, lines);
    return kSuccess;
}

int Report::log(const std::vector<LoggedEvent>& events) {
    print(context_.out, form_ == Form::Json ? json::log(events) : text::log(events));
    return kSuccess;
}

void Report::log_line(const LoggedEvent& event) {
    context_.out.write(form_ == Form::Json ? json::log_line(event) : text::log({event}));
}

namespace {

// That it is somebody else's turn is an answer, for which the exit code is enough.
bool went_wrong(ErrorCode code) { return code != ErrorCode::Conflict && code != ErrorCode::WaitTimeout; }

}  // namespace

int Report::failure(const Subject& subject, const Failure& given) {
    const Failure failure = with_store(subject, given);
    if (form_ == Form::Json)
        print(context_.out, json::failure(subject, failure));
    else if (form_ != Form::Quiet || went_wrong(failure.code))
        print(context_.err, "hagi: " + failure.message + "\n");
    return exit_code(failure.code);
}

int Report::out_of_memory() noexcept {
    if (form_ == Form::Json)
        context_.out.write(kOutOfMemoryJson);
    else
        context_.err.write(kOutOfMemory);
    return exit_code(ErrorCode::Transport);
}

int Report::guide(std::string_view text) {
    print(context_.out, form_ == Form::Json ? json::guide(text) : std::string(text));
    return kSuccess;
}

int Report::examination(const Subject& subject, Examination examination) {
    for (Finding& finding : examination.findings) {
        finding.message = text::with_store(subject, finding.message);
        finding.fix = text::with_store(subject, finding.fix);
    }
    print(context_.out, form_ == Form::Json ? json::examination(examination) : text::examination(examination));
    const auto worst = worst_trouble(examination);
    return worst ? exit_code(code_for(*worst)) : kSuccess;
}

int Report::conversion(const Subject& subject, Conversion conversion) {
    print(context_.out,
          form_ == Form::Json ? json::conversion(subject, conversion) : text::conversion(subject, conversion));
    return kSuccess;
}

int Report::rebuilding(const Rebuilding& rebuilding) {
    print(context_.out, form_ == Form::Json ? json::rebuilding(rebuilding) : text::rebuilding(rebuilding));
    return kSuccess;
}

int Report::pruning(const Subject& subject, const Pruning& pruning) {
    print(context_.out, form_ == Form::Json ? json::pruning(subject, pruning) : text::pruning(subject, pruning));
    return kSuccess;
}

namespace {

// What goes as it should, or what the exit code says, too.
bool is_routine(const WatchEvent& event) {
    switch (event.kind) {
        case WatchEventKind::Started:
        case WatchEventKind::Beat:
        case WatchEventKind::Queued:
        case WatchEventKind::Holding:
        case WatchEventKind::Timeout:
        case WatchEventKind::Recovered: return true;
        default: return false;
    }
}

}  // namespace

void Report::event(const Subject& subject, const WatchEvent& given) {
    WatchEvent event = given;
    event.message = text::with_store(subject, event.message);
    if (event.failure) event.failure = with_store(subject, *event.failure);
    switch (form_) {
        case Form::Text: context_.out.write(event.message + "\n"); return;
        case Form::Json: context_.out.write(json::event(subject, event)); return;
        case Form::Quiet: break;
        case Form::Fields:
            if (event.kind == WatchEventKind::Holding) return tell_fields(subject, *event.answer);
            break;
    }
    if (form_ == Form::Fields || !is_routine(event)) context_.err.write(event.message + "\n");
}

}  // namespace hagi
