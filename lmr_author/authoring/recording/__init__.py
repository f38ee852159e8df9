"""Stage: drive the golden under the annotator's command, choose cases, prove and store them."""
