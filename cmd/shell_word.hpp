// Words of a command line that is shown to be pasted into a shell.
#pragma once

#include <string>

namespace hagi {

// In single quotes unless every byte means itself to a shell.
std::string shell_word(const std::string& word);

}  // namespace hagi
