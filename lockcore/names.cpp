#include "lockcore/names.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "lockcore/limits.hpp"

namespace hagi {
namespace {

Error invalid(std::string_view what, std::string_view rule) {
    return {ErrorKind::InvalidArgument, std::string(what) + ": " + std::string(rule)};
}

bool is_name_byte(char c) {
    const bool alphanumeric = ('A' <= c && c <= 'Z') || ('a' <= c && c <= 'z') || ('0' <= c && c <= '9');
    return alphanumeric || std::string_view("._:@+-").find(c) != std::string_view::npos;
}

// ---- Segments ----

std::optional<Error> broken_segment(std::string_view what, std::string_view segment) {
    if (segment.empty()) return invalid(what, "a segment between slashes is empty: give it a name");
    if (segment.size() > kMaxSegmentBytes) return invalid(what, "a segment is longer than 100 bytes: shorten it");
    if (segment == "." || segment == "..") return invalid(what, "a segment must not be \".\" or \"..\": rename it");
    for (const char c : segment)
        if (!is_name_byte(c)) return invalid(what, "use only A-Z a-z 0-9 . _ : @ + - in segments joined by /");
    return std::nullopt;
}

std::optional<Error> broken_path(std::string_view what, std::string_view path, std::size_t max_bytes) {
    if (path.empty()) return invalid(what, "it is empty: give 1 to " + std::to_string(max_bytes) + " bytes");
    if (path.size() > max_bytes)
        return invalid(what, "it is longer than " + std::to_string(max_bytes) + " bytes: shorten it");
    for (std::string_view rest = path;;) {
        const std::size_t slash = rest.find('/');
        if (auto broken = broken_segment(what, rest.substr(0, slash))) return broken;
        if (slash == std::string_view::npos) return std::nullopt;
        rest.remove_prefix(slash + 1);
    }
}

// ---- UTF-8 ----

struct CodePoint {
    std::uint32_t value = 0;
    std::size_t bytes = 0;  // 0: the text does not go on with valid UTF-8
};

// RFC 3629: shortest form only, no surrogates, nothing above U+10FFFF.
CodePoint first_code_point(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) return {lead, 1};

    const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
    std::uint32_t value = lead & (0x7fU >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xc0U) != 0x80U) return {};
        value = (value << 6U) | (byte(i) & 0x3fU);
    }
    constexpr std::array<std::uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = 0xd800 <= value && value <= 0xdfff;
    if (value < kSmallest[bytes] || surrogate || value > 0x10ffff) return {};
    return {value, bytes};
}

// What a terminal obeys or what reorders the text around it.
bool is_control(std::uint32_t code_point) {
    const auto within = [&](std::uint32_t first, std::uint32_t last) {
        return first <= code_point && code_point <= last;
    };
    return within(0x00, 0x1f) || within(0x7f, 0x9f) || within(0x202a, 0x202e) || within(0x2066, 0x2069);
}

// Unicode's white space that is no control character.
bool is_space(std::uint32_t code_point) {
    constexpr std::array<std::uint32_t, 8> kSpaces = {0x20, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000};
    const bool listed = std::find(kSpaces.begin(), kSpaces.end(), code_point) != kSpaces.end();
    return listed || (0x2000 <= code_point && code_point <= 0x200a);
}

bool is_blank(std::string_view text) {
    while (!text.empty()) {
        const CodePoint next = first_code_point(text);
        if (next.bytes == 0 || !is_space(next.value)) return false;
        text.remove_prefix(next.bytes);
    }
    return true;
}

std::optional<Error> broken_text(std::string_view what, std::string_view text) {
    std::size_t characters = 0;
    for (std::string_view rest = text; !rest.empty(); ++characters) {
        const CodePoint next = first_code_point(rest);
        if (next.bytes == 0) return invalid(what, "it is not valid UTF-8: write it in UTF-8");
        if (is_control(next.value))
            return invalid(what, "it has a control character (a line break, an escape): leave it out");
        rest.remove_prefix(next.bytes);
    }
    if (characters > kMaxTextCharacters)
        return invalid(what, "it is longer than " + std::to_string(kMaxTextCharacters) + " characters: shorten it");
    return std::nullopt;
}

std::string hexadecimal(std::uint32_t value, int digits) {
    std::string text(static_cast<std::size_t>(digits), '0');
    for (auto digit = text.rbegin(); digit != text.rend(); ++digit, value >>= 4U)
        *digit = "0123456789abcdef"[value & 0xfU];
    return text;
}

std::string escaped_control(std::uint32_t code_point) {
    if (code_point == '\n') return "\\n";
    if (code_point == '\r') return "\\r";
    if (code_point == '\t') return "\\t";
    return code_point > 0xff ? "\\u" + hexadecimal(code_point, 4) : "\\x" + hexadecimal(code_point, 2);
}

}  // namespace

Result<LockId> parse_lock_id(std::string_view text) {
    if (auto broken = broken_path("the lock id", text, kMaxLockIdBytes)) return *broken;
    return LockId(std::string(text));
}

Result<LockId> parse_address(std::string_view server, std::string_view game) {
    if (auto broken = broken_segment("--server", server)) return *broken;
    if (auto broken = broken_segment("--game", game)) return *broken;
    return parse_lock_id(std::string(server) + "/" + std::string(game));
}

Result<Owner> parse_owner(std::string_view text) {
    if (auto broken = broken_path("the owner", text, kMaxOwnerBytes)) return *broken;
    return Owner(std::string(text));
}

Result<Label> parse_label(std::string_view text) {
    if (auto broken = broken_text("the label", text)) return *broken;
    return Label(std::string(text));
}

Result<Note> parse_note(std::string_view text) {
    if (auto broken = broken_text("the note", text)) return *broken;
    return Note(std::string(text));
}

Result<Phase> parse_phase(std::string_view text) {
    if (text.size() > kMaxPhaseBytes)
        return invalid("the phase", "it is longer than " + std::to_string(kMaxPhaseBytes) + " bytes: shorten it");
    for (const char c : text)
        if (!is_name_byte(c)) return invalid("the phase", "use only A-Z a-z 0-9 . _ : @ + -");
    return Phase(std::string(text));
}

Result<Reason> parse_reason(std::string_view text) {
    if (is_blank(text)) return invalid("the reason", "it is blank: say in a few words why");
    if (auto broken = broken_text("the reason", text)) return *broken;
    return Reason(std::string(text));
}

std::string escaped(std::string_view text) {
    std::string shown;
    shown.reserve(text.size());
    while (!text.empty()) {
        const CodePoint next = first_code_point(text);
        const std::size_t bytes = next.bytes == 0 ? 1 : next.bytes;
        if (next.bytes == 0)
            shown += "\\x" + hexadecimal(static_cast<unsigned char>(text[0]), 2);
        else if (is_control(next.value))
            shown += escaped_control(next.value);
        else if (next.value == '\\')
            shown += "\\\\";
        else
            shown.append(text.substr(0, bytes));
        text.remove_prefix(bytes);
    }
    return shown;
}

}  // namespace hagi
