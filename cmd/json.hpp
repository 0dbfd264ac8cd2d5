// Answers, failures and events for scripts: the one place for the shape of JSON. Fields are only ever added.
#pragma once

#include <string>

#include "cmd/report.hpp"

namespace hagi::json {

// One document on one line, with its newline.
std::string answer(const Subject& subject, const Answer& answer);

// Only the values of the named fields (is_answer_field), one a line; an empty line for one that this answer lacks.
std::string fields(const Subject& subject, const Answer& answer, const std::vector<std::string>& names);

std::string list(const Subject& subject, const ListAnswer& answer);
std::string list_event(const Subject& subject, const ListAnswer& answer);  // of who follows the list
std::string log(const std::vector<LoggedEvent>& events);
std::string log_line(const LoggedEvent& event);
std::string examination(const Examination& examination);
std::string conversion(const Subject& subject, Conversion conversion);
std::string rebuilding(const Rebuilding& rebuilding);
std::string pruning(const Subject& subject, const Pruning& pruning);
std::string failure(const Subject& subject, const Failure& failure);
std::string guide(std::string_view text);
std::string event(const Subject& subject, const WatchEvent& event);

}  // namespace hagi::json
