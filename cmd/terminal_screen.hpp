// The real screen: a terminal.
#pragma once

#include <memory>
#include <string_view>

#include "cmd/screen.hpp"
#include "cmd/styled.hpp"

namespace hagi {

// The keys behind what a terminal sends; what is none is left out.
std::vector<Key> keys_from(std::string_view bytes);

// Takes the terminal behind standard input and output.
std::unique_ptr<Screen> take_terminal(Colours colours);

}  // namespace hagi
