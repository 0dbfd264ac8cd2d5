# Faults in how a store bears power cuts, clocks, damage and a place that fails it.

# ---- Power cuts ----
plant(grants_are_not_synced lockcore/sqlite/connection.cpp
  [=["PRAGMA synchronous = FULL"]=] [=["PRAGMA synchronous = NORMAL"]=]
  power/power_test "What was answered survives*")
plant(nothing_is_synced lockcore/sqlite/connection.cpp
  [=["PRAGMA synchronous = FULL"]=] [=["PRAGMA synchronous = OFF"]=]
  power/power_test "The log is emptied*")
plant(the_end_of_a_journal_is_not_synced lockcore/sqlite/connection.cpp
  [=["PRAGMA synchronous = EXTRA"]=] [=["PRAGMA synchronous = FULL"]=]
  power/power_test "What was answered survives*")
plant(a_claim_by_a_poll_is_not_synced lockcore/sqlite/engine.cpp
  [=[if (!decision.events.empty() && wal_ && durability != Durability::PowerCut)]=]
  [=[if (decision.events.size() > 9 && wal_ && durability != Durability::PowerCut)]=]
  power/power_test "What was answered survives*")
plant(a_new_store_is_not_synced lockcore/sqlite/schema.cpp
  [=[return ::fsync(fd) == 0;]=] [=[return fd >= 0;]=]
  power/power_test "What was answered survives*")
plant(a_torn_first_page_is_not_mended lockcore/sqlite/file_header.cpp
  [=[if (!header.sqlite && !header.empty && may_be_mended(connection.path()))]=] [=[if (header.empty && may_be_mended(connection.path()))]=]
  power/power_test "What was answered survives*")
plant(pruning_forgets_the_floor lockcore/sqlite/upkeep.cpp
  [=[for (const char* const sql : {kRaiseFloor, kForgetEndings})]=] [=[for (const char* const sql : {kForgetEndings})]=]
  power/power_test "What was answered survives*")
plant(the_gate_notes_what_is_not_yet_durable lockcore/sqlite/engine.cpp
  [=[    const Result<bool> wrote =]=]
  [=[    gate_.leave_note(
        sqlite::note_of(file, before->store.store_id, before->store.newest_event + std::ssize(decision.events)));
    const Result<bool> wrote =]=]
  power/power_test "What was answered survives*")

# ---- Time ----
plant(wall_clock_counts lockcore/clock.cpp
  [=[same_timeline ? reading.steady - anchor.reading.steady :]=]
  [=[same_timeline ? reading.wall - anchor.reading.wall :]=]
  engine/engine_test "Whatever the clocks do*")
plant(time_goes_back lockcore/clock.cpp
  [=[std::max(passed, Duration::zero())]=] [=[passed]=]
  engine/engine_test "Whatever the clocks do*")
plant(a_boot_without_a_name_is_the_same_boot lockcore/clock.cpp
  [=[!reading.timeline.empty() && reading.timeline == anchor.reading.timeline]=]
  [=[!reading.timeline.empty()]=]
  engine/engine_test "Whatever the clocks do*")
plant(the_anchor_keeps_the_old_boot lockcore/sqlite/state_table.cpp
  [=["UPDATE store SET at_ms = ?1, timeline = ?2, steady_ms = ?3, wall_ms = ?4 WHERE id = 1"]=]
  [=["UPDATE store SET at_ms = ?1, timeline = coalesce(timeline, ?2), steady_ms = ?3, wall_ms = ?4 WHERE id = 1"]=]
  engine/engine_test "Whatever the clocks do*")

# ---- Damage ----
plant(invariants_are_not_checked_after_reading lockcore/sqlite/state_table.cpp
  [=[    if (const auto broken = broken_invariant(lock->state, lock->store.anchor.at))
        return damaged_lock(connection, lock_id.str(), *broken);]=]
  [=[]=]
  engine/engine_test "A store that contradicts itself*")
plant(lost_changes_go_unseen lockcore/sqlite/provenance.cpp
  [=[static_cast<std::uint64_t>(store.newest_event) < known->newest_event]=] [=[store.newest_event < 0]=]
  damage/damage_test)
plant(lost_changes_are_listed lockcore/sqlite/engine.cpp
  [=[if (Outcome belongs = sqlite::check_provenance(options_.path, file_below_log(), stored->store, note); !belongs)]=]
  [=[if (Outcome belongs = Done{}; !belongs)]=]
  engine/engine_test "A store that has lost what was answered*")
plant(log_of_another_store_is_played lockcore/sqlite/provenance.cpp
  [=[return found == store_id ? Outcome(Done{}) : strange_log(path);]=] [=[return Done{};]=]
  engine/engine_test "A store that has lost what was answered*")
plant(file_under_the_log_of_another_store_is_taken lockcore/sqlite/provenance.cpp
  [=[(ours && known->file == file)]=] [=[ours]=]
  engine/engine_test "A store that has lost what was answered*")
plant(the_gate_notes_nothing lockcore/sqlite/engine.cpp
  [=[if (events > 0)
        gate_.leave_note(]=] [=[if (events > 9)
        gate_.leave_note(]=]
  engine/engine_test "A store that has lost what was answered*")

# ---- The store's place ----
plant(a_file_size_limit_kills platform/stop_signal.cpp
  [=[for (const int signal : {SIGPIPE, SIGXFSZ})]=] [=[for (const int signal : {SIGPIPE})]=]
  process/hagi_process_tests "a limit on the size of files*")
plant(a_store_is_made_over_an_old_log lockcore/sqlite/schema.cpp
  [=[if (Outcome clean = require_no_leftovers(path); !clean) return clean.error();]=] [=[]=]
  process/hagi_process_tests "where only the store's own file was removed*")
plant(a_full_disk_is_damage lockcore/sqlite/failure.cpp
  [=[case SQLITE_FULL: return posix_error(ENOSPC, "the disk of the store " + path + " is full");]=]
  [=[case SQLITE_FULL: return damage_of(path, "full");]=]
  process/hagi_process_tests "a full disk takes nothing back*")
