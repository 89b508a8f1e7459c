"""Speed against named peers in the same run, printed as ratios; never asserted."""
