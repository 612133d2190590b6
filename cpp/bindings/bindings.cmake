# The Python modules: _bindings, with everything that is compiled once, and _lapack, written in Cython.
find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)
if(CMAKE_CROSSCOMPILING AND SKBUILD_SOABI)
  set(Python_SOABI ${SKBUILD_SOABI})  # the target's, as given to scikit-build-core; the interpreter runs on this machine
endif()

# `import` locates the headers of the build requirements, because each isolated build of pip has its own folder.
execute_process(COMMAND ${Python_EXECUTABLE} -c "import pybind11; print(pybind11.get_include())"
                OUTPUT_VARIABLE pybind11_headers OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${Python_EXECUTABLE} -c "import cmeel, pathlib; print(pathlib.Path(cmeel.__path__[0]).parent)"
                OUTPUT_VARIABLE site_packages OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
# Eigen comes from the build requirements. Without them, as in other packagers' builds, it comes from the system or from
# CMAKE_PREFIX_PATH.
find_path(eigen_headers Eigen/Core HINTS ${site_packages}/cmeel.prefix/include PATH_SUFFIXES eigen3 NO_CACHE REQUIRED)

# Copies the headers, but only those that have changed, so that objects compiled against them stay up to date.
function(spectralcls_stable_headers root pattern)
  file(GLOB_RECURSE files RELATIVE ${root} ${root}/${pattern})
  foreach(file IN LISTS files)
    get_filename_component(folder ${file} DIRECTORY)
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/include/${folder})
    file(COPY_FILE ${root}/${file} ${CMAKE_BINARY_DIR}/include/${file} ONLY_IF_DIFFERENT)
  endforeach()
endfunction()
spectralcls_stable_headers(${pybind11_headers} pybind11/*.h)
spectralcls_stable_headers(${eigen_headers} Eigen/Core)
spectralcls_stable_headers(${eigen_headers} Eigen/src/Core/*)
spectralcls_stable_headers(${eigen_headers} Eigen/src/plugins/*)

Python_add_library(_bindings MODULE WITH_SOABI ${binding_sources} ${driver_sources})
spectralcls_settings(_bindings)
spectralcls_install(_bindings)
target_include_directories(_bindings SYSTEM PRIVATE ${CMAKE_BINARY_DIR}/include)
target_compile_definitions(_bindings PRIVATE EIGEN_MPL2_ONLY)
target_compile_options(_bindings PRIVATE -O1)
# All bindings are one translation unit, because parsing pybind11 takes most of the time of each compilation.
set_target_properties(_bindings PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
set_source_files_properties(${driver_sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
# These sources are optimized more: loops over all rows, and the small products of the eigensolver.
set_source_files_properties(geometry/equal_rows.cpp krylov/eigen.cpp krylov/kernel_operator.cpp krylov/multivector.cpp
                            PROPERTIES COMPILE_OPTIONS -O2)
target_link_libraries(_bindings PRIVATE common)

set(lapack_source ${CMAKE_CURRENT_SOURCE_DIR}/bindings/lapack.pyx)
add_custom_command(OUTPUT lapack.cpp DEPENDS ${lapack_source} VERBATIM
  COMMAND ${Python_EXECUTABLE} -m cython -3 --cplus --module-name spectralcls._core._lapack
          ${lapack_source} -o lapack.cpp)
Python_add_library(_lapack MODULE WITH_SOABI ${CMAKE_CURRENT_BINARY_DIR}/lapack.cpp)
spectralcls_settings(_lapack)
spectralcls_install(_lapack)
target_compile_options(_lapack PRIVATE -O1)
