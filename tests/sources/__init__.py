"""Sources, swept for real."""
