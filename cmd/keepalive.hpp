// The only renewing loop's body: `heartbeat` and `run` beat through it. It owns no sleep, so that its user can wait
// for a process or a signal, too.
#pragma once

#include "cmd/await_grant.hpp"
#include "cmd/outage.hpp"
#include "cmd/session.hpp"

namespace hagi {

struct KeepTerms {
    std::optional<Epoch> epoch;        // absent: whatever its owner holds at the first beat
    std::optional<Duration> interval;  // absent: as the lease suggests
    std::optional<Duration> lease;     // of the first beat
    Progress progress;                 // of the first beat
    bool every_beat = false;           // announce each
    WatcherKind kind = WatcherKind::Heartbeat;
};

class Keepalive {
public:
    // `session`, `terms` and `announce` outlive it.
    Keepalive(Session& session, const KeepTerms& terms, const Announce& announce)
        : session_(session),
          terms_(terms),
          announce_(announce),
          epoch_(terms.epoch),
          self_(session.context.identify()) {}

    // Does what is due; beats also before it is due when `look` says that the store may have changed. The event that
    // ended the grant, or absent while it is kept.
    enum class Look { WhenDue, Now };
    std::optional<WatchEvent> tick(Look look);

    // Begins with a grant that its holder was told of, instead of with a beat. `asked_at`: when it asked, by its own
    // steady clock; the lease is taken to run from there.
    void adopt(const Answer& answer, Duration asked_at);
    [[nodiscard]] Watcher self() const { return {self_, terms_.kind, {}}; }

    // Until tick() has something to do.
    [[nodiscard]] Duration due_in() const;

    // Announces what its caller has found.
    void warn(std::string sentence);

    [[nodiscard]] bool in_outage() const { return !outage_.over(); }

    // Once a beat succeeded.
    [[nodiscard]] const std::optional<Answer>& last() const { return last_; }
    [[nodiscard]] Duration interval() const { return interval_; }
    [[nodiscard]] Duration valid_until() const { return valid_until_; }  // of the watcher's own clock

private:
    std::optional<WatchEvent> beat();
    void note(const Answer& answer, Duration sent_at);
    void tell_start();
    void tell_beat();
    void tell_findings();
    std::optional<WatchEvent> endure(const Error& error);
    [[nodiscard]] WatchEvent lost(Answer answer) const;
    void choose_interval(Duration lease);
    void warn_of_interval();
    void warn_of_cap();
    void tell_when_stuck();
    void warn_of_another_watcher();
    void tell_nudges();
    [[nodiscard]] std::optional<Duration> next_cap_warning() const;

    Session& session_;
    const KeepTerms& terms_;
    const Announce& announce_;
    Outage outage_;
    std::optional<Epoch> epoch_;
    std::optional<Answer> last_;
    Duration last_at_{};   // when last_ was asked for
    Duration tried_at_{};  // the last try, seen or not
    Duration interval_{};
    Duration valid_until_{};
    bool may_be_lost_told_ = false;
    bool interval_told_ = false;
    Duration cap_warned_before_ = Duration::max();  // the smallest warning given so far
    ProcessIdentity self_;
    std::vector<Nudge> nudges_told_;
    std::optional<Instant> stuck_told_;  // of the phase that began then
};

// Beats until the grant has ended, or `must_end` says so, which is asked whenever one of `interrupts` is readable. The
// event that ended the grant; absent where it is still kept.
std::optional<WatchEvent> beat_until(const std::function<bool()>& must_end, const Interrupts& interrupts,
                                     Session& session, Keepalive& keepalive);

}  // namespace hagi
