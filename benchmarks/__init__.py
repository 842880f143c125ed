"""What is measured, never asserted: these machines are noisy."""
