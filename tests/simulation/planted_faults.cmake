# Faults to plant in the rules, one at a time: plant(NAME FILE SEARCH REPLACEMENT). The explorer must find each. A
# search text must occur exactly once in the file; where the rules change, change it with them.

# ---- Deadlines ----
plant(lease_a_millisecond_longer windows.cpp
  [=[hold.last_feedback + hold.lease :]=] [=[hold.last_feedback + hold.lease + Duration{1} :]=])
plant(due_is_not_yet_due transitions.cpp [=[due && *due <= now;]=] [=[due && *due < now;]=])
plant(due_too_early transitions.cpp [=[due && *due <= now;]=] [=[due && *due <= now + Duration{1};]=])
plant(lapses_past_the_cap windows.cpp [=[return std::min(feedback_due, hold.hard_cap);]=] [=[return feedback_due;]=])
plant(lease_ignored windows.cpp [=[return std::min(feedback_due, hold.hard_cap);]=]
  [=[return hold.claimed_at ? hold.hard_cap : feedback_due;]=])
plant(unclaimed_never_lapses windows.cpp [=[: hold.granted_at + kClaimWindow;]=] [=[: hold.hard_cap;]=])
plant(unclaimed_has_its_lease windows.cpp [=[: hold.granted_at + kClaimWindow;]=] [=[: hold.granted_at + hold.lease;]=])
plant(claim_window_a_millisecond_longer windows.cpp
  [=[hold.granted_at + kClaimWindow;]=] [=[hold.granted_at + kClaimWindow + Duration{1};]=])
plant(waiter_lives_a_millisecond_longer windows.cpp
  [=[return waiter.last_heard + kWaiterTtl;]=] [=[return waiter.last_heard + kWaiterTtl + Duration{1};]=])
plant(waiter_time_to_live_ignored windows.cpp
  [=[return waiter.last_heard + kWaiterTtl;]=] [=[return waiter.last_heard + kMaximumHold;]=])
plant(cap_counts_from_the_queue transitions.cpp
  [=[hold.hard_cap = at + wanted.maximum_hold;]=] [=[hold.hard_cap = wanted.enqueued_at + wanted.maximum_hold;]=])
plant(ending_shown_too_long rules.cpp
  [=[return now < ending.at + kEndingShown;]=] [=[return now <= ending.at + kEndingShown;]=])
plant(ending_forgotten_when_no_longer_shown transitions.cpp
  [=[return ending.at + kEndingKept;]=] [=[return ending.at + kEndingShown;]=])
plant(ending_never_forgotten transitions.cpp
  [=[std::erase_if(course.state.endings, [&](const Ending& ending) { return forgotten_at(ending) <= at; });]=]
  [=[for (Ending& ending : course.state.endings) if (forgotten_at(ending) <= at) ending.at = at;]=])

# ---- Settling: its order and its causes ----
plant(silent_waiters_leave_after_the_hand_off transitions.cpp
  [=[    drop_silent_waiters(course, at);
    if (course.state.hold && end_of(*course.state.hold) <= at)
        lapse_hold(course, cause_of_lapse(*course.state.hold, at), at);]=]
  [=[    if (course.state.hold && end_of(*course.state.hold) <= at)
        lapse_hold(course, cause_of_lapse(*course.state.hold, at), at);
    drop_silent_waiters(course, at);]=])
plant(settles_at_the_time_of_the_look transitions.cpp [=[apply_due(course, *due);]=] [=[apply_due(course, now);]=])
plant(lapse_without_hand_off transitions.cpp
  [=[remember(course.state, {ended.owner, EndedKind::Hold, ended.epoch, at, cause, {}, {}});]=]
  [=[remember(course.state, {ended.owner, EndedKind::Hold, ended.epoch, at, cause, {}, {}});
    course.state.queue.clear();]=])
plant(dropped_waiter_is_not_told transitions.cpp
  [=[remember(course.state, {waiter.owner, EndedKind::Place, {}, at, Cause::NotPolled, {}, {}});]=] [=[]=])
plant(lapsed_holder_waits_again transitions.cpp
  [=[remember(course.state, {ended.owner, EndedKind::Hold, ended.epoch, at, cause, {}, {}});]=]
  [=[remember(course.state, {ended.owner, EndedKind::Hold, ended.epoch, at, cause, {}, {}});
    course.state.queue.push_back({ended.owner, {}, {}, {}, ended.lease, kMaximumHold, at, at});]=])
plant(missed_claim_called_a_lapse transitions.cpp
  [=[return hold.claimed_at ? Cause::LeaseExpired : Cause::ClaimMissed;]=] [=[return Cause::LeaseExpired;]=])
plant(cap_called_a_lapse transitions.cpp
  [=[if (hold.hard_cap <= at) return Cause::MaximumHold;]=] [=[if (hold.hard_cap < at) return Cause::MaximumHold;]=])

