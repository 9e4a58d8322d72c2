"""A scripted model behind an OpenAI-compatible endpoint, for tests and benchmarks of agents.

The server streams or not, takes time if it is told to, breaks what servers are known to break,
counts tokens and what a prefix cache would have held, and keeps all requests. The scripted policy
sees nothing but the messages and tools it is sent.
"""

from sciagent.testing.model_server.faults import FAULT_NAMES, Fault, Faults
from sciagent.testing.model_server.script import (
    Policy,
    ScriptedAnswer,
    ScriptedCall,
    ScriptedRequest,
    calling,
    in_turn,
    saying,
)
from sciagent.testing.model_server.server import ModelServer
from sciagent.testing.model_server.state import Behaviour, Latency, RecordedRequest

__all__ = [
    "FAULT_NAMES",
    "Behaviour",
    "Fault",
    "Faults",
    "Latency",
    "ModelServer",
    "Policy",
    "RecordedRequest",
    "ScriptedAnswer",
    "ScriptedCall",
    "ScriptedRequest",
    "calling",
    "in_turn",
    "saying",
]
