"""What comes out, and how it is shown."""
