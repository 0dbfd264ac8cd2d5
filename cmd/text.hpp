// Answers, refusals and events for people and agents: the one place for their wording. Whatever another caller
// wrote is shown escaped.
#pragma once

#include <string>
#include <string_view>

#include "cmd/report.hpp"

namespace hagi::text {

// Complete lines, each with its newline.
std::string answer(const Subject& subject, const Answer& answer);

// One lock of a list as of a moment, for who follows it.
std::string lock(const Subject& subject, const ListAnswer& answer, const LockView& lock);

std::string log(const std::vector<LoggedEvent>& events);

std::string examination(const Examination& examination);
std::string conversion(const Subject& subject, Conversion conversion);
std::string rebuilding(const Rebuilding& rebuilding);
std::string pruning(const Subject& subject, const Pruning& pruning);

// A command line that puts a rebuilt store in the place of the old one, which it keeps.
std::string put_in_place(const Rebuilding& rebuilding);

// Sentences: one line, without its newline.
std::string queued(const Subject& subject, const Answer& answer);
std::string waiting(const Subject& subject,
                    const Answer& answer);  // the same from a watcher, which is not needed twice
std::string holding(const Subject& subject, const Answer& answer);
std::string refusal(const Subject& subject, const Answer& answer);

// Why a watcher lost what it watched: `cause` is what cause_for_watcher says.
std::string lost_grant(const Subject& subject, const Answer& answer, Epoch epoch, Cause cause);
std::string lost_place(const Subject& subject, const Answer& answer, Cause cause);

// The timeout of a waiting caller; its place was left or kept, as `answer` says.
std::string timed_out(const Subject& subject, const Answer& answer, Duration timeout);

// Warnings: somebody else uses the caller's owner id, too.
std::string another_watcher(const Subject& subject, const Answer& answer, const Watcher& watcher);
std::string another_waiter(const Subject& subject, const ProcessIdentity& process);

// What the holder is asked.
std::string nudge(const Answer& answer, const Nudge& nudge);
std::string nudge(const ListAnswer& answer, const Nudge& nudge);

// That the phase has not changed for so long.
std::string stuck(const Hold& hold, Duration unchanged);

// What the reader can do next: a command line that works when it is pasted into a shell, or a tool with its arguments.
// With an epoch it is about that grant only.
std::string command(const Subject& subject, std::string_view verb, std::optional<Epoch> epoch = {});

// An engine names commands in backquotes without knowing how its store was named: here they get the option that
// makes them work.
std::string with_store(const Subject& subject, const std::string& message);

// The wall-clock time at `at`, to the second.
std::string time(const Answer& answer, Instant at);

}  // namespace hagi::text
