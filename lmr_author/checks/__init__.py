"""Static checks: one class each, with the examples that are its tests and its documentation."""
