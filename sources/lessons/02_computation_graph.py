# %% [markdown]
r"""
# 02 · The computation graph
"""

# %% name="setup"
import torch
