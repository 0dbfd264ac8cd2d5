#include "cmd/lock_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cmd/display_width.hpp"
#include "cmd/text.hpp"
#include "cmd/timestamp.hpp"
#include "cmd/wall_clock.hpp"
#include "lockcore/names.hpp"
#include "lockcore/windows.hpp"

namespace hagi {
namespace {

constexpr std::string_view kGap = "  ";
constexpr std::size_t kWaitersNamed = 3;

template <class Kind>
std::string shown(const Text<Kind>& text) {
    return escaped(text.str());
}

// ---- Cells ----

const std::optional<Hold>& hold_of(const Seen& seen) { return seen.lock->state.hold; }

std::string lock_cell(const Seen& seen) { return shown(seen.lock->lock_id); }
std::string state_cell(const Seen& seen) { return std::string(state_word(seen)); }
std::string holder_cell(const Seen& seen) { return hold_of(seen) ? shown(hold_of(seen)->owner) : ""; }
std::string epoch_cell(const Seen& seen) {
    return std::to_string(hold_of(seen) ? hold_of(seen)->epoch.value : seen.lock->state.last_epoch.value);
}
std::string phase_cell(const Seen& seen) { return hold_of(seen) ? shown(hold_of(seen)->phase) : ""; }
std::string held_cell(const Seen& seen) {
    return hold_of(seen) ? brief_span(seen.now - hold_of(seen)->granted_at) : "";
}
std::string age_cell(const Seen& seen) {
    return hold_of(seen) ? brief_span(seen.now - hold_of(seen)->last_feedback) : "";
}
std::string left_cell(const Seen& seen) { return hold_of(seen) ? brief_span(end_of(*hold_of(seen)) - seen.now) : ""; }
std::string queue_cell(const Seen& seen) { return std::to_string(seen.lock->state.queue.size()); }
std::string label_cell(const Seen& seen) { return hold_of(seen) ? shown(hold_of(seen)->label) : ""; }

// `bob,carol,dave,+2`
std::string next_cell(const Seen& seen) {
    std::string names;
    std::size_t named = 0;
    const auto& queue = seen.lock->state.queue;
    for (const Waiter& waiter : queue) {
        if (named == kWaitersNamed) return names + fmt::format(",+{}", queue.size() - named);
        names += (named++ == 0 ? "" : ",") + shown(waiter.owner);
    }
    return names;
}

// ---- Columns ----

struct Column {
    std::string_view heading;
    std::string (*cell)(const Seen&);
    Align align;
    int importance;     // the least important goes first where not all fit
    std::size_t least;  // so wide at least; 0: never cut
};

constexpr std::array kColumns = {
    Column{"LOCK", lock_cell, Align::Left, 100, 18},    Column{"STATE", state_cell, Align::Left, 80, 0},
    Column{"HOLDER", holder_cell, Align::Left, 95, 14}, Column{"EPOCH", epoch_cell, Align::Right, 10, 0},
    Column{"PHASE", phase_cell, Align::Left, 50, 7},    Column{"HELD", held_cell, Align::Right, 60, 0},
    Column{"AGE", age_cell, Align::Right, 40, 0},       Column{"LEFT", left_cell, Align::Right, 90, 0},
    Column{"QUEUE", queue_cell, Align::Right, 70, 0},   Column{"NEXT", next_cell, Align::Left, 20, 8},
    Column{"FOR", label_cell, Align::Left, 30, 10},
};

struct Laid {
    const Column* column;
    std::size_t natural;  // as wide as its widest cell
    std::size_t width;
};
using Layout = std::vector<Laid>;
using Cells = std::vector<std::array<std::string, kColumns.size()>>;

std::size_t index_of(const Column* column) { return static_cast<std::size_t>(column - kColumns.data()); }

Cells cells_of(const ListAnswer& answer, const Rows& rows, Duration stuck_after) {
    Cells cells;
    cells.reserve(rows.size());
    for (const LockView* lock : rows) {
        auto& row = cells.emplace_back();
        const Seen seen{lock, answer.now, stuck_after};
        for (std::size_t i = 0; i < kColumns.size(); ++i) {
            row[i] = kColumns[i].cell(seen);
            if (row[i].empty()) row[i] = "-";
        }
    }
    return cells;
}

Layout natural_layout(const Cells& cells) {
    Layout layout;
    for (const Column& column : kColumns) {
        std::size_t widest = column.heading.size();
        for (const auto& row : cells) widest = std::max(widest, columns_of(row[index_of(&column)]));
        layout.push_back({&column, widest, widest});
    }
    return layout;
}

std::size_t width_of(const Layout& layout) {
    std::size_t width = kGap.size() * (layout.size() - 1);
    for (const Laid& laid : layout) width += laid.width;
    return width;
}

void leave_out_least_important(Layout& layout) {
    layout.erase(std::min_element(layout.begin(), layout.end(), [](const Laid& a, const Laid& b) {
        return a.column->importance < b.column->importance;
    }));
}

// One column less for the widest of those that can be cut. False: they are as narrow as makes sense.
bool narrow_widest(Layout& layout) {
    constexpr std::size_t kNarrowest = 6;
    Laid* widest = nullptr;
    for (Laid& laid : layout)
        if (laid.column->least != 0 && laid.width > kNarrowest && (!widest || laid.width > widest->width))
            widest = &laid;
    if (widest) --widest->width;
    return widest != nullptr;
}

// Every column that can be cut is, as far as it may, before one is left out; then what is left over goes back to the
// most important ones.
Layout fitting(Layout layout, std::size_t columns) {
    constexpr std::size_t kFewest = 3;
    for (Laid& laid : layout)
        if (laid.column->least != 0) laid.width = std::min(laid.natural, laid.column->least);
    while (layout.size() > kFewest && width_of(layout) > columns) leave_out_least_important(layout);
    while (width_of(layout) > columns && narrow_widest(layout)) continue;

    std::vector<Laid*> by_importance;
    for (Laid& laid : layout) by_importance.push_back(&laid);
    std::sort(by_importance.begin(), by_importance.end(),
              [](const Laid* a, const Laid* b) { return a->column->importance > b->column->importance; });
    for (Laid* laid : by_importance) {
        const std::size_t used = width_of(layout);
        const std::size_t spare = columns > used ? columns - used : 0;
        laid->width = std::min(laid->natural, laid->width + spare);
    }
    return layout;
}

// Without blanks at its end.
std::string trimmed(std::string text) {
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

template <class CellOf>
std::string row_text(const Layout& layout, const CellOf& cell_of) {
    std::string text;
    for (const Laid& laid : layout) {
        if (!text.empty()) text += kGap;
        text += padded_to(cut_to(cell_of(*laid.column), laid.width), laid.width, laid.column->align);
    }
    return trimmed(std::move(text));
}

void add_details(std::vector<Line>& lines, const ListAnswer& answer, const Seen& seen) {
    if (!hold_of(seen)) return;
    if (const auto stuck = stuck_for(*hold_of(seen), seen.now, seen.stuck_after))
        lines.push_back({fmt::format("  {}", text::stuck(*hold_of(seen), *stuck)), Emphasis::Alert});
    for (const Nudge& nudge : hold_of(seen)->nudges)
        lines.push_back({fmt::format("  {}", text::nudge(answer, nudge)), Emphasis::Plain});
}

Emphasis emphasis_of(const Seen& seen) {
    if (!hold_of(seen)) return Emphasis::Faint;
    return state_word(seen) == "stuck" ? Emphasis::Alert : Emphasis::Plain;
}

}  // namespace

std::vector<Line> lock_table(const ListAnswer& answer, const Rows& rows, Duration stuck_after,
                             std::optional<std::size_t> columns) {
    const Cells cells = cells_of(answer, rows, stuck_after);
    Layout layout = natural_layout(cells);
    if (columns) layout = fitting(std::move(layout), *columns);

    std::vector<Line> lines;
    lines.push_back({row_text(layout, [](const Column& column) { return column.heading; }), Emphasis::Heading});
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Seen seen{rows[i], answer.now, stuck_after};
        lines.push_back(
            {row_text(layout, [&](const Column& column) { return cells[i][index_of(&column)]; }), emphasis_of(seen)});
        add_details(lines, answer, seen);
    }
    if (columns)
        for (Line& line : lines) line.text = cut_to(line.text, *columns);
    return lines;
}

// ---- For scripts ----

std::string tsv_heading() {
    return "lockId\tstate\towner\tepoch\tphase\tlabel\tnote\tgrantedAt\theartbeatAt\tageSec\tvalidUntil\tleftSec\t"
           "hardCapAt\tqueueLength\tqueue\n";
}

std::string tsv_line(const ListAnswer& answer, const LockView& lock, Duration stuck_after) {
    const Seen seen{&lock, answer.now, stuck_after};
    std::string queue;
    for (const Waiter& waiter : lock.state.queue) queue += (queue.empty() ? "" : ",") + shown(waiter.owner);
    const std::string first =
        fmt::format("{}\t{}\t{}\t{}", lock_cell(seen), state_cell(seen), holder_cell(seen), epoch_cell(seen));
    const std::string last = fmt::format("{}\t{}\n", lock.state.queue.size(), queue);
    if (!lock.state.hold) return fmt::format("{}\t\t\t\t\t\t\t\t\t\t{}", first, last);

    const Hold& hold = *lock.state.hold;
    const WallClock clock{answer.now, answer.wall_now};
    return fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}", first, phase_cell(seen), label_cell(seen),
                       shown(hold.note), clock.at(hold.granted_at), clock.at(hold.last_feedback),
                       clock.since(hold.last_feedback), clock.at(end_of(hold)), clock.until(end_of(hold)),
                       clock.at(hold.hard_cap), last);
}

}  // namespace hagi
