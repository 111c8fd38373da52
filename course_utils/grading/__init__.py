"""Other people's notebooks: read, merged into the pristine one, run by nbval, compared outside, kept, reported."""
