// What to type instead of words that name no verb or no option of one: messages of usage errors, which end in what
// can be pasted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cmd/verb.hpp"

namespace CLI {
class ParseError;
}

namespace hagi {

// `words[at]` is neither part of `agent lock` in its place nor a verb behind it.
std::string correct_command(const std::vector<std::string>& words, std::size_t at,
                            const std::vector<const Verb*>& verbs);

// `app`, which has the name of its command, did not expect `remaining`, which is not empty.
std::string correct_option(const CLI::App& app, const std::vector<std::string>& remaining);

// A command to run that is not, or not all, behind `--` in `words`: there its options could be taken for this
// program's, and the other way round. Absent where it is in its place, or `app` takes none.
std::optional<std::string> misplaced_command(const CLI::App& app, const std::vector<std::string>& words);

// An option without its value, given twice, or with a value that it does not take, in the words of this program; absent
// for whatever else the parser may say.
std::optional<std::string> correct_value(const CLI::ParseError& error);

}  // namespace hagi
