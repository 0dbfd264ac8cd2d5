#include "cmd/display_width.hpp"

#include <unistr.h>
#include <uniwidth.h>

#include <algorithm>

namespace hagi {
namespace {

struct Character {
    std::size_t bytes = 1;
    std::size_t columns = 1;
};

// Of a text that is not empty. What is no UTF-8 counts as one column a byte.
Character first_of(std::string_view text) {
    ucs4_t code_point = 0;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
    const int length = u8_mbtoucr(&code_point, bytes, text.size());
    if (length <= 0) return {};
    const int width = uc_width(code_point, "UTF-8");
    return {static_cast<std::size_t>(length), static_cast<std::size_t>(std::max(width, 0))};
}

// The longest beginning that fits, with the marks that belong to its last character.
std::string_view beginning(std::string_view text, std::size_t columns) {
    std::size_t taken = 0;
    for (std::size_t used = 0; taken < text.size();) {
        const Character next = first_of(text.substr(taken));
        used += next.columns;
        if (used > columns) break;
        taken += next.bytes;
    }
    return text.substr(0, taken);
}

}  // namespace

std::size_t columns_of(std::string_view text) {
    std::size_t columns = 0;
    while (!text.empty()) {
        const Character next = first_of(text);
        columns += next.columns;
        text.remove_prefix(next.bytes);
    }
    return columns;
}

std::string cut_to(std::string_view text, std::size_t columns) {
    if (columns_of(text) <= columns) return std::string(text);
    if (columns == 0) return "";
    return std::string(beginning(text, columns - 1)) + "\u2026";
}

std::string padded_to(std::string_view text, std::size_t columns, Align align) {
    const std::size_t width = columns_of(text);
    const std::string pad(columns > width ? columns - width : 0, ' ');
    return align == Align::Left ? std::string(text) + pad : pad + std::string(text);
}

}  // namespace hagi
