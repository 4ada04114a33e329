"""What is told of the settings of a part: what they build, what sets them, which decide nothing."""
