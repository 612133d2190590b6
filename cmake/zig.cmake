# Compiles for another platform, or for a glibc older than this machine's, with the compiler of the package `ziglang`:
# Clang with the C libraries of all platforms, and its own C++ library linked in.
#
#   pip install ziglang && cmake -DCMAKE_TOOLCHAIN_FILE=cmake/zig.cmake -DZIG_TARGET=x86_64-linux-gnu.2.28 ...
#
# ZIG in the environment names the compiler if `python` is not the one that has the package.
if(NOT DEFINED ENV{ZIG})
  execute_process(COMMAND python -c "import ziglang; print(ziglang.__path__[0])" OUTPUT_VARIABLE package
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(ENV{ZIG} ${package}/zig)
endif()
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ZIG_TARGET)
string(REGEX MATCH "^([a-z0-9_]+)-([a-z]+)" platform ${ZIG_TARGET})
set(systems_linux Linux)
set(systems_windows Windows)
set(processor ${CMAKE_MATCH_1})
set(system ${systems_${CMAKE_MATCH_2}})
if(NOT "${system}-${processor}" STREQUAL "${CMAKE_HOST_SYSTEM_NAME}-${CMAKE_HOST_SYSTEM_PROCESSOR}")
  set(CMAKE_SYSTEM_NAME ${system})
  set(CMAKE_SYSTEM_PROCESSOR ${processor})
endif()

set(CMAKE_CXX_COMPILER $ENV{ZIG} c++ -target ${ZIG_TARGET})
set(CMAKE_CXX_FLAGS_INIT "-fno-sanitize=undefined")  # the wrapper's default, where nothing is optimized
set(CMAKE_MODULE_LINKER_FLAGS_INIT "-Wl,-s")
