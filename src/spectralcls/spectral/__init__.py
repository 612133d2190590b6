"""Classifiers and embeddings in the space of leading eigenvectors."""
