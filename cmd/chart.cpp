#include "cmd/chart.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cmd/display_width.hpp"
#include "cmd/timestamp.hpp"
#include "lockcore/names.hpp"
#include "lockcore/words.hpp"

namespace hagi {
namespace {

constexpr char kWaited = '.';
constexpr char kHeld = '#';
constexpr std::size_t kWidestOwner = 24;
constexpr std::size_t kNarrowestBar = 16;

// One owner's place, hold or both. Times are wall-clock.
struct Turn {
    Owner owner;
    Epoch epoch;  // 0: it never came to a hold
    std::optional<Duration> queued_at;
    std::optional<Duration> granted_at;
    std::optional<Duration> ended_at;
    std::string outcome;

    [[nodiscard]] bool is_open() const { return !ended_at; }
    [[nodiscard]] bool waits() const { return is_open() && epoch == Epoch{}; }
};

// Reads the events into turns.
class Reading {
public:
    explicit Reading(const History& history) : history_(history) {
        for (const LoggedEvent& event : history.events) take(event.event, event.wall);
        if (history.current) compare_with(history.current->state);
        close_what_is_not_there_any_more();
    }

    std::vector<Turn> turns() && { return std::move(turns_); }

private:
    void take(const Event& event, Duration at) {
        switch (event.kind) {
            case EventKind::Queued: turns_.push_back({event.owner, {}, at, {}, {}, {}}); break;
            case EventKind::Granted:
            case EventKind::HandedOff: grant(event.owner, event.epoch, at); break;
            case EventKind::Left:
            case EventKind::Dropped: end(place_of(event.owner), at, std::string(word_for(event.kind))); break;
            case EventKind::Released:
            case EventKind::Requisitioned:
                end(hold_with(event.owner, event.epoch), at, std::string(word_for(event.kind)));
                break;
            case EventKind::Ended:
                end(hold_with(event.owner, event.epoch), at,
                    std::string(event.cause ? word_for(*event.cause) : word_for(event.kind)));
                break;
            case EventKind::Claimed:
            case EventKind::Accepted:
            case EventKind::Nudged: break;
        }
    }

    // Who is granted the lock waited for it, or took it free.
    void grant(const Owner& owner, Epoch epoch, Duration at) {
        const auto waiting = std::find_if(turns_.begin(), turns_.end(),
                                          [&](const Turn& turn) { return turn.waits() && turn.owner == owner; });
        Turn& turn = waiting == turns_.end() ? turns_.emplace_back() : *waiting;
        turn.owner = owner;
        turn.epoch = epoch;
        turn.granted_at = at;
    }

    // Where the beginning lies before the log's first event, it is not known.
    Turn& place_of(const Owner& owner) {
        for (Turn& turn : turns_)
            if (turn.waits() && turn.owner == owner) return turn;
        return turns_.emplace_back(Turn{owner, {}, {}, {}, {}, {}});
    }
    Turn& hold_with(const Owner& owner, Epoch epoch) {
        for (Turn& turn : turns_)
            if (turn.epoch == epoch) return turn;
        return turns_.emplace_back(Turn{owner, epoch, {}, {}, {}, {}});
    }

    static void end(Turn& turn, Duration at, std::string outcome) {
        turn.ended_at = at;
        turn.outcome = std::move(outcome);
    }

    void compare_with(const LockState& state) {
        const auto wall = [&](Instant at) { return history_.wall_now + (at - history_.now); };
        if (state.hold) {
            const auto is_it = [&](const Turn& turn) { return turn.epoch == state.hold->epoch; };
            if (std::none_of(turns_.begin(), turns_.end(), is_it))
                grant(state.hold->owner, state.hold->epoch, wall(state.hold->granted_at));
            hold_with(state.hold->owner, state.hold->epoch).outcome = state.hold->claimed_at ? "holds" : "unclaimed";
        }
        for (const Waiter& waiter : state.queue) {
            Turn& turn = place_of(waiter.owner);
            if (!turn.queued_at) turn.queued_at = wall(waiter.enqueued_at);
            turn.outcome = "waits";
        }
    }

    // It lapsed, and no command on this lock has written so yet; the next turn began when it did.
    void close_what_is_not_there_any_more() {
        for (Turn& turn : turns_) {
            if (!turn.is_open() || !turn.outcome.empty()) continue;
            end(turn, history_.wall_now, "lapsed");
            for (const Turn& other : turns_)
                if (other.epoch > turn.epoch && other.granted_at && turn.epoch != Epoch{})
                    turn.ended_at = std::min(*turn.ended_at, *other.granted_at);
        }
    }

