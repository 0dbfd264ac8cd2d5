// What a verb tells its caller, in the form that was asked for: text for people and agents, JSON for scripts.
// Verbs decide what to say; text.* and json.* hold how it looks.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cmd/context.hpp"
#include "cmd/exit_code.hpp"
#include "lockcore/answer.hpp"
#include "lockcore/event.hpp"
#include "lockcore/upkeep.hpp"

namespace hagi {

// Who reads what is said: next steps are shown as something that the reader can do.
enum class Reader {
    Shell,  // a command line that works when it is pasted
    Tools,  // a call of a tool of `hagi mcp`
};

// Whom and what an answer is about.
struct Subject {
    LockId lock_id;  // empty: no lock was named
    Owner owner;     // empty: no owner was named
    EngineDescription store;
    std::optional<std::string> store_option;  // --store as given, to be repeated in commands that can be pasted
    Duration stuck_after{};
    Reader reader = Reader::Shell;
};

// Why a command did not do what it was asked. `answer` is what the lock said, where it was asked.
struct Failure {
    ErrorCode code = ErrorCode::Unknown;
    std::string message;  // one line, without "hagi: "
    std::optional<Answer> answer;
};

Failure failure_for(const Error& error);

// A refusal as a sentence that can be acted on. `answer.refusal` is present.
Failure failure_for(const Subject& subject, const Answer& answer);

enum class WatchEventKind {
    Started,
    Beat,
    Queued,
    Holding,
    Unreachable,
    MayBeLost,
    Recovered,
    CapWarning,
    Warning,
    Stuck,
    Nudged,
    Lost,
    Dropped,
    Timeout,
    Stopped,
};

// One line of a watcher.
struct WatchEvent {
    WatchEventKind kind = WatchEventKind::Started;
    std::string message;
    std::optional<Answer> answer;    // what was last known
    std::optional<Failure> failure;  // of an event that ends the watcher with a failure
};

// Absent: all is well.
std::optional<ErrorKind> worst_trouble(const Examination& examination);

enum class Form {
    Text,
    Json,
    Quiet,   // only what went wrong, to stderr; not that it is another owner's turn
    Fields,  // of an answer; whatever else there is to say goes to stderr
};

// Ready to be written, since then nothing can be put together any more.
inline constexpr std::string_view kOutOfMemory =
    "hagi: out of memory: free some and repeat the command, which is safe\n";
inline constexpr std::string_view kOutOfMemoryJson =
    "{\"error\":{\"code\":\"TRANSPORT\",\"exitCode\":60,"
    "\"message\":\"out of memory: free some and repeat the command, which is safe\"}}\n";

class Report {
public:
    // `fields`: of Form::Fields, one a line.
    Report(Context& context, Form form, std::vector<std::string> fields = {})
        : context_(context), form_(form), fields_(std::move(fields)) {}

    // Each prints and returns the exit code of a command that ends with it.
    int answer(const Subject& subject, const Answer& answer);
    int list(const Subject& subject, const ListAnswer& answer);  // as JSON
    int text(const std::string& lines);                          // as it is
    int log(const std::vector<LoggedEvent>& events);
    void log_line(const LoggedEvent& event);  // of a log that is followed
    int failure(const Subject& subject, const Failure& given);
    int guide(std::string_view text);
    int out_of_memory() noexcept;

    // Of looking after the store. What was examined ends with the code of its worst finding.
    int examination(const Subject& subject, Examination examination);
    int conversion(const Subject& subject, Conversion conversion);
    int rebuilding(const Rebuilding& rebuilding);
    int pruning(const Subject& subject, const Pruning& pruning);

    // One line at once.
    void event(const Subject& subject, const WatchEvent& given);

private:
    void print(Output& output, const std::string& text);
    void tell_fields(const Subject& subject, const Answer& answer);

    Context& context_;
    Form form_;
    std::vector<std::string> fields_;
};

}  // namespace hagi
