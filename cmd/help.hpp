// What the program says of itself.
#pragma once

#include <string>
#include <vector>

#include "cmd/verb.hpp"

namespace hagi {

// Of `hagi`, `hagi agent` and `hagi agent lock`: every verb, and one turn as an example.
std::string overview(const std::vector<const Verb*>& verbs);

// Of one verb: what it is for, and its example. Its options are what `--help` is for.
std::string short_usage(const Verb& verb);

// Makes `--help` of a verb's App: its options in lines that a terminal does not break, and its example.
void shape_help(CLI::App& app, const Verb& verb);

}  // namespace hagi
