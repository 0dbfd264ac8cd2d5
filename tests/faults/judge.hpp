// What must be true of a command that was disturbed, and of the store that it leaves behind. It knows what an
// undisturbed run does and what was answered, and nothing of where the disturbance came.
#pragma once

#include "tests/faults/scenario.hpp"

namespace hagi::test {

enum class Form { Text, Document };
Words command_in(Form form, Words command);

enum class Answered { Yes, No };

// Of a command that was not killed: as undisturbed, or exit 60 with one line (with --json: one document) that says why.
Answered judge_end(const Stage& stage, const Finished& finished, Form form);

// The store is whole, obeys the protocol, has lost nothing, and has what was answered; nothing is half done. And the
// same command, and another one, work now.
void judge_store(const Stage& stage, Answered answered);

}  // namespace hagi::test
