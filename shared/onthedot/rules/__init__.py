"""What must be true, as pure functions of their arguments: no AWS, no clock, no chance, no environment."""
