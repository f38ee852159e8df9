"""Stage: bundles made from a finished task."""
