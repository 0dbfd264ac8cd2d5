#include "cmd/live_view.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cmd/display_width.hpp"
#include "cmd/lock_table.hpp"
#include "cmd/timestamp.hpp"
#include "lockcore/names.hpp"

namespace hagi {
namespace {

// The title, the table's heading and the keys.
constexpr std::size_t kLinesAround = 3;
constexpr std::size_t kLongestFilter = 200;

// `text` at the left and `more` at the right, which goes first where both do not fit.
std::string apart(const std::string& text, const std::string& more, std::size_t columns) {
    const std::size_t used = columns_of(text) + columns_of(more);
    if (used + 2 > columns) return cut_to(text, columns);
    return text + std::string(columns - used, ' ') + more;
}

void remove_last_character(std::string& text) {
    const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; };
    while (!text.empty() && continues(text.back())) text.pop_back();
    if (!text.empty()) text.pop_back();
}

}  // namespace

void LiveView::see(ListAnswer answer) {
    answer_ = std::move(answer);
    trouble_.clear();
}

LiveView::Reaction LiveView::press(const Key& key) {
    if (typing_filter_) return press_in_filter(key);
    if (key.kind == KeyKind::Text) return press_letter(key.text);
    if (key.kind == KeyKind::Escape) arrangement_.filter.clear();
    return scroll(key);
}

LiveView::Reaction LiveView::press_in_filter(const Key& key) {
    switch (key.kind) {
        case KeyKind::Text:
            if (arrangement_.filter.size() < kLongestFilter) arrangement_.filter += key.text;
            break;
        case KeyKind::Backspace: remove_last_character(arrangement_.filter); break;
        case KeyKind::Enter: typing_filter_ = false; break;
        case KeyKind::Escape:
            typing_filter_ = false;
            arrangement_.filter = filter_before_;
            break;
        default: return scroll(key);
    }
    top_ = 0;
    return Reaction::Redraw;
}

LiveView::Reaction LiveView::press_letter(const std::string& letter) {
    if (letter == "q") return Reaction::Quit;
    if (letter == "j") return scroll({KeyKind::Down, {}});
    if (letter == "k") return scroll({KeyKind::Up, {}});
    if (letter == "s") arrangement_.order = next_after(arrangement_.order);
    if (letter == "r") arrangement_.reversed = !arrangement_.reversed;
    if (letter == "/") {
        typing_filter_ = true;
        filter_before_ = arrangement_.filter;
    }
    if (letter != "a") return Reaction::Redraw;
    idle_ = idle_ == Idle::Hidden ? Idle::Shown : Idle::Hidden;
    return Reaction::LookAgain;
}

// frame() holds it to what there is.
LiveView::Reaction LiveView::scroll(const Key& key) {
    const auto up = [&](std::size_t by) { top_ -= std::min(top_, by); };
    switch (key.kind) {
        case KeyKind::Up: up(1); break;
        case KeyKind::Down: ++top_; break;
        case KeyKind::PageUp: up(page_); break;
        case KeyKind::PageDown: top_ += page_; break;
        case KeyKind::Home: top_ = 0; break;
        case KeyKind::End: top_ = std::string::npos / 2; break;
        default: break;
    }
    return Reaction::Redraw;
}

// `3 locks, 2 waiting, 1 stuck; by left, reversed; with "eu"`
std::string LiveView::title(std::size_t rows) const {
    if (!answer_) return "hagi";
    std::size_t waiting = 0;
    std::size_t stuck = 0;
    for (const LockView& lock : answer_->locks) {
        waiting += lock.state.queue.size();
        if (state_word({&lock, answer_->now, stuck_after_}) == "stuck") ++stuck;
    }
    std::string text =
        fmt::format("{} lock{}, {} waiting", answer_->locks.size(), answer_->locks.size() == 1 ? "" : "s", waiting);
    if (stuck > 0) text += fmt::format(", {} stuck", stuck);
    text += fmt::format("; by {}{}", word_for(arrangement_.order), arrangement_.reversed ? " reversed" : "");
    if (!arrangement_.filter.empty() && !typing_filter_)
        text += fmt::format("; {} with \"{}\"", rows, escaped(arrangement_.filter));
    return text;
}

std::string LiveView::footer(std::size_t columns) const {
    if (typing_filter_) return cut_to(fmt::format("/{}_", escaped(arrangement_.filter)), columns);
    if (!trouble_.empty()) return cut_to("trying on: " + trouble_, columns);
    constexpr std::string_view kLong = "q quit  s sort  r reverse  / filter  a idle locks, too  up, down, page: scroll";
    constexpr std::string_view kShort = "q quit  s sort  r reverse  / filter  a idle";
    return cut_to(columns_of(kLong) <= columns ? kLong : kShort, columns);
}

std::vector<Line> LiveView::frame(ScreenSize size) {
    const ListAnswer nothing;
    const ListAnswer& answer = answer_ ? *answer_ : nothing;
    const Rows rows = arranged(answer, arrangement_, stuck_after_);
    const std::vector<Line> table = lock_table(answer, rows, stuck_after_, size.columns);
    const std::size_t lines = table.size() - 1;
    page_ = size.rows > kLinesAround ? size.rows - kLinesAround : 1;
    top_ = std::min(top_, lines > page_ ? lines - page_ : 0);

    const std::size_t shown = std::min(page_, lines - top_);
    std::string place = answer_ ? timestamp(answer.wall_now, Precision::Seconds) : "";
    if (lines > page_) place = fmt::format("{}-{} of {}  {}", top_ + 1, top_ + shown, lines, place);

    std::vector<Line> frame;
    frame.push_back({apart(title(rows.size()), place, size.columns), Emphasis::Plain});
    frame.push_back(table.front());
    for (std::size_t i = 0; i < page_; ++i) frame.push_back(i < shown ? table[top_ + i + 1] : Line{});
    if (answer_ && rows.empty())
        frame[2].text = cut_to(answer.locks.empty() ? "no lock is held or waited for" : "no lock fits", size.columns);
    frame.push_back({footer(size.columns), trouble_.empty() ? Emphasis::Faint : Emphasis::Alert});
    frame.resize(std::min(frame.size(), size.rows));
    return frame;
}

}  // namespace hagi
