# Fills cmd/version.h in the build tree: version, branch, revision, compiler, platform. Works without git, too.
set(TIDEMARK_BRANCH "unknown")
set(TIDEMARK_REVISION "unknown")
find_package(Git QUIET)
if(GIT_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  execute_process(COMMAND ${GIT_EXECUTABLE} symbolic-ref --short -q HEAD
                  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                  OUTPUT_VARIABLE branch OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --short=12 HEAD
                  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                  OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(branch MATCHES "^[A-Za-z0-9._/+-]+$")
    set(TIDEMARK_BRANCH ${branch})
  endif()
  if(revision MATCHES "^[0-9a-f]+$")
    set(TIDEMARK_REVISION ${revision})
  endif()
  # A commit or a change of branch configures anew; what did not change is not written, so nothing is rebuilt for it.
  foreach(file HEAD logs/HEAD)
    if(EXISTS ${PROJECT_SOURCE_DIR}/.git/${file})
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/.git/${file})
    endif()
  endforeach()
endif()

set(TIDEMARK_BUILD_TYPE "${CMAKE_BUILD_TYPE}")
if(NOT TIDEMARK_BUILD_TYPE)
  set(TIDEMARK_BUILD_TYPE "none")
endif()

# The names of systems and processors that Prometheus' programs print are Go's.
string(TOLOWER "${CMAKE_SYSTEM_NAME}" system)
set(processor "${CMAKE_SYSTEM_PROCESSOR}")
if(processor STREQUAL "x86_64")
  set(processor "amd64")
elseif(processor STREQUAL "aarch64")
  set(processor "arm64")
endif()
set(TIDEMARK_PLATFORM "${system}/${processor}")

configure_file(${CMAKE_CURRENT_LIST_DIR}/version.h.in ${PROJECT_BINARY_DIR}/generated/cmd/version.h @ONLY)
