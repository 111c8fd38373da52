# %% [markdown]
r"""
# Second derivatives

*Write here the question that this lesson answers.*

Show the phenomenon first, then explain it. One idea a cell. Here is a small model to replace: the square of a
number grows by about $2x$ for each unit that $x$ grows.
"""

# %%
import torch

x = torch.tensor(3.0, dtype=torch.float64)
step = 0.001
((x + step) ** 2 - x**2) / step

# %% [markdown]
r"""
## What you can do now

Write here what a learner can do after this lesson. Then go on with the exercises: `exercises/09_second_derivatives.ipynb`.
"""
