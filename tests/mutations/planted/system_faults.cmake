# Faults in how the program bears what the machine does to it.

plant(replaced_store_goes_unseen lockcore/sqlite/engine.cpp
  [=[if (!store_id_.empty() && store_id != store_id_) replaced_ = true;]=]
  [=[]=]
  process/hagi_process_tests "a heartbeat whose store is replaced says so and ends when its grant is not known there")
