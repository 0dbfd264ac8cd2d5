# Faults in how the program bears what the machine does to it: failing calls, no memory, stopped writers, little and
# missing things.
set(system faults/hagi_fault_tests)
set(memory faults/hagi_memory_fault_tests)

# ---- Failing system calls ----
plant(failed_commit_is_answered lockcore/sqlite/engine.cpp
  [=[    if (*wrote)
        if (Outcome committed = transaction.commit(); !committed) return committed.error();]=]
  [=[    if (*wrote) (void)transaction.commit();]=]
  ${system} "whatever call of a grant to the store*")
plant(store_that_was_not_written_whole_is_put_in_place lockcore/sqlite/schema.cpp
  [=[if (!apply_mode(file.get(), mode) || !write_durably(file.get(), *image)) failure = errno;]=]
  [=[if (!apply_mode(file.get(), mode)) failure = errno; (void)write_durably(file.get(), *image);]=]
  ${system} "whatever call of a grant to the store*")
plant(second_creator_replaces_the_first lockcore/sqlite/schema.cpp
  [=[if (::link(from.c_str(), to.c_str()) == 0) {]=]
  [=[if (::rename(from.c_str(), to.c_str()) == 0) {]=]
  engine/engine_test "Many creators make one store")
plant(failed_read_is_called_damage lockcore/sqlite/failure.cpp
  [=[if (auto failure = read_failure(handle, path)) return *std::move(failure);]=]
  [=[]=]
  ${system} "whatever call of a grant to the store*")
plant(failed_open_is_called_permission lockcore/sqlite/failure.cpp
  [=[            if (auto passing = code == SQLITE_READONLY ? passing_trouble(path) : std::nullopt)
                return *std::move(passing);]=]
  [=[]=]
  ${system} "whatever call of a grant to the store*")
plant(list_leaves_it_to_others_to_roll_back lockcore/sqlite/engine.cpp
  [=[if (!version && connection_->needs_roll_back() && roll_back_for_killed_writer())]=]
  [=[if (!version && false && roll_back_for_killed_writer())]=]
  ${system} "whatever call of a grant to the store*")

# ---- Memory ----
plant(out_of_memory_is_a_defect lockcore/sqlite/failure.cpp
  [=[        case SQLITE_NOMEM: return]=]
  [=[        case SQLITE_NOMEM + 4096: return]=]
  ${memory} "whichever request for memory is refused*")
plant(last_words_take_memory cmd/cli.cpp
  [=[        return Report(context, form).out_of_memory();]=]
  [=[        return Report(context, form).failure({}, {ErrorCode::Transport, std::string(200, '.') + ": repeat it", {}});]=]
  ${memory} "whichever request for memory is refused*")

# ---- Stopped writers ----
plant(gate_does_not_know_its_holder platform/file_gate.cpp
  [=[    if (::stat(path_.c_str(), &gate) != 0) return std::nullopt;
    for]=]
  [=[    if (::stat(path_.c_str(), &gate) != -1) return std::nullopt;
    for]=]
  ${system} "a writer that is stopped is named*")
plant(readers_wait_for_writers lockcore/sqlite/engine.cpp
  [=[    Transaction transaction(*connection_);
    if (Outcome begun = begin_reading(transaction); !begun) return begun.error();
    Result<sqlite::StoredLocks>]=]
  [=[    if (Outcome entered = gate_.enter(Duration{}); !entered) return entered.error();
    const GateLeaver leaver(gate_);
    Transaction transaction(*connection_);
    if (Outcome begun = begin_reading(transaction); !begun) return begun.error();
    Result<sqlite::StoredLocks>]=]
  ${system} "a writer that is stopped is named*")

# ---- Much, little, nothing ----
plant(closed_streams_are_left_closed cmd/main.cpp
  [=[    occupy_standard_streams();]=]
  [=[    (void)occupy_standard_streams;]=]
  ${system} "with any of the standard streams closed*")
plant(paths_longer_than_sqlite_opens platform/paths.cpp
  [=[constexpr std::size_t kLongestPath = 504;]=]
  [=[constexpr std::size_t kLongestPath = 505;]=]
  ${system} "the longest path that is not refused works*")
plant(mount_table_is_needed platform/filesystem_kind.cpp
  [=[known.magic == magic && (mount == nullptr || known.type == mount->type);]=]
  [=[known.magic == magic && mount != nullptr && known.type == mount->type;]=]
  ${system} "without /proc everything works*")
plant(log_is_read_from_its_beginning lockcore/sqlite/event_table.cpp
  [=[" ORDER BY seq DESC LIMIT ?7";]=]
  [=[" ORDER BY seq LIMIT ?7";]=]
  ${system} "a log of a hundred thousand rows*")

# ---- Replaced stores ----
plant(replaced_store_goes_unseen lockcore/sqlite/engine.cpp
  [=[if (!store_id_.empty() && store_id != store_id_) replaced_ = true;]=]
  [=[]=]
  process/hagi_process_tests "a heartbeat whose store is replaced says so and ends when its grant is not known there")
