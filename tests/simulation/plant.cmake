# plant(NAME FILE SEARCH REPLACEMENT [bound]): a copy of the rules with one fault, linked to the explorer, and a test that the explorer finds it, where it is
# said so among grants that are bound to processes.
# Only the changed file is compiled anew: what it defines, the linker no longer looks for in the library.
set(planted_options -O1 -g0 -w)
add_library(planted_headers OBJECT ${PROJECT_SOURCE_DIR}/lockcore/clock.cpp)
target_compile_options(planted_headers PRIVATE ${planted_options})
target_link_libraries(planted_headers PRIVATE explorer_objects hagi_rules)
target_precompile_headers(planted_headers PRIVATE <algorithm> <utility> ${PROJECT_SOURCE_DIR}/lockcore/rules.hpp
                          ${PROJECT_SOURCE_DIR}/lockcore/windows.hpp)

function(plant name file search replacement)
  set(original ${PROJECT_SOURCE_DIR}/lockcore/${file})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${original})
  file(READ ${original} text)
  string(FIND "${text}" "${search}" first)
  string(FIND "${text}" "${search}" last REVERSE)
  if(first EQUAL -1 OR NOT first EQUAL last)
    message(FATAL_ERROR "planted fault ${name}: its search text does not occur exactly once in lockcore/${file}")
  endif()
  string(REPLACE "${search}" "${replacement}" mutated "${text}")

  set(world 15 60 120)
  if("bound" IN_LIST ARGN)
    set(world 15 30 60 bound)
  endif()

  set(copy ${CMAKE_CURRENT_BINARY_DIR}/planted/${name}.cpp)
  set(present "")
  if(EXISTS ${copy})
    file(READ ${copy} present)
  endif()
  if(NOT "${present}" STREQUAL "${mutated}")
    file(WRITE ${copy} "${mutated}")
  endif()

  add_executable(planted_${name} ${copy})
  target_compile_options(planted_${name} PRIVATE ${planted_options})
  target_precompile_headers(planted_${name} REUSE_FROM planted_headers)
  target_link_libraries(planted_${name} PRIVATE explorer_objects hagi_rules)
  add_test(NAME simulation.planted.${name} COMMAND planted_${name} ${world})
  # The line of a violation, not the exit code: a crash is no finding.
  set_tests_properties(simulation.planted.${name} PROPERTIES PASS_REGULAR_EXPRESSION "violated: " TIMEOUT 120)
endfunction()
