from typing import Any

import numpy as np

ISA_VARIABLE: str

def available_variants() -> list[str]: ...

class compiled:
    """Functions of the loaded instruction-set variant; all arrays are C-contiguous and of one float dtype."""

    @staticmethod
    def build_info() -> dict[str, str]: ...
    @staticmethod
    def thread_limit() -> int: ...
    @staticmethod
    def kernel_sums(
        queries: np.ndarray, points: np.ndarray, weights: np.ndarray | None, labels: np.ndarray | None, n_labels: int,
        kernel: str, bandwidths: np.ndarray, excluded: np.ndarray | None,
        query_groups: np.ndarray | None, point_groups: np.ndarray | None, n_groups: int, output: str, n_threads: int,
    ) -> Any: ...
    @staticmethod
    def pack_points(
        points: np.ndarray, weights: np.ndarray | None, labels: np.ndarray | None, n_labels: int, n_threads: int,
    ) -> Any: ...
    @staticmethod
    def packed_kernel_sums(
        queries: np.ndarray, points: Any, weights: np.ndarray | None, kernel: str, bandwidths: np.ndarray,
        excluded: np.ndarray | None, output: str, n_threads: int,
    ) -> Any: ...
    @staticmethod
    def kernel_matrix(
        queries: np.ndarray, points: np.ndarray | None, kernel: str, bandwidth: float, factor: float, out: np.ndarray,
        n_threads: int,
    ) -> None: ...
    @staticmethod
    def combine_rows(rows: np.ndarray, factors: np.ndarray, n_threads: int) -> None: ...
