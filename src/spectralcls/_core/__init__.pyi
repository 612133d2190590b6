from collections.abc import Callable
from typing import Any

import numpy as np

ISA_VARIABLE: str

def available_variants() -> list[str]: ...

class compiled:
    """Functions of the loaded instruction-set variant; floating-point arrays of one call are of one dtype."""

    @staticmethod
    def supported_variants() -> list[str]: ...
    @staticmethod
    def load(path: str | bytes) -> None: ...
    @staticmethod
    def use_lapack(routines: Any) -> None: ...
    @staticmethod
    def build_info() -> dict[str, str]: ...
    @staticmethod
    def set_pruning(choice: str) -> None: ...
    @staticmethod
    def thread_limit() -> int: ...
    @staticmethod
    def points(
        points: np.ndarray,
        weights: np.ndarray | None,
        labels: np.ndarray | None,
        n_labels: int | None,
        keep: bool,
    ) -> Any: ...
    @staticmethod
    def kernel_sums(
        queries: np.ndarray,
        points: Any,
        weights: np.ndarray | None,
        kernel: str,
        bandwidths: float | np.ndarray,
        excluded: np.ndarray | None,
        query_groups: np.ndarray | None,
        point_groups: np.ndarray | None,
        rtol: float,
        atol: float,
        output: str,
        all_pairs: bool,
        n_threads: int,
    ) -> Any: ...
    @staticmethod
    def certain_labels(
        queries: np.ndarray,
        points: Any,
        kernel: str,
        bandwidths: float | np.ndarray,
        rtol: float,
        factors: np.ndarray,
        offsets: np.ndarray | None,
        log_share: np.ndarray | None,
        rounding: float,
        step: float,
        n_threads: int,
    ) -> np.ndarray | None: ...
    @staticmethod
    def ranked_points(
        X: np.ndarray,
        codes: np.ndarray,
        own: np.ndarray,
        others: np.ndarray,
        weights: np.ndarray,
        kernel: str,
        widths: np.ndarray,
        log_factors: np.ndarray,
        log_least_sum: float,
        log_largest_share: float,
    ) -> Any: ...
    @staticmethod
    def conformal_weights(
        points: Any,
        Q: np.ndarray,
        sums: np.ndarray,
        bounded: bool,
        log_weights: np.ndarray,
        log_background: float,
        rounding: float,
        within: bool,
        beyond: np.ndarray | None,
        n_threads: int,
    ) -> np.ndarray: ...
    @staticmethod
    def log_odds(sums: np.ndarray, log_background: float, rounding: float) -> np.ndarray: ...
    @staticmethod
    def equal_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...
    @staticmethod
    def kernel_matrix(
        queries: np.ndarray,
        points: np.ndarray | None,
        kernel: str,
        bandwidth: float,
        factor: float,
        out: np.ndarray,
        n_threads: int,
    ) -> None: ...
    @staticmethod
    def forest(
        kinds: np.ndarray,
        features: np.ndarray,
        numbers: np.ndarray,
        rights: np.ndarray,
        roots: np.ndarray,
        levels: np.ndarray,
    ) -> Any: ...
    @staticmethod
    def tree_sums(forest: Any, X: np.ndarray, out: np.ndarray, n_threads: int) -> None: ...
    @staticmethod
    def index_points(points: np.ndarray) -> Any: ...
    @staticmethod
    def largest_size(values: np.ndarray) -> float: ...
    @staticmethod
    def knn(
        queries: np.ndarray, points: Any, k: int, algorithm: str, n_threads: int
    ) -> tuple[np.ndarray, np.ndarray]: ...
    @staticmethod
    def reverse_knn(
        queries: np.ndarray,
        points: np.ndarray,
        radii: np.ndarray,
        n_threads: int,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]: ...
    @staticmethod
    def eigen_dense(A: np.ndarray, options: dict[str, Any], n_threads: int) -> dict[str, Any]: ...
    @staticmethod
    def eigen_csr(
        row_starts: np.ndarray,
        indices: np.ndarray,
        values: np.ndarray,
        options: dict[str, Any],
        n_threads: int,
    ) -> dict[str, Any]: ...
    @staticmethod
    def eigen_gram(
        row_starts: np.ndarray,
        indices: np.ndarray,
        values: np.ndarray,
        transposed_starts: np.ndarray,
        transposed_indices: np.ndarray,
        transposed_values: np.ndarray,
        options: dict[str, Any],
        n_threads: int,
    ) -> dict[str, Any]: ...
    @staticmethod
    def eigen_kernel(
        points: Any,
        kernel: str,
        bandwidths: np.ndarray,
        factors: np.ndarray,
        scale: np.ndarray | None,
        product_threads: int,
        options: dict[str, Any],
        n_threads: int,
    ) -> dict[str, Any]: ...
    @staticmethod
    def eigen_callback(
        n: int,
        apply: Callable[[np.ndarray], np.ndarray],
        options: dict[str, Any],
        n_threads: int,
    ) -> dict[str, Any]: ...
    @staticmethod
    def asymmetry(A: np.ndarray, n_threads: int) -> tuple[float, float]: ...
    @staticmethod
    def combine_rows(rows: np.ndarray, factors: np.ndarray, n_threads: int) -> None: ...
