// A person who looks at a whole terminal and types: what a live view is drawn on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lockcore/change_signal.hpp"

namespace hagi {

// How a line stands out where colours are to be had.
enum class Emphasis {
    Plain,
    Heading,
    Alert,  // somebody should look at this
    Faint,
};

struct Line {
    std::string text;  // without its newline; nothing in it that a terminal obeys
    Emphasis emphasis = Emphasis::Plain;
};

struct ScreenSize {
    std::size_t columns = 80;
    std::size_t rows = 24;
};

enum class KeyKind { Text, Enter, Backspace, Escape, Up, Down, PageUp, PageDown, Home, End };

struct Key {
    KeyKind kind = KeyKind::Text;
    std::string text;  // of Text: one character in UTF-8
};

class Screen {
public:
    virtual ~Screen() = default;

    [[nodiscard]] virtual ScreenSize size() const = 0;

    // In place of what was there; at most as many lines and columns as the screen has.
    virtual void show(const std::vector<Line>& lines) = 0;

    // Readable when take_keys has something to do: a key, another size, a suspension.
    [[nodiscard]] virtual Interrupts interrupts() const = 0;

    // What was typed since the last call; never blocks, but for as long as the program is suspended. Absent: the
    // terminal is gone.
    virtual std::optional<std::vector<Key>> take_keys() = 0;
};

}  // namespace hagi
