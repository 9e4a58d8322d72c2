"""Whether a refinement can be stood behind, whoever proposed its steps."""

from sciagent.contracts.study import Conclusion
from sciagent.contracts.tree import StudyView, Trial
from sciagent.domains.powder_diffraction.actions import FINAL_REFIT, LE_BAIL
from sciagent.domains.powder_diffraction.limits import UNEXPLAINED_PERCENT

NOTE_ON_LINES = "Observed lines without a calculated reflection"
SUBTRACTED = "r_wp_background_subtracted"
DIVERGED_PERCENT = 100.0


def conclude(view: StudyView) -> Conclusion:
    """Conclude a study that has an accepted trial."""
    result = result_of(view)
    if result is None:
        return Conclusion(status="failed", reason="No trial was accepted.")
    reason = reason_to_abstain(view, result)
    if reason:
        return Conclusion(status="abstained", reason=reason, best=result.number)
    if result.proposal.action.name != FINAL_REFIT:
        return Conclusion(
            status="completed",
            reason="The model was not refined on all channels at the end; its values come from "
            "the training channels.",
            best=result.number,
        )
    return Conclusion(
        status="completed",
        reason="The model describes the pattern and was refined on all channels.",
        best=result.number,
    )


def result_of(view: StudyView) -> Trial | None:
    """The trial that is reported: the last accepted refit on all channels, else the best."""
    refits = [t for t in view.trials if t.accepted and t.proposal.action.name == FINAL_REFIT]
    return refits[-1] if refits else view.best


def reason_to_abstain(view: StudyView, trial: Trial) -> str:
    """Why a model is no answer; empty if it is one.

    The lines are not described where R_wp, less the background that flatters it, stays above the
    limit. A Le Bail fit then tells a wrong cell or wavelength from wrong atoms: it puts lines at
    the same places with whatever intensity they need.
    """
    if trial.metric(SUBTRACTED) <= UNEXPLAINED_PERCENT:
        return ""
    parts = [
        _verdict(view, trial),
        f"Less the background, R_wp stays at {trial.metric(SUBTRACTED):.0f} %",
        _lines_in_words(trial),
    ]
    evidence = le_bail_of(view, trial)
    if evidence is not None:
        value = min(evidence.metric(SUBTRACTED), DIVERGED_PERCENT)
        parts[1] += f", and with free intensities (Le Bail) at {value:.0f} %"
    parts[1] += "."
    outcome = trial.outcome
    parts += [note for note in (outcome.notes if outcome else ()) if note.startswith(NOTE_ON_LINES)]
    return " ".join(parts)


def _lines_in_words(trial: Trial) -> str:
    beyond = max(trial.metric("lines_beyond_chance"), 0.0)
    return (
        f"{trial.metric('lines_explained'):.0f} % of the line area lies at a calculated "
        f"reflection, {beyond:.0f} % beyond chance."
    )


def _verdict(view: StudyView, trial: Trial) -> str:
    evidence = le_bail_of(view, trial)
    if evidence is not None and evidence.metric(SUBTRACTED) <= UNEXPLAINED_PERCENT:
        return "The cell explains the lines, but the atoms do not explain their intensities."
    return (
        "The observed lines are not where this cell and this wavelength put them: "
        "the phase or the wavelength is wrong."
    )


def le_bail_of(view: StudyView, trial: Trial) -> Trial | None:
    """The Le Bail fit from a trial or, for a refit, from the trial that it refits."""
    starts = {trial.number, trial.proposal.parent}
    fits = [
        each
        for each in view.trials
        if each.proposal.action.name == LE_BAIL
        and each.proposal.parent in starts
        and each.outcome is not None
        and each.outcome.status == "ok"
    ]
    return fits[-1] if fits else None
