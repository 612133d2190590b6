"""What PyInstaller cannot see: modules that are imported when they are first used, and the core's variants."""

from PyInstaller.utils.hooks import collect_data_files, collect_submodules

hiddenimports = collect_submodules("spectralcls")
datas = collect_data_files("spectralcls")
binaries = collect_data_files(
    "spectralcls", include_py_files=False, includes=["_core/*.so", "_core/*.dll", "_core/*.dylib"]
)
