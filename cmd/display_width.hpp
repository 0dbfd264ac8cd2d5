// How wide a text is on a terminal: East Asian characters and emoji take two columns, combining marks none.
#pragma once

#include <string>
#include <string_view>

namespace hagi {

// `text` is UTF-8 without control characters, as escaped() makes it.
std::size_t columns_of(std::string_view text);

// At most `columns` wide; where something had to go, the last column is an ellipsis.
std::string cut_to(std::string_view text, std::size_t columns);

// Exactly `columns` wide where the text is not wider already.
enum class Align { Left, Right };
std::string padded_to(std::string_view text, std::size_t columns, Align align);

}  // namespace hagi
