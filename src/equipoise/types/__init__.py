"""Types: annotations, predictions, plausibilities, findings, and the words they are told in."""
