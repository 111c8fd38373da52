# %% [markdown]
r"""
# Exercises: Second derivatives

Write your answer where a cell asks for it, and run the cell after it to check the answer.
"""

# %%
from course_utils import check

# %% [markdown]
r"""
## 1. The backward of a square

The operation is $z = x^2$. Write its backward: from `incoming`, the gradient of the final result with respect to $z$,
and from `x`, it makes the gradient with respect to $x$.
"""


# %% name="second_derivatives_square" tags=["answer"]
def second_derivatives_square(incoming, x):
    ### BEGIN SOLUTION
    return 2 * x * incoming
    ### END SOLUTION


# %% name="second_derivatives_square.check" tags=["check"]
check("second_derivatives_square", second_derivatives_square)
