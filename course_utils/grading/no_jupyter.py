"""A pytest plugin that stands before nbval where it gets our kernel: Jupyter's need not be loaded."""

from __future__ import annotations

import sys
from types import ModuleType

_kernel = ModuleType("nbval.kernel")
_kernel.CURRENT_ENV_KERNEL_NAME = ":ours"
_kernel.RunningKernel = None  # `recorder.py` puts another in its place
sys.modules[_kernel.__name__] = _kernel