# ---- Grants ----
plant(epoch_reused transitions.cpp [=[state.last_epoch = state.last_epoch.next();]=]
  [=[if (how != GrantKind::TakenFree || !state.known) state.last_epoch = state.last_epoch.next();]=])
plant(hand_off_to_the_last transitions.cpp
  [=[    const Waiter first = std::move(queue.front());
    queue.erase(queue.begin());]=]
  [=[    const Waiter first = std::move(queue.back());
    queue.pop_back();]=])
plant(hand_off_is_claimed transitions.cpp
  [=[    if (how != GrantKind::HandedOff) {
        hold.claimed_at = at;]=]
  [=[    {
        hold.claimed_at = at;]=])
plant(claim_does_not_start_the_lease transitions.cpp
  [=[    hold.claimed_at = now;
    hold.last_feedback = now;]=]
  [=[    hold.claimed_at = now;]=])
plant(accept_survives_a_hand_off transitions.cpp
  [=[        hold.claimed_at = at;]=] [=[        hold.claimed_at = hold.accepted_at = at;]=])

# ---- Requests ----
plant(joins_at_the_front rules.cpp
  [=[course.state.queue.push_back(wanted_by(owner, request, now));]=]
  [=[course.state.queue.insert(course.state.queue.begin(), wanted_by(owner, request, now));]=])
plant(acquire_refreshes_the_lease rules.cpp
  [=[if (request.label) state.hold->label = *request.label;]=]
  [=[state.hold->last_feedback = now;
        if (request.label) state.hold->label = *request.label;]=])
plant(waiting_acquire_not_heard rules.cpp
  [=[        place->last_heard = now;
        update(*place, request);]=]
  [=[        update(*place, request);]=])
plant(refused_acquire_is_heard rules.cpp
  [=[} else if (request.when_held == WhenHeld::Refuse) {]=]
  [=[} else if (request.when_held == WhenHeld::Refuse) {
        hear(course, owner, now);]=])
plant(refused_renewal_is_heard rules.cpp
  [=[        return refuse_as_lost(state, owner, request.epoch, RefusalCode::LockLost, now);]=]
  [=[        return hear(course, owner, now),
               refuse_as_lost(state, owner, request.epoch, RefusalCode::LockLost, now);]=])
plant(status_does_not_claim transitions.cpp
  [=[if (holds(course.state, owner)) return claim(course, now);]=] [=[if (holds(course.state, owner)) return;]=])
plant(status_does_not_keep_the_place transitions.cpp
  [=[if (place != course.state.queue.end()) place->last_heard = now;]=] [=[(void)place;]=])
plant(status_hears_the_holder transitions.cpp
  [=[if (holds(course.state, owner)) return claim(course, now);]=]
  [=[if (holds(course.state, owner)) course.state.hold->last_feedback = now;
    if (holds(course.state, owner)) return claim(course, now);]=])
plant(renew_without_the_epoch rules.cpp
  [=[if (!holds(state, owner) || (request.epoch && *request.epoch != state.hold->epoch))]=]
  [=[if (!holds(state, owner))]=])
plant(renew_moves_the_cap rules.cpp
  [=[    state.hold->last_feedback = now;
    if (request.lease)]=]
  [=[    state.hold->last_feedback = now;
    state.hold->hard_cap = std::max(state.hold->hard_cap, now + state.hold->lease);
    if (request.lease)]=])
plant(accept_is_a_heartbeat transitions.cpp
  [=[hold.accepted_at = now;]=] [=[hold.accepted_at = hold.last_feedback = now;]=])
plant(accept_repeated_is_a_new_one transitions.cpp [=[if (hold.accepted_at) return;]=] [=[]=])
plant(accept_without_time_left rules.cpp
  [=[if (end_of(claimed) - now < request.minimum_left)]=] [=[if (end_of(claimed) - now <= Duration{})]=])
plant(accept_wants_more_than_asked rules.cpp
  [=[if (end_of(claimed) - now < request.minimum_left)]=] [=[if (end_of(claimed) - now <= request.minimum_left)]=])
plant(accept_of_another_epoch rules.cpp
  [=[const bool named_another = request.epoch &&]=] [=[const bool named_another = false && request.epoch &&]=])
plant(former_holder_is_a_stranger rules.cpp
  [=[const bool lost_a_hold = ending &&]=] [=[const bool lost_a_hold = false && ending &&]=])
plant(release_forgets_the_hand_off transitions.cpp
  [=[Cause::Released, ended.label});
    hand_off(course, at);]=]
  [=[Cause::Released, ended.label});]=])