    const History& history_;
    std::vector<Turn> turns_;
};

// ---- Drawing ----

struct Span {
    Duration from{};
    Duration until{};
};

Span span_of(const std::vector<Turn>& turns, const History& history) {
    Duration from = history.wall_now;
    if (!history.events.empty()) from = std::min(from, history.events.front().wall);
    for (const Turn& turn : turns)
        from = std::min({from, turn.queued_at.value_or(from), turn.granted_at.value_or(from)});
    return {from, std::max(history.wall_now, from + std::chrono::seconds{1})};
}

std::size_t column_at(const Span& span, Duration at, std::size_t columns) {
    const auto reached = (std::clamp(at, span.from, span.until) - span.from).count();
    const auto whole = (span.until - span.from).count();
    return static_cast<std::size_t>(reached * static_cast<std::int64_t>(columns) / whole);
}

// What lasted too short to fill a column is drawn as one.
void draw(std::string& bar, const Span& span, Duration from, Duration until, char mark) {
    const std::size_t first = std::min(column_at(span, from, bar.size()), bar.size() - 1);
    const std::size_t end = std::max(column_at(span, until, bar.size()), first + 1);
    std::fill(bar.begin() + static_cast<std::ptrdiff_t>(first), bar.begin() + static_cast<std::ptrdiff_t>(end), mark);
}

std::string bar_of(const Turn& turn, const Span& span, std::size_t columns) {
    std::string bar(columns, ' ');
    const Duration end = turn.ended_at.value_or(span.until);
    const Duration waited_until = turn.epoch == Epoch{} ? end : turn.granted_at.value_or(span.from);
    if (turn.queued_at || turn.epoch == Epoch{})
        draw(bar, span, turn.queued_at.value_or(span.from), waited_until, kWaited);
    if (turn.epoch != Epoch{}) draw(bar, span, waited_until, end, kHeld);
    return bar;
}

std::string for_how_long(const Turn& turn, const Span& span) {
    const std::optional<Duration> from = turn.epoch == Epoch{} ? turn.queued_at : turn.granted_at;
    return (from ? "" : ">") + brief_span(turn.ended_at.value_or(span.until) - from.value_or(span.from));
}

struct Widths {
    std::size_t epoch = 5;
    std::size_t owner = 5;
    std::size_t time = 4;
    std::size_t outcome = 7;

    [[nodiscard]] std::size_t before_the_bar() const { return epoch + owner + time + outcome + std::size_t{4} * 2; }
};

Widths widths_for(const std::vector<Turn>& turns, const Span& span) {
    Widths widths;
    for (const Turn& turn : turns) {
        widths.epoch = std::max(widths.epoch, std::to_string(turn.epoch.value).size());
        widths.owner = std::max(widths.owner, std::min(columns_of(escaped(turn.owner.str())), kWidestOwner));
        widths.time = std::max(widths.time, for_how_long(turn, span).size());
        widths.outcome = std::max(widths.outcome, turn.outcome.size());
    }
    return widths;
}

std::string row(const Widths& widths, std::string_view epoch, std::string_view owner, std::string_view time,
                std::string_view outcome, std::string_view bar) {
    std::string text =
        fmt::format("{}  {}  {}  {}  {}", padded_to(epoch, widths.epoch, Align::Right),
                    padded_to(cut_to(owner, widths.owner), widths.owner, Align::Left),
                    padded_to(time, widths.time, Align::Right), padded_to(outcome, widths.outcome, Align::Left), bar);
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

// `06:10:11          06:40:11`: of the day, since the title has the dates.
std::string axis(const Span& span, std::size_t columns) {
    const auto clock = [](Duration at) { return timestamp(at, Precision::Seconds).substr(11, 8); };
    const std::string from = clock(span.from);
    const std::string until = clock(span.until);
    std::string text = from + std::string(columns > 16 ? columns - 16 : 1, ' ') + until;
    const std::string middle = clock(span.from + (span.until - span.from) / 2);
    if (columns >= 3 * 8 + 2 * 4) text.replace((columns - 8) / 2, 8, middle);
    return text;
}

}  // namespace

std::vector<Line> chart(const History& history, std::size_t columns) {
    const std::vector<Turn> turns = Reading(history).turns();
    if (turns.empty()) return {{"nothing is known of " + escaped(history.lock_id.str()), Emphasis::Plain}};

    const Span span = span_of(turns, history);
    const Widths widths = widths_for(turns, span);
    const std::size_t used = widths.before_the_bar();
    const std::size_t width = columns > used + kNarrowestBar ? columns - used : kNarrowestBar;

    std::vector<Line> lines;
    lines.push_back({fmt::format("{}: {} turn{} from {} to {}; {} held, {} waited", escaped(history.lock_id.str()),
                                 turns.size(), turns.size() == 1 ? "" : "s", timestamp(span.from, Precision::Seconds),
                                 timestamp(span.until, Precision::Seconds), kHeld, kWaited),
                     Emphasis::Plain});
    lines.push_back({row(widths, "EPOCH", "OWNER", "TIME", "OUTCOME", axis(span, width)), Emphasis::Heading});
    for (const Turn& turn : turns)
        lines.push_back(
            {row(widths, turn.epoch == Epoch{} ? "-" : std::to_string(turn.epoch.value), escaped(turn.owner.str()),
                 for_how_long(turn, span), turn.outcome, bar_of(turn, span, width)),
             turn.is_open() ? Emphasis::Plain : Emphasis::Faint});
    return lines;
}

}  // namespace hagi
