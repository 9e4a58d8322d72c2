"""One client for any OpenAI-compatible endpoint."""

from sciagent.llm.client import EndpointModel
from sciagent.llm.probe import probe

__all__ = ["EndpointModel", "probe"]
