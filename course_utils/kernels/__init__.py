"""Notebook kernels that start at once: forks of a process that has loaded PyTorch already."""
