# The Python modules: _bindings with all that is compiled once, and _lapack, Cython's part.
find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)
if(CMAKE_CROSSCOMPILING AND SKBUILD_SOABI)
  set(Python_SOABI ${SKBUILD_SOABI})  # that of the target, which scikit-build-core was told; the interpreter runs here
endif()

# Where `import` finds the build requirements; pip's isolated builds name other folders every time.
execute_process(COMMAND ${Python_EXECUTABLE} -c "import pybind11; print(pybind11.get_include())"
                OUTPUT_VARIABLE pybind11_headers OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${Python_EXECUTABLE} -c "import cmeel, pathlib; print(pathlib.Path(cmeel.__path__[0]).parent)"
                OUTPUT_VARIABLE site_packages OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
# Eigen of the build requirements; without them, as other packagers build, that of the system or of CMAKE_PREFIX_PATH.
find_path(eigen_headers Eigen/Core HINTS ${site_packages}/cmeel.prefix/include PATH_SUFFIXES eigen3 NO_CACHE REQUIRED)

# A copy of their headers that changes only if they do: what was compiled against them stays up to date.
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
# One translation unit of all bindings: most of what each of them costs is reading pybind11.
set_target_properties(_bindings PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
set_source_files_properties(${driver_sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
# The eigensolver's small products.
set_source_files_properties(krylov/eigen.cpp krylov/kernel_operator.cpp krylov/multivector.cpp PROPERTIES COMPILE_OPTIONS -O2)
target_link_libraries(_bindings PRIVATE common)

set(lapack_source ${CMAKE_CURRENT_SOURCE_DIR}/bindings/lapack.pyx)
add_custom_command(OUTPUT lapack.cpp DEPENDS ${lapack_source} VERBATIM
  COMMAND ${Python_EXECUTABLE} -m cython -3 --cplus --module-name spectralcls._core._lapack ${lapack_source} -o lapack.cpp)
Python_add_library(_lapack MODULE WITH_SOABI ${CMAKE_CURRENT_BINARY_DIR}/lapack.cpp)
spectralcls_settings(_lapack)
spectralcls_install(_lapack)
target_compile_options(_lapack PRIVATE -O1)
