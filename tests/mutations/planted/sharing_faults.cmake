# Faults in how many processes, hosts, users and strangers share a store.

# ---- Many processes ----
plant(decides_past_the_gate lockcore/sqlite/engine.cpp
  [=[    if (Outcome entered = gate_.enter(left_until(deadline)); !entered) return entered.error();]=]
  [=[]=]
  engine/engine_test "Whatever writes or checkpoints is in the gate")
plant(commits_at_the_instant_of_a_checkpoint lockcore/sqlite/engine.cpp
  [=[    if (Outcome entered = gate_.enter(left_until(deadline)); !entered) return entered.error();]=]
  [=[    (void)gate_.enter(left_until(deadline));]=]
  engine/engine_test "A checkpoint at the very instant*")
plant(empties_the_log_past_the_gate lockcore/sqlite/engine.cpp
  [=[if (connection_->log_pages() >= kLogPages) connection_->checkpoint();]=]
  [=[if (connection_->log_pages() >= kLogPages) gate_.leave(), connection_->checkpoint();]=]
  engine/engine_test "Whatever writes or checkpoints is in the gate")
plant(turn_goes_to_the_last_in_the_queue lockcore/transitions.cpp
  [=[    const Waiter first = std::move(queue.front());
    queue.erase(queue.begin());]=]
  [=[    const Waiter first = std::move(queue.back());
    queue.pop_back();]=]
  stress/hagi_stress_tests "a crowd that is killed*")
plant(epoch_is_given_again lockcore/transitions.cpp
  [=[state.last_epoch = state.last_epoch.next();]=]
  [=[if (how != GrantKind::TakenFree || !state.known) state.last_epoch = state.last_epoch.next();]=]
  stress/hagi_stress_tests "a crowd that is killed*")

# ---- A filesystem that hosts share ----
plant(fuse_counts_as_shared platform/filesystem_kind.cpp
  [=[Known{"gfs2", 0x01161970, FilesystemKind::Shared},]=]
  [=[Known{"fuse", 0x65735546, FilesystemKind::Shared},]=]
  stress/hagi_stress_tests "on a filesystem that nobody knows*")
plant(log_on_a_shared_filesystem_goes_unseen lockcore/sqlite/engine.cpp
  [=[if (header->wal && most == Journal::Rollback)]=]
  [=[if (header->wal && most == Journal::Rollback && connection.path().empty())]=]
  stress/hagi_stress_tests "told that it is shared*")
plant(local_clock_on_a_shared_filesystem cmd/open_engine.cpp
  [=[if (kind == FilesystemKind::Shared) return std::make_unique<FileServerClock>(path + "-clock-");]=]
  [=[if (kind == FilesystemKind::Unknown) return std::make_unique<FileServerClock>(path + "-clock-");]=]
  stress/hagi_stress_tests "told that it is shared*")

# ---- Several users ----
plant(store_of_a_team_is_its_makers lockcore/sqlite/schema.cpp
  [=[if (!apply_mode(file.get(), mode) || ]=]
  [=[if (]=]
  process/hagi_process_tests "a team shares a store*")
plant(umask_closes_the_bells platform/file_bell.cpp
  [=[    if (made) ::chmod(path.c_str(), S_IRWXU);]=]
  [=[]=]
  process/hagi_process_tests "a team shares a store*")
plant(stranger_is_followed platform/paths.cpp
  [=[        if (everybody_writes(folder))
            return unsafe(found_at, "is a symbolic link]=]
  [=[        if (path.empty())
            return unsafe(found_at, "is a symbolic link]=]
  process/hagi_process_tests "in a folder that everybody may write*")
plant(strangers_log_is_read platform/paths.cpp
  [=[if (auto checked = check_what_lies_beside(found_at); !checked) return checked.error();]=]
  [=[]=]
  process/hagi_process_tests "nor what a stranger put*")

# ---- Hostile text ----
plant(text_of_a_stranger_is_obeyed cmd/text.cpp
  [=[return escaped(text.str());]=]
  [=[return text.str();]=]
  process/hagi_process_tests "what a stranger wrote*")
plant(json_shows_what_a_terminal_obeys cmd/json_document.cpp
  [=[json.dump(-1, ' ', true,]=]
  [=[json.dump(-1, ' ', false,]=]
  process/hagi_process_tests "what a stranger wrote*")
plant(store_name_is_obeyed cmd/shell_word.cpp
  [=[    if (would_be_obeyed(word)) return printed_by_the_shell(word);]=]
  [=[]=]
  process/hagi_process_tests "the name of a store*")
plant(quotation_ends_where_its_author_likes cmd/text.cpp
  [=[quoted += c == '"' ? std::string("\\\"") : std::string(1, c);]=]
  [=[quoted += c;]=]
  cli/hagi_cli_tests "every command prints*")
plant(impossible_epoch_is_believed lockcore/invariants.cpp
  [=[if (kHighestEpoch <= state.last_epoch) return "5: the last epoch is impossible";]=]
  [=[]=]
  process/hagi_process_tests "numbers that no command*")
plant(the_future_is_believed lockcore/invariants.cpp
  [=[return is_possible(at) && at <= now;]=]
  [=[return is_possible(at) && now != Instant{-1};]=]
  process/hagi_process_tests "what lies in the store's future*")
plant(impossible_time_is_believed lockcore/sqlite/state_table.cpp
  [=[if (!is_possible(store.anchor)) return connection.damaged("its time is impossible");]=]
  [=[]=]
  process/hagi_process_tests "numbers that no command*")
