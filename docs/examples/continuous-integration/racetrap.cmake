# A test of CTest for each program that racetrap checks: copy this file, and after `enable_testing()`
#
#   include(racetrap.cmake)
#   racetrap_add_test(sum ARGUMENTS 64 OPTIONS --schedules 3)
#
# checks the target `sum`, a CUDA program, by `racetrap run`: the test `racetrap.sum` fails if it has a race.  NAME gives
# the test another name.
include_guard(GLOBAL)
cmake_minimum_required(VERSION 3.19)

function(racetrap_add_test target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAME" "ARGUMENTS;OPTIONS")
  if(NOT TARGET ${target})
    message(FATAL_ERROR "racetrap_add_test needs a target of this project, not ${target}")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "racetrap_add_test takes NAME, ARGUMENTS and OPTIONS, not ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_NAME)
    set(arg_NAME racetrap.${target})
  endif()
  find_program(RACETRAP racetrap REQUIRED)
  # Our runtime library takes the place of NVIDIA's, which must not be linked into the program.
  set_target_properties(${target} PROPERTIES CUDA_RUNTIME_LIBRARY Shared)
  add_test(
    NAME ${arg_NAME}
    COMMAND ${RACETRAP} run ${arg_OPTIONS} $<TARGET_FILE:${target}> -- ${arg_ARGUMENTS}
  )
endfunction()
