// Words of a command line that is shown to be pasted into a shell.
#pragma once

#include <string>

namespace hagi {

// In single quotes unless every byte means itself to a shell. A word that a terminal would obey (a path with an escape
// or a line break in it) is printed anew by the shell; then a line break at its very end is lost.
std::string shell_word(const std::string& word);

}  // namespace hagi
