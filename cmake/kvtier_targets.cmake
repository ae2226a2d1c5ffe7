# Targets of this project are made by the functions below, so that flags, warnings and sanitizers are
# said once. Sources are listed by hand; tests/tidy fails on a source that no target builds.

find_program(KVTIER_CCACHE ccache)
if(KVTIER_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${KVTIER_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${KVTIER_CCACHE})
endif()

add_library(kvtier_flags INTERFACE)
target_include_directories(kvtier_flags INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/libkvclient/include)
target_compile_options(kvtier_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                       -Wnon-virtual-dtor -Woverloaded-virtual -Wno-missing-field-initializers -Werror -fno-strict-overflow)
target_compile_definitions(kvtier_flags INTERFACE KVTIER_VERSION="${PROJECT_VERSION}")
if(KVTIER_FAULTS)
  target_compile_definitions(kvtier_flags INTERFACE KVTIER_FAULTS=1)
endif()
if(KVTIER_SANITIZE)
  target_compile_options(kvtier_flags INTERFACE -fsanitize=${KVTIER_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  target_link_options(kvtier_flags INTERFACE -fsanitize=${KVTIER_SANITIZE})
endif()
find_package(Threads REQUIRED)
target_link_libraries(kvtier_flags INTERFACE Threads::Threads)

# kvtier_library(NAME SOURCES a.cc b.cc DEPENDS other_module lib ...)
function(kvtier_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  if(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES})
    target_link_libraries(${name} PUBLIC kvtier_flags ${ARG_DEPENDS})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE kvtier_flags ${ARG_DEPENDS})
  endif()
endfunction()

# kvtier_program(NAME SOURCES ... DEPENDS ...): lands in build/bin
function(kvtier_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE kvtier_flags ${ARG_DEPENDS})
endfunction()

# kvtier_test(NAME LABEL unit SOURCES ... DEPENDS ... [TIMEOUT s]): one GoogleTest binary, one CTest test
function(kvtier_test name)
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE kvtier_flags ${ARG_DEPENDS} GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABEL}" TIMEOUT ${ARG_TIMEOUT})
endfunction()

# Adds the folders that have a CMakeLists.txt. -DKVTIER_SKIP="tools/kvbench;tests/fuzz" leaves some out.
function(kvtier_add_subdirectories)
  foreach(folder ${ARGN})
    if(folder IN_LIST KVTIER_SKIP)
      continue()
    endif()
    if(EXISTS ${CMAKE_SOURCE_DIR}/${folder}/CMakeLists.txt)
      add_subdirectory(${CMAKE_SOURCE_DIR}/${folder})
    endif()
  endforeach()
endfunction()

# For a test that uses std::regex: g++ 12 takes it for uninitialised when sanitizers are on (its bug 105562).
function(kvtier_uses_regex name)
  if(KVTIER_SANITIZE)
    target_compile_options(${name} PRIVATE -Wno-maybe-uninitialized)
  endif()
endfunction()
