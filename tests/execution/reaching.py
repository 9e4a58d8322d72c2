"""A bowl whose trials try to reach somebody; worker processes make it by name."""

import socket
from dataclasses import dataclass

from sciagent.contracts.ports import Context
from sciagent.contracts.study import Outcome, Proposal
from sciagent.testing.toy import Bowl, BowlSettings


@dataclass(frozen=True)
class ReachingBowl(Bowl):
    """A bowl that calls home, and says nothing of it if that fails."""

    port: int = 0

    def run(self, proposal: Proposal, context: Context) -> Outcome:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=5).close()
        except Exception as error:  # noqa: BLE001 - as careless code does
            print(f"swallowed {type(error).__name__}")  # noqa: T201
        return super().run(proposal, context)


def reaching_bowl(port: int) -> ReachingBowl:
    return ReachingBowl(settings=BowlSettings(), start=(0.0, 0.0), port=port)
