#include "cmd/terminal_screen.hpp"

#include <unistd.h>

#include <algorithm>

#include "platform/full_screen.hpp"

namespace hagi {
namespace {

class TerminalScreen : public Screen {
public:
    explicit TerminalScreen(Colours colours) : screen_(STDIN_FILENO, STDOUT_FILENO), colours_(colours) {}

    [[nodiscard]] ScreenSize size() const override {
        const FullScreen::Size size = screen_.size();
        return {static_cast<std::size_t>(size.columns), static_cast<std::size_t>(size.rows)};
    }
    void show(const std::vector<Line>& lines) override {
        std::vector<std::string> texts;
        texts.reserve(lines.size());
        for (const Line& line : lines) texts.push_back(styled(line, colours_));
        screen_.draw(texts);
    }
    [[nodiscard]] Interrupts interrupts() const override { return screen_.descriptors(); }
    std::optional<std::vector<Key>> take_keys() override {
        const auto bytes = screen_.take_input();
        return bytes ? std::optional(keys_from(*bytes)) : std::nullopt;
    }

private:
    FullScreen screen_;
    Colours colours_;
};

std::optional<KeyKind> kind_of_sequence(std::string_view sequence) {
    if (sequence == "A") return KeyKind::Up;
    if (sequence == "B") return KeyKind::Down;
    if (sequence == "H" || sequence == "1~" || sequence == "7~") return KeyKind::Home;
    if (sequence == "F" || sequence == "4~" || sequence == "8~") return KeyKind::End;
    if (sequence == "5~") return KeyKind::PageUp;
    if (sequence == "6~") return KeyKind::PageDown;
    return std::nullopt;
}

// What follows ESC [ or ESC O up to its last byte.
std::string_view sequence_in(std::string_view bytes) {
    const auto is_last = [](char c) { return 0x40 <= c && c <= 0x7e; };
    const auto last = std::find_if(bytes.begin(), bytes.end(), is_last);
    return bytes.substr(0, last == bytes.end() ? bytes.size() : static_cast<std::size_t>(last - bytes.begin()) + 1);
}

std::size_t length_of_character(char first) {
    const auto byte = static_cast<unsigned char>(first);
    return byte < 0x80U ? 1 : byte < 0xe0U ? 2 : byte < 0xf0U ? 3 : 4;
}

}  // namespace

std::vector<Key> keys_from(std::string_view bytes) {
    std::vector<Key> keys;
    while (!bytes.empty()) {
        const char first = bytes.front();
        std::size_t length = 1;
        if (first == '\x1b' && bytes.size() > 1 && (bytes[1] == '[' || bytes[1] == 'O')) {
            const std::string_view sequence = sequence_in(bytes.substr(2));
            if (const auto kind = kind_of_sequence(sequence)) keys.push_back({*kind, {}});
            length = 2 + sequence.size();
        } else if (first == '\x1b') {
            keys.push_back({KeyKind::Escape, {}});
        } else if (first == '\r' || first == '\n') {
            keys.push_back({KeyKind::Enter, {}});
        } else if (first == '\x7f' || first == '\b') {
            keys.push_back({KeyKind::Backspace, {}});
        } else if (static_cast<unsigned char>(first) >= 0x20U) {
            length = std::min(length_of_character(first), bytes.size());
            keys.push_back({KeyKind::Text, std::string(bytes.substr(0, length))});
        }
        bytes.remove_prefix(length);
    }
    return keys;
}

std::unique_ptr<Screen> take_terminal(Colours colours) { return std::make_unique<TerminalScreen>(colours); }

}  // namespace hagi
