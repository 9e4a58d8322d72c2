"""What a study has used of its budget."""

from dataclasses import dataclass

from sciagent.contracts.study import Budget


@dataclass(frozen=True, slots=True)
class Spent:
    """Trials decided, and time used, so far."""

    trials: int
    cpu_s: float
    wall_s: float

    def reached(self, budget: Budget) -> str | None:
        """Say which limit has been reached; None while none has."""
        if budget.trials is not None and self.trials >= budget.trials:
            return f"The budget of {budget.trials} trials is used up."
        if budget.cpu_s is not None and self.cpu_s >= budget.cpu_s:
            return f"The budget of {budget.cpu_s:g} CPU seconds is used up."
        if budget.wall_s is not None and self.wall_s >= budget.wall_s:
            return f"The budget of {budget.wall_s:g} seconds is used up."
        return None

    def trials_left(self, budget: Budget) -> int | None:
        """Trials that may still be decided; None without a limit."""
        return None if budget.trials is None else max(budget.trials - self.trials, 0)

    def cpu_left_s(self, budget: Budget) -> float | None:
        """CPU seconds left; None without a limit."""
        return None if budget.cpu_s is None else max(budget.cpu_s - self.cpu_s, 0.0)

    def wall_left_s(self, budget: Budget) -> float | None:
        """Seconds left; None without a limit."""
        return None if budget.wall_s is None else max(budget.wall_s - self.wall_s, 0.0)
