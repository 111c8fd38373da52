"""A pytest plugin that stands before nbval, and spares it what takes long to load and is of no use here."""

from __future__ import annotations

import gc
import sys

gc.disable()  # what is loaded stays; `recorder.py` turns it on again
# jsonschema asks for these at its import, does without, and would need them for formats that no notebook has
for _name in ("rfc3987_syntax", "isoduration"):
    sys.modules.setdefault(_name, None)