plant(release_of_another_epoch rules.cpp
  [=[if (holds(state, owner) && (!request.epoch || *request.epoch == state.hold->epoch)) {]=]
  [=[if (holds(state, owner)) {]=])
plant(release_with_an_epoch_leaves_the_queue rules.cpp
  [=[} else if (waits && !request.epoch) {]=] [=[} else if (waits) {]=])
plant(release_remembers transitions.cpp [=[    forget_ending(course.state, ended.owner);]=] [=[]=])
plant(requisition_keeps_the_own_place rules.cpp
  [=[if (find_place(state.queue, owner) != state.queue.end()) leave_queue(course, owner, now);]=] [=[]=])
plant(requisition_requeues_the_displaced transitions.cpp
  [=[    return {ended.owner, ended.epoch};]=]
  [=[    course.state.queue.push_back({ended.owner, {}, {}, {}, ended.lease, kMaximumHold, now, now});
    return {ended.owner, ended.epoch};]=])
plant(orders_name_any_epoch rules.cpp
  [=[return epoch && !(state.hold && state.hold->epoch == *epoch);]=] [=[return epoch && !state.hold;]=])
plant(orders_name_a_freed_epoch rules.cpp
  [=[return epoch && !(state.hold && state.hold->epoch == *epoch);]=]
  [=[return epoch && state.hold && state.hold->epoch != *epoch;]=])
plant(stop_forgets_the_hand_off rules.cpp
  [=[{Cause::Stopped, owner, request.reason}, now);
        hand_off(course, now);]=]
  [=[{Cause::Stopped, owner, request.reason}, now);]=])
plant(nudge_is_a_heartbeat rules.cpp
  [=[        nudges.push_back({owner, now, request.reason});]=]
  [=[        nudges.push_back({owner, now, request.reason});
        state.hold->last_feedback = now;]=])
plant(giving_up_leaves_a_grant rules.cpp
  [=[if (answer.status == Status::Queued && request.place == Place::Leave) {]=]
  [=[if (holds(course.state, owner)) release_hold(course, now);
    if (answer.status == Status::Queued && request.place == Place::Leave) {]=])
plant(withdrawing_gives_back_an_old_hold rules.cpp
  [=[if (holds(state, owner) && request.held_before != state.hold->epoch) {]=] [=[if (holds(state, owner)) {]=])

# ---- Bound grants ----
plant(proof_of_another_grant rules.cpp
  [=[if (course.state.hold && course.state.hold->epoch == evidence.process_gone)]=]
  [=[if (course.state.hold && evidence.process_gone)]=] bound)
plant(proof_ignored rules.cpp
  [=[if (course.state.hold && course.state.hold->epoch == evidence.process_gone)]=] [=[if (false)]=] bound)
plant(dead_process_is_a_lapse rules.cpp
  [=[lapse_hold(course, Cause::ProcessGone, now);]=] [=[lapse_hold(course, Cause::LeaseExpired, now);]=] bound)
plant(grant_is_not_bound transitions.cpp
  [=[        hold.claimed_at = at;
        hold.binding = course.binding;]=]
  [=[        hold.claimed_at = at;]=] bound)
plant(claim_does_not_bind transitions.cpp
  [=[    hold.last_feedback = now;
    hold.binding = course.binding;]=]
  [=[    hold.last_feedback = now;]=] bound)
plant(accept_does_not_bind transitions.cpp
  [=[    if (course.binding) hold.binding = course.binding;]=] [=[]=] bound)
plant(accept_without_a_run_unbinds transitions.cpp
  [=[    if (course.binding) hold.binding = course.binding;]=] [=[    hold.binding = course.binding;]=] bound)
plant(every_look_of_a_run_accepts rules.cpp
  [=[if (request.when_granted == WhenGranted::Accept && holds(course.state, owner)) accept(course, now);]=]
  [=[if (course.binding && holds(course.state, owner)) accept(course, now);]=] bound)
plant(no_look_accepts rules.cpp
  [=[if (request.when_granted == WhenGranted::Accept && holds(course.state, owner)) accept(course, now);]=] [=[]=] bound)
plant(runs_share_a_grant rules.cpp
  [=[return !course.state.hold->binding || course.state.hold->binding->run != course.binding->run;]=]
  [=[return !course.state.hold->binding;]=] bound)
plant(run_joins_in_an_unbound_grant rules.cpp
  [=[return !course.state.hold->binding || course.state.hold->binding->run != course.binding->run;]=]
  [=[return course.state.hold->binding && course.state.hold->binding->run != course.binding->run;]=] bound)
plant(run_takes_over_a_place rules.cpp
  [=[if (!holds(course.state, owner)) return find_place(course.state.queue, owner) != course.state.queue.end();]=]
  [=[if (!holds(course.state, owner)) return false;]=] bound)
plant(every_acquire_is_checked_like_a_run rules.cpp
  [=[    if (!course.binding) return false;]=]
  [=[    if (!course.binding) return holds(course.state, owner) && course.state.hold->binding;]=] bound)
