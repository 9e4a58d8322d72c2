"""The test suite; its folders mirror ``sciagent/``."""
