"""What was found wrong by those who tried to break the package, each with the tests that fail if it comes back.

`bench.reliability` writes them into `docs/reliability.md`; `tests/house/test_findings.py` looks whether they are there.
"""

CORE, UNIT, DOORS = "tests/core/test_", "tests/unit/test_", "tests/doors/test_"

FINDINGS = {  # what was wrong: the tests
    "weights without a column read a null pointer": [f"{CORE}doors.py::test_weights_without_a_column_are_refused"],
    "labels, groups and left-out rows were not checked in the core; a huge one took all memory": [
        f"{CORE}doors.py::test_kernel_sums_of_the_core_name_the_argument",
        f"{CORE}doors.py::test_huge_labels_have_a_sentence",
        f"{CORE}doors.py::test_results_beyond_the_memory_have_a_sentence",
        f"{CORE}doors.py::test_groups_need_no_memory_for_numbers_without_members",
    ],
    "concurrent fits left BLAS and the core at one thread": [
        f"{CORE}thread_limits.py::test_contexts_that_overlap_in_any_order_end_as_they_began",
        f"{CORE}thread_limits.py::test_many_threads_that_come_and_go",
        f"{CORE}thread_limits.py::test_concurrent_calls_leave_all_limits_alone",
    ],
    "a failed or interrupted refit left a fitted estimator unusable": [
        "tests/properties/test_failed_refit.py::test_it_is_as_before",
        "tests/properties/test_interrupted_refit.py::test_it_is_as_before",
    ],
    "eigenpairs of a kernel of many points in blocks of one or two vectors: a negative dimension": [
        f"{CORE}eigen.py::test_kernels_of_many_points_in_blocks_of_any_size",
    ],
    "unsigned labels and positions raised OverflowError": [
        f"{CORE}doors.py::test_labels_and_positions_of_every_integer_type",
    ],
    "labels that are all False counted as two": [f"{CORE}doors.py::test_labels_that_are_all_false_are_one_label"],
    "cv='loo' of the spectral classifiers raised TypeError": [
        f"{UNIT}spectral.py::test_leaving_one_out_equals_refitting",
    ],
    "a class of prior zero won where no kernel reaches": [
        f"{UNIT}kernel_mean.py::test_a_class_of_prior_zero_never_wins",
    ],
    "posteriors far from all points did not add up to one": [
        f"{UNIT}kernel_mean.py::test_far_posteriors_add_up_to_one",
    ],
    "wrong sums where queries or bandwidths are far beyond the spread of the points": [
        f"{CORE}doors.py::test_points_that_nearly_coincide_and_a_query_far_beyond_their_spread",
        f"{CORE}doors.py::test_a_tiny_bandwidth_in_a_grid_spoils_no_other",
        f"{CORE}doors.py::test_neighbors_of_a_query_far_beyond_the_spread_of_the_points",
        f"{CORE}kernels.py::test_one_far_query_changes_nothing_for_the_others",
    ],
    "neighbors out of range, NaN or infinite where squared distances overflow": [
        f"{CORE}neighbors.py::test_neighbors_do_not_depend_on_the_scale",
        f"{CORE}neighbors.py::test_distances_that_no_number_holds_are_infinite_and_their_order_is_right",
        f"{CORE}neighbors.py::test_graphs_of_extreme_data",
    ],
    "normalized sums in many dimensions were infinity times zero": [
        f"{CORE}doors.py::test_normalized_sums_whose_constant_overflows",
    ],
    "Ctrl-C waited for trees, tuning and factorizations": [f"{CORE}interrupt.py::test_ctrl_c_is_answered"],
    "the path of bandwidths could not be drawn for all that tune one": [
        f"{DOORS}plotting_bandwidth_path.py::test_every_estimator_that_tunes_a_bandwidth_has_a_path",
    ],
    "far queries became rows of zeros, which the intercepts decided": [
        f"{UNIT}spectral_kernel.py::test_far_queries_have_the_direction_of_the_nearest_sample",
        f"{UNIT}spectral_kernel.py::test_far_queries_of_a_formed_kernel",
        f"{UNIT}spectral_kernel_classifier.py::test_far_queries_are_not_decided_by_intercepts",
    ],
    "kernel operators took negative bandwidths and labels that are no integers": [
        f"{CORE}eigen.py::test_bad_kernel_operators",
        f"{CORE}doors.py::test_kernel_operators_of_the_core_name_the_argument",
    ],
    "eigenpairs of a zero, unsymmetric or complex operator were wrong, or a foreign error": [
        f"{CORE}eigen.py::test_every_solver_decomposes_the_zero_matrix",
        f"{CORE}eigen.py::test_no_solver_takes_an_operator_that_is_not_symmetric",
        f"{CORE}eigen.py::test_an_operator_that_says_it_is_real_and_answers_complex_is_refused",
    ],
    "a pool labeled one sample as two classes, and took fractions and positions that are none": [
        f"{UNIT}active.py::test_bad_labels_change_nothing",
    ],
    "a pool of a classifier that is no PerTurbo raised AttributeError": [
        f"{UNIT}active.py::test_a_pool_is_for_perturbo",
    ],
    "outputs that cannot be written were noticed after the work, by a traceback": [
        f"{DOORS}cli_outputs.py::test_outputs_of_compare_that_cannot_be_written_are_found_before_the_work",
        f"{DOORS}cli_outputs.py::test_a_full_disk_costs_one_line_and_leaves_no_file",
        f"{DOORS}cli_outputs.py::test_too_little_memory_is_one_line",
    ],
    "a model was written over a device": [f"{DOORS}cli_outputs.py::test_a_model_is_not_written_over_a_device"],
    "an empty list of classifiers was a traceback": [
        f"{DOORS}cli_outputs.py::test_empty_names_of_classifiers_are_one_line",
    ],
    "a prediction did not go on after a full disk": [
        f"{DOORS}cli_outputs.py::test_prediction_goes_on_after_a_disk_that_was_full_from_the_start",
        f"{DOORS}cli_fit_predict.py::test_a_full_disk_leaves_whole_parts_and_the_rest_is_resumed",
    ],
    "1_000 and Arabic digits were numbers; UTF-16 without a mark was not read": [
        f"{DOORS}cli_outputs.py::test_numbers_are_those_of_every_other_program",
        f"{DOORS}cli_outputs.py::test_numbers_of_options_too",
        f"{DOORS}cli_outputs.py::test_utf_16_without_a_mark",
    ],
    "a tampered model file was refused in words of a parser, or a traceback": [
        f"{DOORS}cli_fit_predict.py::test_damaged_and_foreign_model_files",
        f"{DOORS}cli_fit_predict.py::test_a_model_file_whose_parts_were_exchanged",
    ],
    "unaligned arrays reached the core": [
        f"{CORE}alignment.py::test_the_answer_is_that_of_aligned_native_numbers",
        f"{CORE}doors.py::test_unaligned_arrays_are_copied_or_refused",
    ],
    "a dtype was compared by identity": [
        f"{CORE}doors.py::test_a_dtype_is_known_by_its_value",
        f"{CORE}eigen.py::test_unpickled_matrices_whose_dtype_is_an_object_of_its_own",
    ],
    "integers beyond 2**31 got a dump of signatures": [
        f"{CORE}doors.py::test_counts_of_any_size_are_limits",
        f"{CORE}doors.py::test_eigenproblems_of_the_core_name_the_argument",
        f"{CORE}doors.py::test_matrices_neighbors_and_vectors_of_the_core_name_the_argument",
    ],
    "a class outside the leading components had NaN for its angle": [
        f"{UNIT}spectral.py::test_a_class_that_no_leading_component_reaches_has_the_cosine_zero",
    ],
    "numbers of pairs of a narrow type overflowed": [
        f"{CORE}eigen.py::test_a_number_of_pairs_of_a_narrow_type",
    ],
    "two thousand million permutations were begun": [f"{UNIT}permutation.py::test_bad_input"],
    "candidates in two dimensions, splits that are no pairs or not of rows were refused in foreign words": [
        f"{UNIT}ccdr.py::test_bad_input", "tests/house/test_search.py::test_splits_that_are_no_pairs_are_refused",
        "tests/house/test_search.py::test_splits_of_what_is_no_row_are_refused",
    ],
    "a huge block took 7 GiB for 17 points": [f"{CORE}lowrank.py::test_a_block_is_no_larger_than_the_rank"],
    "arguments of another kind were accepted, or refused in foreign words": [
        f"{CORE}kernels.py::test_bad_arguments_are_named",
        f"{CORE}doors.py::test_malformed_pairs_and_counts_have_a_sentence",
    ],
    "kernels, dimensions, sizes, rows, graphs, paths of another kind were a KeyError, or refused in foreign words": [
        "tests/house/test_random_calls.py::test_arguments_of_another_kind_are_refused_in_words",
    ],
    "class labels that mix strings and numbers were refused in foreign words": [
        "tests/house/test_random_calls.py::test_every_classifier_refuses_labels_of_mixed_kinds_in_words",
    ],
    "candidates that are no numbers were an error of sorting, or of a matrix": [
        "tests/house/test_random_calls.py::test_candidates_that_are_no_numbers_are_refused",
    ],
    "a graph on Dask was refused after its neighbors were found": [
        "tests/house/test_random_calls.py::test_a_graph_on_dask_is_refused_before_any_block_is_read",
    ],
    "as many processes were started as n_jobs said, however many": [
        "tests/house/test_random_calls.py::test_no_more_processes_are_started_than_there_are_repeats",
    ],
    "the bandwidth of the scale overflowed, and was zero for equal samples": [
        "tests/house/test_random_calls.py::test_the_scale_of_lengths_changes_no_bandwidth",
        "tests/house/test_random_calls.py::test_arguments_of_another_kind_are_refused_in_words",
    ],
    "random pivots of a wide kernel in single precision lost the factor": [
        f"{CORE}lowrank.py::test_a_wide_kernel_in_single_precision_is_factored_to_rounding",
    ],
    "CCDR took -1 for unlabeled points without a word": [
        f"{UNIT}ccdr.py::test_minus_one_is_a_label_like_others_unless_told",
    ],
    "CCDR placed queries at NaN whose squared distances overflow": [
        f"{UNIT}ccdr.py::test_queries_whose_squared_distances_overflow_are_placed_finitely",
    ],
    "an empty grid of a metric was an AttributeError": [
        f"{UNIT}metric_bad_input.py::test_an_empty_grid_is_refused",
    ],
    "the spectral kernel failed behind a StandardScaler": [
        f"{UNIT}spectral_kernel_classifier.py::test_just_works_behind_a_standard_scaler",
    ],
    "LAPACK's divide and conquer does not converge on some matrices, and tuning PerTurbo failed": [
        f"{UNIT}triangle.py::test_a_matrix_on_which_divide_and_conquer_does_not_converge_is_decomposed",
    ],
    "with gaps, tuned bandwidths and categories depended on the order of rows and on copies": [
        "tests/house/test_tables.py::test_what_is_tuned_with_gaps_depends_on_neither_order_nor_copies",
        "tests/house/test_tables.py::test_what_stands_for_gaps_depends_on_no_order",
        f"{UNIT}kernel_mean_tuning.py::test_rows_that_lack_the_same_values_are_copies",
        f"{UNIT}kernel_mean_tuning.py::test_a_reference_rule_sees_the_variances_of_what_is_known",
    ],
    "mixed labels on Dask were refused in foreign words": [
        "tests/house/test_random_calls.py::test_classifiers_on_dask_refuse_labels_of_mixed_kinds_in_words",
    ],
    "levels of samples without weight counted in AutoClassifier": [
        f"{UNIT}auto.py::test_levels_of_samples_without_weight_do_not_exist",
    ],
    "Ctrl-C waited for the factor of a kernel ridge": [f"{CORE}interrupt.py::test_ctrl_c_is_answered"],
    "a folder called like a table, a full standard output, an unknown instruction set were tracebacks": [
        f"{DOORS}cli_outputs.py::test_a_folder_called_like_a_table_is_one_line",
        f"{DOORS}cli_outputs.py::test_a_warning_is_one_line",
        f"{DOORS}cli_outputs.py::test_whatever_ends_the_process_early_is_one_line",
    ],
    "kernel ridge did not tell what it had tried": [
        f"{UNIT}kernel_ridge.py::test_what_was_tried_is_laid_out_as_in_a_grid_search",
    ],
    "a classifier said that it takes sparse data which it refused": [
        f"{UNIT}spectral_kernel.py::test_the_tag_of_sparse_data_is_kept",
    ],
    "a bad n_jobs was found by predict": [
        f"{UNIT}kernel_mean.py::test_bad_input_raises_and_changes_nothing",
        "tests/properties/test_failed_refit.py::test_a_bad_parameter_leaves_it_as_before",
    ],
    "far tails in float32 were off by more than the guide promised": [
        f"{CORE}kernels.py::test_tails_are_right_to_the_rounding_of_their_exponents",
    ],
    "logarithms of sums with weights of zero, or beyond the range of the dtype, were infinite or too small": [
        f"{CORE}kernels.py::test_sums_with_a_scale_are_relative_to_points_that_weigh_something",
        f"{CORE}kernels.py::test_weights_of_sums_with_a_scale_may_have_any_size",
        f"{CORE}kernels.py::test_a_far_point_that_outweighs_the_nearest_is_seen",
    ],
    "predictions were written over the data or the model that they came from": [
        f"{DOORS}cli_outputs.py::test_what_is_read_is_not_written_over",
    ],
    "features that share a name were fitted and not found again; a column of nothing but nulls was refused": [
        f"{DOORS}cli_fit_predict.py::test_features_that_share_a_name_are_refused_since_predict_could_not_tell_them_apart",
        f"{DOORS}cli_fit_predict.py::test_a_column_of_nothing_but_missing_values",
    ],
    "comparing with a closed standard output was a traceback": [
        f"{DOORS}cli_outputs.py::test_a_closed_standard_output_is_no_error_of_the_program",
    ],
    "integers that no float holds were an OverflowError, and what could not be converted was not named": [
        f"{CORE}doors.py::test_numbers_that_no_float_holds_are_refused_by_the_name_of_their_argument",
    ],
    "queries near the points in absolute terms, whose squares are zero, crashed if they are far in bandwidths": [
        f"{CORE}doors.py::test_queries_and_bandwidths_whose_squares_are_zero",
    ],
    "sums were zero or NaN where differences of coordinates are beyond the range of numbers": [
        f"{CORE}doors.py::test_points_whose_differences_no_number_holds",
    ],
    "estimators met integers that no float holds, and finite numbers whose sum overflows, in foreign words": [
        "tests/house/test_random_calls.py::test_every_estimator_refuses_numbers_that_no_float_holds_in_words",
        "tests/house/test_random_calls.py::test_points_whose_sum_overflows_are_no_warning",
    ],
    "the lowest of all integers was no label that leaves a point out": [
        f"{CORE}doors.py::test_every_negative_label_leaves_a_point_out",
    ],
    "sample weights of extreme sizes ended in NaN, in warnings of NumPy, or in a class without points": [
        "tests/properties/test_sample_weights.py::test_sizes_with_which_sums_vanish_or_overflow_are_refused",
        "tests/properties/test_sample_weights.py::test_a_weight_that_no_sum_can_see_is_zero",
        "tests/properties/test_sample_weights.py::test_no_class_is_lost_without_a_word",
        "tests/properties/test_sample_weights.py::test_a_class_that_vanishes_beside_later_points_is_refused",
        "tests/properties/test_sample_weights.py::test_only_the_ratios_count_in_entropies_up_to_the_largest_weights",
    ],
    "marginal and conditional densities had the bandwidths and bounds of all features": [
        f"{UNIT}density.py::test_a_marginal_density_has_the_parameters_of_its_features",
        f"{UNIT}density.py::test_parts_of_an_adaptive_density_have_bandwidths_of_their_samples",
    ],
    "features of very different units were taken for linearly dependent ones": [
        f"{UNIT}density.py::test_units_of_the_features_do_not_matter_to_full_covariances",
    ],
}
