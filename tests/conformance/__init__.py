"""What every field of science must keep, asked of each that is found."""
