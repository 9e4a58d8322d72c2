"""What an agent has used of its budget."""

from dataclasses import dataclass

from sciagent.contracts.agent import AgentBudget
from sciagent.contracts.conversation import Usage


@dataclass(frozen=True, slots=True)
class Used:
    """Turns, tokens, cost and wall time used so far, those of subagents included."""

    turns: int
    usage: Usage
    wall_s: float

    def reached(self, budget: AgentBudget) -> str:
        """Say which limit is reached; empty if none."""
        if budget.turns is not None and self.turns >= budget.turns:
            return f"The limit of {budget.turns} turns is reached."
        if budget.tokens is not None and self.usage.tokens >= budget.tokens:
            return f"The limit of {budget.tokens} tokens is reached."
        if budget.cost_usd is not None and self.usage.cost_usd >= budget.cost_usd:
            return f"The limit of {budget.cost_usd:g} USD is reached."
        return self._late(budget)

    def _late(self, budget: AgentBudget) -> str:
        if budget.wall_s is not None and self.wall_s >= budget.wall_s:
            return f"The limit of {budget.wall_s:g} s is reached."
        return ""

    def affords_closing(self, budget: AgentBudget, prompt_tokens: int) -> bool:
        """Whether one last call is within what was allowed: only turns may be exceeded, by one."""
        tokens = self.usage.tokens + prompt_tokens
        too_many = budget.tokens is not None and tokens >= budget.tokens
        too_dear = budget.cost_usd is not None and self.usage.cost_usd >= budget.cost_usd
        return not (too_many or too_dear or self._late(budget))

    def share(self, budget: AgentBudget, parts: int, turns: int) -> AgentBudget:
        """Split what is left among subagents; each may take at most `turns` turns."""
        tokens = None if budget.tokens is None else budget.tokens - self.usage.tokens
        cost = None if budget.cost_usd is None else budget.cost_usd - self.usage.cost_usd
        wall = None if budget.wall_s is None else budget.wall_s - self.wall_s
        return AgentBudget(
            turns=turns,
            tokens=None if tokens is None else max(1, tokens // parts),
            cost_usd=None if cost is None else max(1e-9, cost / parts),
            wall_s=None if wall is None else max(1e-3, wall),
        )
