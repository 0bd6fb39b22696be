# Compiler settings shared by every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

add_library(tidemark_options INTERFACE)
target_include_directories(tidemark_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(tidemark_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
                                                  -Woverloaded-virtual -Wcast-align -Wconversion -Wno-sign-conversion)
if(TIDEMARK_DEVELOPER_MODE)
  target_compile_options(tidemark_options INTERFACE -Werror)
endif()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND TIDEMARK_MARCH)
  add_compile_options(-march=${TIDEMARK_MARCH})
endif()
if(TIDEMARK_SANITIZE)
  add_compile_options(-fsanitize=${TIDEMARK_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TIDEMARK_SANITIZE})
endif()
if(TIDEMARK_FUZZ)
  # The rooms too: a fuzzer that sees only its own file's branches finds its way by luck.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()

# One translation unit with Beast takes up to 2.7 GB: never two at a time.
set_property(GLOBAL PROPERTY JOB_POOLS heavy=1)

# What every room has in common.
function(tidemark_room target)
  target_link_libraries(${target} PUBLIC tidemark_options)
endfunction()
