// The command line: which verb is meant, and what its words say. Every error of parsing ends as exit 2, in one line;
// whatever else was thrown ends here, too.
#pragma once

#include <string>
#include <vector>

#include "cmd/context.hpp"
#include "cmd/report.hpp"

namespace hagi {

// The form in which the command with these words is to answer, whatever else is wrong with them.
Form form_of(const std::vector<std::string>& words);

// `words`: the arguments after the program's name. Returns the exit code.
int run_cli(Context& context, const std::vector<std::string>& words);

}  // namespace hagi
