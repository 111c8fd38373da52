"""From source text to notebooks: what is read, checked, assembled, executed and written by `course build`."""
