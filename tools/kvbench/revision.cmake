cmake_policy(VERSION 3.25)
execute_process(
  COMMAND git -C ${SOURCE_DIR} describe --always --dirty
  OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  set(revision "unknown")
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#pragma once\n#define KVBENCH_REVISION \"@revision@\"\n" @ONLY)
