// What a person sees of a store's locks while looking on, and what the keys do. Pure: fed with answers and keys, it
// says what to draw.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cmd/lock_rows.hpp"
#include "cmd/screen.hpp"

namespace hagi {

enum class Idle { Hidden, Shown };

class LiveView {
public:
    LiveView(Arrangement arrangement, Idle idle, Duration stuck_after)
        : arrangement_(std::move(arrangement)), idle_(idle), stuck_after_(stuck_after) {}

    enum class Reaction { Redraw, LookAgain, Quit };
    Reaction press(const Key& key);

    // Also the idle locks are wanted.
    [[nodiscard]] Idle idle() const { return idle_; }

    // The newest answer, or why there is none; the last one stays in sight then.
    void see(ListAnswer answer);
    void see_trouble(std::string message) { trouble_ = std::move(message); }

    // As many lines as the screen has rows, each at most as wide as it.
    std::vector<Line> frame(ScreenSize size);

private:
    Reaction press_in_filter(const Key& key);
    Reaction press_letter(const std::string& letter);
    Reaction scroll(const Key& key);
    [[nodiscard]] std::string title(std::size_t rows) const;
    [[nodiscard]] std::string footer(std::size_t columns) const;

    Arrangement arrangement_;
    Idle idle_;
    Duration stuck_after_;
    std::optional<ListAnswer> answer_;
    std::string trouble_;
    bool typing_filter_ = false;
    std::string filter_before_;
    std::size_t top_ = 0;   // of the lines below the heading, the first in sight
    std::size_t page_ = 1;  // how many are in sight
};

}  // namespace hagi
