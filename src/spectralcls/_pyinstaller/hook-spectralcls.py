"""Files that PyInstaller does not find: modules imported on first use, and the variants of the core."""

from PyInstaller.utils.hooks import collect_data_files, collect_dynamic_libs, collect_submodules

hiddenimports = collect_submodules("spectralcls")
datas = collect_data_files("spectralcls")
binaries = collect_dynamic_libs("spectralcls", search_patterns=["*.so", "*.dll", "*.dylib"])
