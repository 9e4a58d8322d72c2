"""What an agent may call: JSON schemas, approval, and the one untrusted-text boundary."""
