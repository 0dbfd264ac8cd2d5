#include "cmd/report.hpp"

#include <utility>

#include "cmd/json.hpp"
#include "cmd/text.hpp"

namespace hagi {

Failure failure_for(const Error& error) { return {code_for(error.kind), error.message, std::nullopt}; }

Failure failure_for(const Subject& subject, const Answer& answer) {
    return {code_for(answer.refusal->code), text::refusal(subject, answer), answer};
}

void Report::print(Output& output, const std::string& text) {
    // What was done stays done: the exit code speaks of the lock, this line of the lost text.
    if (!output.write(text) && &output != &context_.err)
        context_.err.write("hagi: the answer could not be written: the command itself was carried out\n");
}

int Report::answer(const Subject& subject, const Answer& answer) {
    print(context_.out, form_ == Form::Json ? json::answer(subject, answer) : text::answer(subject, answer));
    return kSuccess;
}

int Report::list(const Subject& subject, const ListAnswer& answer) {
    print(context_.out, form_ == Form::Json ? json::list(subject, answer) : text::list(subject, answer));
    return kSuccess;
}

int Report::log(const std::vector<LoggedEvent>& events) {
    print(context_.out, form_ == Form::Json ? json::log(events) : text::log(events));
    return kSuccess;
}

void Report::log_line(const LoggedEvent& event) {
    context_.out.write(form_ == Form::Json ? json::log_line(event) : text::log({event}));
}

int Report::failure(const Subject& subject, const Failure& failure) {
    if (form_ == Form::Json)
        print(context_.out, json::failure(subject, failure));
    else
        print(context_.err, "hagi: " + failure.message + "\n");
    return exit_code(failure.code);
}

void Report::event(const Subject& subject, const WatchEvent& event) {
    context_.out.write(form_ == Form::Json ? json::event(subject, event) : event.message + "\n");
}

}  // namespace hagi
