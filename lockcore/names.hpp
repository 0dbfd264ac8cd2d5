// The rules that names and texts of a user must meet (README.md, "Names and texts").
// Each parser returns the value, or InvalidArgument with one line that names the rule that was broken.
#pragma once

#include <string>
#include <string_view>

#include "lockcore/result.hpp"
#include "lockcore/types.hpp"

namespace hagi {

Result<LockId> parse_lock_id(std::string_view text);

// `server` and `game` are one segment each; the lock id is "server/game".
Result<LockId> parse_address(std::string_view server, std::string_view game);

Result<Owner> parse_owner(std::string_view text);
Result<Label> parse_label(std::string_view text);
Result<Note> parse_note(std::string_view text);
Result<Phase> parse_phase(std::string_view text);
Result<Reason> parse_reason(std::string_view text);

// `text` with everything that a terminal or a reader could obey made visible: control characters,
// bidirectional controls and bytes that are no UTF-8 become \n, \t, \x1b or \u202e. A backslash is doubled,
// so that the result says exactly what was there.
std::string escaped(std::string_view text);

}  // namespace hagi
