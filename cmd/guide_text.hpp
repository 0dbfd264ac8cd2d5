// The files of skills/hagi, as they were when the program was built.
#pragma once

#include <string_view>

namespace hagi {

extern const std::string_view kSkillText;  // SKILL.md
extern const std::string_view kGuideText;  // references/resource-lock.md

}  // namespace hagi
