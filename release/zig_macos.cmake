# After zig.cmake: modules are libraries. Zig 0.17 crashes where it is to link a bundle.
set(CMAKE_SHARED_MODULE_CREATE_CXX_FLAGS "-dynamiclib -Wl,-headerpad_max_install_names")
