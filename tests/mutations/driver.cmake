# The driver behind `./dev check mutations`: see README.md. As `cmake -D ROOT=... -P driver.cmake` it plants every fault
# of the tables, one at a time, in a copy of the tree under build/mutations, and runs what must catch it. With -D LOOK=ON
# it only checks that every fault can still be planted; with -D ONLY=REGEX it takes those whose names match.
cmake_minimum_required(VERSION 3.25)

set(work ${ROOT}/build/mutations)
set(tree ${work}/tree)
set(build ${work}/build)
set(allowed_seconds 120)

# Of each command more than one request for memory is refused: a fault shows in some of them only.
set(ENV{HAGI_TEST_FAULTS} 12)

function(problem text)
  set_property(GLOBAL APPEND PROPERTY problems "${text}")
  message(STATUS "PROBLEM: ${text}")
endfunction()

# Only what differs is written, so that only that is built anew: also what an interrupted run left mutated.
function(copy_tree)
  file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/*)
  list(FILTER files EXCLUDE REGEX "^(build|\\.git)/")
  foreach(file IN LISTS files)
    configure_file(${ROOT}/${file} ${tree}/${file} COPYONLY)
  endforeach()
endfunction()

# Static, since that is what is sold; not optimised, since the mutants are built far more often than they run.
function(configure_tree)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${tree} -B ${build} -G Ninja -Wno-dev -D CMAKE_BUILD_TYPE=Debug -D HAGI_STATIC=ON -D
            HAGI_PLANTED_FAULTS=OFF -D CMAKE_CXX_FLAGS_DEBUG=-O0
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# `said`: its output where it failed, else empty.
function(build_program program said)
  get_filename_component(target ${program} NAME)
  execute_process(
    COMMAND ${CMAKE_COMMAND} --build ${build} --target ${target}
    RESULT_VARIABLE code
    OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if(code EQUAL 0)
    set(output "")
  endif()
  set(${said} "${output}" PARENT_SCOPE)
endfunction()

# `code`: a number, or a text that says which signal or that the time was over.
function(run_program program cases code output)
  execute_process(
    COMMAND ${build}/tests/${program} ${cases} --abort
    WORKING_DIRECTORY ${build}
    TIMEOUT ${allowed_seconds}
    RESULT_VARIABLE result
    OUTPUT_VARIABLE text
    ERROR_VARIABLE text)
  set(${code} "${result}" PARENT_SCOPE)
  set(${output} "${text}" PARENT_SCOPE)
endfunction()

# A mutant that is caught by what fails anyway would prove nothing.
function(check_that_it_passes program cases)
  get_property(known GLOBAL PROPERTY "passes ${program} ${cases}")
  if(known)
    return()
  endif()
  build_program(${program} said)
  if(said)
    message(FATAL_ERROR "${program} cannot be built without any fault:\n${said}")
  endif()
  run_program(${program} "${cases}" code output)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${program} ${cases} fails without any fault (${code}):\n${output}")
  endif()
  if(output MATCHES "No test cases matched|No tests ran|SKIPPED")
    message(FATAL_ERROR "${program} ${cases} tests nothing here:\n${output}")
  endif()
  set_property(GLOBAL PROPERTY "passes ${program} ${cases}" ON)
endfunction()

function(try name file mutated original program cases)
  check_that_it_passes(${program} "${cases}")
  file(WRITE ${tree}/${file} "${mutated}")
  build_program(${program} said)
  if(said)
    problem("${name}: does not compile:\n${said}")
  else()
    run_program(${program} "${cases}" code output)
    if(code EQUAL 0)
      problem("${name}: NOT CAUGHT by ${program} ${cases}")
    elseif(NOT code MATCHES "^[0-9]+$" AND (code MATCHES "timeout" OR NOT output MATCHES "FAILED:"))
      problem("${name}: ${program} ${cases} did not judge it, it ended by itself: ${code}\n${output}")
    else()
      message(STATUS "caught: ${name}")
    endif()
  endif()
  file(WRITE ${tree}/${file} "${original}")
endfunction()

# plant(NAME FILE SEARCH REPLACEMENT PROGRAM [CASES]): README.md says what each of them is.
function(plant name file search replacement program)
  if(ONLY AND NOT name MATCHES "${ONLY}")
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY names ${name})
  file(READ ${ROOT}/${file} original)
  string(FIND "${original}" "${search}" first)
  string(FIND "${original}" "${search}" last REVERSE)
  if(first EQUAL -1 OR NOT first EQUAL last)
    problem("${name}: its search text does not occur exactly once in ${file}")
    return()
  endif()
  if(NOT LOOK)
    string(REPLACE "${search}" "${replacement}" mutated "${original}")
    try(${name} ${file} "${mutated}" "${original}" ${program} "${ARGN}")
  endif()
endfunction()

if(NOT LOOK)
  copy_tree()
  configure_tree()
endif()
file(GLOB tables ${CMAKE_CURRENT_LIST_DIR}/planted/*.cmake)
foreach(table IN LISTS tables)
  include(${table})
endforeach()

get_property(names GLOBAL PROPERTY names)
list(LENGTH names planted)
if(planted EQUAL 0)
  message(FATAL_ERROR "no fault was planted")
endif()
list(REMOVE_DUPLICATES names)
list(LENGTH names different)
if(NOT different EQUAL planted)
  problem("two faults have the same name")
endif()
get_property(problems GLOBAL PROPERTY problems)
if(problems)
  list(JOIN problems "\n" text)
  message(FATAL_ERROR "of ${planted} planted faults not all were caught:\n${text}")
endif()
if(LOOK)
  message(STATUS "${planted} faults can be planted")
else()
  message(STATUS "all ${planted} planted faults were caught")
endif()
