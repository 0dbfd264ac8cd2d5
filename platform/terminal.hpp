// What a person looks at, if anybody does.
#pragma once

#include <optional>

namespace hagi {

bool is_terminal(int fd);

// In columns; absent where it is no terminal or does not know.
std::optional<int> terminal_width(int fd);

}  // namespace hagi
