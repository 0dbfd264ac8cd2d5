// Tests of the rules read as histories: a line a request, its time in seconds first, what it is answered last.
//
//     t=0    a acquire           -> Holding #1
//     t=5    b acquire           -> Queued 1/1 joined
//     t=600  b status            -> Holding #2
//     t=600  a renew epoch=1     -> refused LOCK_LOST #1 lease expired
//     t=600  events              -> 0 granted a #1; 5 queued b; 600 ended a #1 lease expired; ...
//
// Options are words, `_` stands for a space in a text: label= phase= note= lease= max-hold= no-queue look-once
// and-accept epoch= min-left= reason= keep held=; run= (binds the grant) and watch= (a watcher), each with a process
// number; gone=EPOCH (that grant's processes are gone). A line that begins with // is a comment.
// Lines that look instead of asking: `hold`, `place OWNER`, `queue`, `endings`, `windows OWNER`, `events` (since
// the last such line), `wake` (who the last request woke).
#pragma once

#include <string_view>

#include "lockcore/state.hpp"

namespace hagi::test {

// Plays the history against the rules, from a lock that was never seen, and fails the test at each line whose
// outcome is another. Beside that, every request is checked to keep the invariants, to decide the same whether or
// not somebody settled before, and, refused, to change nothing. Returns where it ends.
LockState check_history(std::string_view script);
LockState check_history(std::string_view script, LockState from);

}  // namespace hagi::test
