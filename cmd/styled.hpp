// Lines for a terminal with colours, or for whatever else there is.
#pragma once

#include <string>
#include <vector>

#include "cmd/context.hpp"
#include "cmd/screen.hpp"

namespace hagi {

enum class Colours { None, Few };

// None unless a person looks at a terminal that has some, and never with NO_COLOR.
Colours colours_for(const Context& context);

// The line without its newline.
std::string styled(const Line& line, Colours colours);

}  // namespace hagi
